"""A translator that reads sound, measured live in milliseconds: ``speech-evaluate``.

It translates a spoken corpus, replays and scores. The run folder is that of ``evaluate``
(``training.evaluation.short_form``), so that runs are compared by the same command. A unit of the
source is a piece of sound there: sound comes in pieces of one length, the last one of an utterance
may be shorter, and a word that was written after a piece has as its delay how much sound had come
then, as SimulEval measures speech. ``summary.json`` also has ``SoundLag``, the milliseconds of
computing for a block, and the passes of the translator.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean

import torch
from tqdm import tqdm

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.layout.planner import LAYOUTS
from engine.metrics.event_log import Event, EventLog, Translation, n_reference_units, replay
from engine.metrics.latency import length_adaptive_average_lagging
from engine.models.model_card import read_card
from engine.runtime.ctranslate2.encoder_decoder_loader import EncoderDecoderWeights
from engine.runtime.loader import load_weights
from engine.runtime.sound import (
    BlockStream,
    SpeechEncoder,
    block_samples,
    load_speech_encoder,
)
from engine.settings import SOUND, LayoutSettings, ModelSettings, TranslationSettings, at_least
from engine.translation.feed import changes
from engine.translation.spoken import SpokenTranslator, SpokenUtterance
from training.commands.command_line import settings_from, split_policies
from training.commands.evaluate import score_table
from training.data.corpus import replacing, write_json, write_lines
from training.evaluation.models import measured_model
from training.evaluation.runs import RunRecord, fingerprint, readable_sha256, write_translations
from training.evaluation.scores import score
from training.evaluation.short_form import CAPACITY
from training.research.adaptive import AdaptiveSpokenTranslator
from training.research.speech_corpus import Line, read_sound, read_table

_COLUMNS = (
    "policy", "bleu", "chrf", "laal_ms", "laal_ca_ms", "forwards_per_utterance",
    "ms_per_block_mean", "n_empty",
)  # fmt: skip
_POLICIES = ("adaptive:0.1", "adaptive:0.3", "adaptive:0.5", "read:3", "offline")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "speech-evaluate",
        help="measure a translator that reads sound, in milliseconds",
        description="Translate a spoken corpus as it would be heard live; write a run folder that "
        "compare reads, with BLEU, chrF, LAAL in milliseconds with and without computing, and what "
        "a block costs. adaptive:TAU asks the policy head after each block, read:N reads N blocks "
        "at a time, offline all of them.",
    )
    add = parser.add_argument
    add("--model", type=Path, required=True, metavar="DIR")
    add("--data", type=Path, required=True, metavar="F.tsv", help="table that speech-data wrote")
    to = "target, for example de"
    add("--to", dest="language", required=True, metavar="LANG", help=to)
    add("--policies", type=split_policies, default=_POLICIES, metavar="P,P,...")
    add("--layout", default="slots", choices=tuple(LAYOUTS), help="(%(default)s)")
    add("--piece-ms", type=int, default=160, metavar="N", help="sound that comes at once")
    add("--limit", type=int, metavar="N", help="only the first N utterances")
    add("--out", type=Path, required=True, metavar="DIR", help="run folder")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    rows = evaluate_speech(settings_from(arguments, SpeechRunSettings))
    sys.stdout.write(score_table(_COLUMNS, rows))
    return 0


class Direct:
    """Blocks of vectors are read by the translator, one utterance after another."""

    def __init__(self, translator: SpokenTranslator, encoder: SpeechEncoder) -> None:
        self._translator, self._encoder = translator, encoder
        self._stream: BlockStream | None = None
        self._utterance: SpokenUtterance | None = None

    def hear(self, samples: Samples, *, ended: bool) -> str:
        """Hear more, float32 from -1 to 1, 16 kHz; return what it adds to the caption.

        After the end of an utterance the next one begins.
        """
        if self._stream is None or self._utterance is None:
            self._stream, self._utterance = BlockStream(self._encoder), self._translator.open()
        utterance = self._utterance
        blocks = self._stream.feed(samples) + (self._stream.flush() if ended else [])
        utterance.hear([block.vectors for block in blocks], ended=ended)
        text = "".join(change.text for change in changes(utterance))
        if ended:
            self._stream = self._utterance = None
        return text


# Measuring ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRunSettings:
    """A run over a corpus.

    Attributes:
        data: table of a corpus.
        policies: they count blocks of sound.
        piece_ms: sound comes in pieces of this length.
        limit: utterances from the start of the table; None: all.
    """

    model: Path
    data: Path
    language: str
    policies: tuple[str, ...]
    out: Path
    layout: str = "slots"
    piece_ms: int = 160
    limit: int | None = None

    def __post_init__(self) -> None:
        at_least("--piece-ms", self.piece_ms, 10)
        if self.limit is not None:
            at_least("--limit", self.limit, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundLag:
    """Means over the utterances that have output, in milliseconds.

    Attributes:
        laal_ca_ms: with computing: work on a piece begins when it has come and that on the one
            before is done.
    """

    laal_ms: float
    laal_ca_ms: float


def evaluate_speech(settings: SpeechRunSettings) -> list[dict[str, str | float | None]]:
    """Translate a corpus under each policy, write the run folder, return the rows of scores."""
    lines = read_table(settings.data)[: settings.limit]
    model = measured_model(settings.model, None, "cpu")
    card, digest = read_card(settings.model), readable_sha256(settings.data)
    record = RunRecord(
        system=SOUND,
        language=settings.language,
        model=card.name,
        model_sha256=fingerprint(settings.model),
        adapter_sha256=None,
        slot_length=card.slot_length,
        source_sha256=digest,
        reference_sha256=digest,
        layout=settings.layout,
    )
    record.claim(settings.out)
    rows = list[dict[str, str | float | None]]()
    references = [line.target for line in lines]
    with replacing(settings.out / "summary.json") as summary:
        for policy in settings.policies:
            events = list[Event]()
            log = EventLog(events)  # one clock for what came and what was done
            system, n_samples = make_sound_system(settings, model, policy, log)
            shown = tqdm(lines, desc=policy, disable=None, leave=False)
            found = list(_translations(system, settings, shown, log, events))
            write_lines(settings.out / f"{policy}.hyp", [one.hypothesis for one in found])
            more = [{"reference": reference} for reference in references]
            write_translations(settings.out, policy, found, more)
            scores = score(policy, SOUND, found, references, settings.language)
            own = _scores(settings, found, lines, n_samples)
            rows.append({**replace(scores, timed=False).row(), **own})
        write_json(summary, rows)
    return rows


def make_sound_system(
    settings: SpeechRunSettings, model: ModelSettings, policy: str, log: EventLog
) -> tuple[Direct, int]:
    """Load a model and make the system of a run; return it and the samples of a block."""
    torch.set_num_threads(1)
    weights = load_weights(model)
    assert not isinstance(weights, EncoderDecoderWeights), "such a card names no encoder"
    encoder = load_speech_encoder(model.directory, weights.card, weights.width)
    translation = TranslationSettings(
        target_language=settings.language,
        policy=policy,
        layout=LayoutSettings(slot_length=weights.card.slot_length, name=settings.layout),
        cut_loops=False,
    )
    own = AdaptiveSpokenTranslator(weights, translation, capacity=CAPACITY, log=log)
    return Direct(own, encoder), block_samples(encoder.card)


def _translations(
    system: Direct,
    settings: SpeechRunSettings,
    lines: Iterable[Line],
    log: EventLog,
    events: list[Event],
) -> Iterator[Translation]:
    piece = settings.piece_ms * SAMPLE_RATE_HZ // 1000

    def all_events() -> Iterator[Event]:
        for index, line in enumerate(lines):
            samples = read_sound(settings.data, line)
            n_pieces = -(-len(samples) // piece)
            log.write("line", index=index, words=[""] * n_pieces)
            for n in range(n_pieces):
                ended = n == n_pieces - 1
                log.write("arrived", n_words=n + 1, ended=ended)
                system.hear(samples[n * piece : (n + 1) * piece], ended=ended)
            log.write("line_ended", index=index)
            yield from events
            events.clear()

    return replay(all_events())


def _scores(
    settings: SpeechRunSettings,
    found: Sequence[Translation],
    lines: Sequence[Line],
    n_samples: int,
) -> dict[str, float | None]:
    lengths_ms = [1000 * line.n_samples / SAMPLE_RATE_HZ for line in lines]
    n_blocks = [-(-line.n_samples // n_samples) for line in lines]
    references, piece_ms = [line.target for line in lines], settings.piece_ms
    lag = sound_lag(found, references, lengths_ms, piece_ms=piece_ms, language=settings.language)
    return {
        **(dict.fromkeys(("laal_ms", "laal_ca_ms")) if lag is None else asdict(lag)),
        "ms_per_block_mean": sum(sum(one.ms) for one in found) / sum(n_blocks),
        "forwards_per_utterance": fmean(one.forwards for one in found),
    }


def sound_lag(
    translations: Sequence[Translation],
    references: Sequence[str],
    lengths_ms: Sequence[float],
    *,
    piece_ms: float,
    language: str,
) -> SoundLag | None:
    """Average over utterances whose source units are pieces of sound; None if all are empty."""
    rows = [
        _lags(one, length_ms, piece_ms, n_reference_units(reference, language))
        for one, reference, length_ms in zip(translations, references, lengths_ms, strict=True)
        if one.delays
    ]
    if not rows:
        return None
    laal, queued = (fmean(column) for column in zip(*rows, strict=True))
    return SoundLag(laal_ms=laal, laal_ca_ms=queued)


def _lags(one: Translation, length_ms: float, piece_ms: float, n_units: int) -> tuple[float, float]:
    came = [min(n * piece_ms, length_ms) for n in range(1, len(one.ms) + 1)]
    queued, finish = list[float](), 0.0
    for arrival, cost in zip(came, one.ms, strict=True):
        queued.append(max(arrival, finish))
        finish = queued[-1] + cost
    units = list(zip(one.delays, one.emitted_ms, strict=True))

    def laal(delays: Sequence[float]) -> float:
        return length_adaptive_average_lagging(delays, length_ms, n_units)

    return (
        laal([came[n - 1] for n, _ in units]),
        laal([queued[n - 1] + emitted for n, emitted in units]),
    )
