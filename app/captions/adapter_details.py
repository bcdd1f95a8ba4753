"""The details of an adapter as labels and values, for the terminal and the windows."""

import enum
from collections.abc import Iterable
from dataclasses import asdict

from engine.files import ByteCount
from engine.messages import Codes, Message, tr
from engine.models.adapters.adapter import Adapter
from engine.models.adapters.card import AdapterCard, AdapterScore, Corpus


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
    RANK = tr("rank")
    ALPHA = tr("alpha")
    STABILISED = tr("{alpha:g}, rank-stabilised")
    TARGETS = tr("targets")
    LAYERS = tr("layers")
    PARAMETERS = tr("parameters")
    SIZE = tr("size")
    SIZED = "{size}, {dtypes}"
    COUNT = "{n:,}"
    NUMBER = "{n:g}"
    WORDS = "{n:.2f}"
    DESCRIPTION = tr("description")
    BASE = tr("base")
    SHAPE = tr("base's shape")
    SHAPED = tr(
        "{architecture}, {layers} layers, {hidden_size} wide, {heads} heads of {head_size} "
        "({kv_heads} for keys), feed-forward {feed_forward}, vocabulary {vocabulary}"
    )
    TOKENIZER = tr("base's tokenizer")
    LANGUAGES = tr("languages")
    FROM_TO = tr("{source} to {targets}")
    LAYOUT = tr("layout")
    SLOT_LENGTH = tr("slot length")
    TRAINED_WITH = tr("{length} (trained with {lengths})")
    POLICIES = tr("policies")
    PROMPT = tr("prompt")
    LICENCE = tr("licence")
    MADE_WITH = tr("made with")
    SEEDS = tr("seeds")
    DATA = tr("data")
    PAIRS = tr("{name} (pairs: {pairs:,}), {licence}")
    COMMAND = tr("command")
    SCORE = tr("score")
    SCORED = tr(
        "{test_set} (lines: {lines:,}), {language}, {policy}: BLEU {bleu:.1f}{base}, LAAL {laal}"
    )
    BASE_ALONE = tr(" (base alone {bleu:.1f})")


Rows = list[tuple[Message, Message | str]]
NOTHING = "–"


def rows(adapter: Adapter) -> Rows:
    """Return the known details of an adapter, its faults first."""
    details: Rows = [
        (Detail.NAME(), adapter.name),
        (Detail.STATUS(), Detail[adapter.status.name]()),
    ]
    if adapter.reason is not None:
        details.append((Detail.REASON(), adapter.reason))
    details.append((Detail.FOLDER(), str(adapter.folder)))
    if adapter.card is not None:
        details += _purpose(adapter.card)
    if adapter.lora is not None:
        lora = adapter.lora
        stabilised = Detail.STABILISED(alpha=lora.alpha)
        details += [
            (Detail.RANK(), str(lora.rank)),
            (Detail.ALPHA(), stabilised if lora.rank_stabilised else Detail.NUMBER(n=lora.alpha)),
        ]
    if adapter.weights is not None:
        weights = adapter.weights
        size = ByteCount(weights.n_bytes)
        details += [
            (Detail.TARGETS(), _list(weights.modules)),
            (Detail.LAYERS(), ranges(weights.layers)),
            (Detail.PARAMETERS(), Detail.COUNT(n=weights.n_parameters)),
            (Detail.SIZE(), Detail.SIZED(size=size, dtypes=_list(weights.dtypes))),
        ]
    return details + (_provenance(adapter.card) if adapter.card else [])


def _purpose(card: AdapterCard) -> Rows:
    base = card.base
    shape = asdict(base)
    tokenizer = shape.pop("tokenizer_sha256")
    lengths = ranges(card.slot_lengths)
    return [
        *([(Detail.DESCRIPTION(), card.description)] if card.description else []),
        (Detail.BASE(), card.base_name),
        (Detail.SHAPE(), Detail.SHAPED(**shape)),
        (Detail.TOKENIZER(), f"sha256 {tokenizer}"),
        (
            Detail.LANGUAGES(),
            Detail.FROM_TO(source=card.source_language, targets=_list(card.languages)),
        ),
        (Detail.LAYOUT(), card.layout),
        (Detail.SLOT_LENGTH(), Detail.TRAINED_WITH(length=card.slot_length, lengths=lengths)),
        (Detail.POLICIES(), _list(card.policies)),
        (Detail.PROMPT(), card.prompt_template),
    ]


def _provenance(card: AdapterCard) -> Rows:
    made = ", ".join(part for part in (card.created_with, card.created_at) if part)
    return [
        (Detail.LICENCE(), card.licence or NOTHING),
        (Detail.MADE_WITH(), made or NOTHING),
        (Detail.SEEDS(), _list(map(str, card.seeds)) or NOTHING),
        *((Detail.DATA(), _corpus(corpus)) for corpus in card.data),
        *((Detail.COMMAND(), command) for command in card.commands),
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


def ranges(numbers: Iterable[int]) -> str:
    """Write rising numbers briefly: ``0-5, 8``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return _list(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
