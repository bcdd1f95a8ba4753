"""The details of an adapter as labels and values, for the terminal and the windows."""

import enum
from collections.abc import Iterable

from engine.files import ByteCount
from engine.messages import Codes, Message, tr
from engine.models.adapters.adapter import Adapter, AdapterCard, AdapterScore, Corpus


@enum.unique
class Detail(Codes):
    """Labels, and the values that have words in them."""

    NAME = tr("name")
    STATUS = tr("status")
    OK = tr("ok")
    UNKNOWN = tr("unknown")
    BLOCKED = tr("blocked")
    REASON = tr("reason")
    FOLDER = tr("folder")
    SIZE = tr("size")
    SIZED = "{size}, {dtypes}"
    WORDS = "{n:.2f}"
    DESCRIPTION = tr("description")
    BASE = tr("base")
    LANGUAGES = tr("languages")
    FROM_TO = tr("{source} to {targets}")
    SLOT_LENGTH = tr("slot length")
    TRAINED_WITH = tr("{length} (trained with {lengths})")
    POLICIES = tr("policies")
    LICENCE = tr("licence")
    MADE_WITH = tr("made with")
    DATA = tr("data")
    PAIRS = tr("{name} (pairs: {pairs:,}), {licence}")
    SCORE = tr("score")
    SCORED = tr(
        "{test_set} (lines: {lines:,}), {language}, {policy}: BLEU {bleu:.1f}{base}, LAAL {laal}"
    )
    BASE_ALONE = tr(" (base alone {bleu:.1f})")


Rows = list[tuple[Message, Message | str]]
NOTHING = "–"


def rows(adapter: Adapter) -> Rows:
    """Return what helps to choose an adapter, its faults first; its files say the rest."""
    details: Rows = [
        (Detail.NAME(), adapter.name),
        (Detail.STATUS(), Detail[adapter.status.name]()),
    ]
    if adapter.reason is not None:
        details.append((Detail.REASON(), adapter.reason))
    details.append((Detail.FOLDER(), str(adapter.folder)))
    if adapter.card is not None:
        details += _purpose(adapter.card)
    if adapter.weights is not None:
        weights = adapter.weights
        size = ByteCount(weights.n_bytes)
        sized = Detail.SIZED(size=size, dtypes=_list(weights.dtypes))
        details.append((Detail.SIZE(), sized))
    return details + (_provenance(adapter.card) if adapter.card else [])


def _purpose(card: AdapterCard) -> Rows:
    lengths = _list(map(str, card.slot_lengths))
    return [
        *([(Detail.DESCRIPTION(), card.description)] if card.description else []),
        (Detail.BASE(), card.base_name),
        (
            Detail.LANGUAGES(),
            Detail.FROM_TO(source=card.source_language, targets=_list(card.languages)),
        ),
        (Detail.SLOT_LENGTH(), Detail.TRAINED_WITH(length=card.slot_length, lengths=lengths)),
        (Detail.POLICIES(), _list(card.policies)),
    ]


def _provenance(card: AdapterCard) -> Rows:
    made = ", ".join(part for part in (card.created_with, card.created_at) if part)
    return [
        (Detail.LICENCE(), card.licence or NOTHING),
        (Detail.MADE_WITH(), made or NOTHING),
        *((Detail.DATA(), _corpus(corpus)) for corpus in card.data),
        *((Detail.SCORE(), _score(score)) for score in card.scores),
    ]


def _corpus(corpus: Corpus) -> Message | str:
    licence = f"{corpus.licence}, {corpus.url}" if corpus.url else corpus.licence
    if corpus.pairs is None:
        return f"{corpus.name}: {licence}"
    return Detail.PAIRS(name=corpus.name, pairs=corpus.pairs, licence=licence)


def _score(score: AdapterScore) -> Message:
    alone = "" if score.base_bleu is None else Detail.BASE_ALONE(bleu=score.base_bleu)
    return Detail.SCORED(
        test_set=score.test_set,
        lines=score.lines,
        language=score.language,
        policy=score.policy,
        bleu=score.bleu,
        base=alone,
        laal=NOTHING if score.laal is None else Detail.WORDS(n=score.laal),
    )


def _list(values: Iterable[str]) -> str:
    return ", ".join(values)
