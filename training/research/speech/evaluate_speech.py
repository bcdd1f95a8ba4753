"""Measure a translator that reads sound on a corpus: translate it live, replay, score.

The run folder is that of ``evaluate`` (``training.evaluation.short_form``), so that runs are
compared by the same command. A unit of the source is a piece of sound there. ``summary.json`` also
has the fields of ``SoundScores``, in milliseconds.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, cast

import torch
from tqdm import tqdm

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.metrics.event_log import Event, EventLog
from engine.metrics.replay import replay
from engine.metrics.translation import Translation
from engine.models.model_card import read_card
from engine.runtime.loader import load_hearing
from engine.settings import LayoutSettings, ModelSettings, TranslationSettings, at_least
from engine.translation.slot_translator import Translator
from engine.translation.sound.spoken import SpokenTranslator
from training.data.corpus import replacing, write_json, write_lines
from training.evaluation.model_choice import measured_model
from training.evaluation.run_record import RunRecord, fingerprint, readable_sha256
from training.evaluation.runs import write_translations
from training.evaluation.scores import score
from training.evaluation.workers import CAPACITY
from training.research.speech.folder import load_encoder, samples_of_block
from training.research.speech.milliseconds import SoundLag, sound_lag
from training.research.speech.sound_corpus import Line, read_sound, read_table
from training.research.speech.sound_systems import Cascade, Direct, SoundSystem

if TYPE_CHECKING:
    from engine.translation.base import AnySystem

SOUND, CASCADE = "sound", "cascade"
"""Names of the two systems in ``run.json``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRunSettings:
    """A run over a corpus.

    Attributes:
        model: folder with an encoder.
        data: table of a corpus.
        language: of the target.
        policies: they count blocks of sound; of a cascade words.
        out: run folder.
        cascade: translate the words that the encoder writes, not its vectors.
        layout: of the rows.
        piece_ms: sound comes in pieces of this length.
        limit: utterances from the start of the table; None: all.
    """

    model: Path
    data: Path
    language: str
    policies: tuple[str, ...]
    out: Path
    cascade: bool = False
    layout: str = "slots"
    piece_ms: int = 160
    limit: int | None = None

    def __post_init__(self) -> None:
        at_least("--piece-ms", self.piece_ms, 10)
        if self.limit is not None:
            at_least("--limit", self.limit, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundScores:
    """Fields of ``summary.json`` beside those of every run.

    Attributes:
        lag: None if nothing was written.
        ms_per_block_mean: computing for a block of sound: hearing and translating.
        forwards_per_utterance: passes of the translator.
    """

    lag: SoundLag | None
    ms_per_block_mean: float
    forwards_per_utterance: float

    def row(self) -> dict[str, float | None]:
        """Return all side by side."""
        names = ("laal_ms", "laal_ca_ms", "laal_ca_simuleval_ms")
        lag = dict.fromkeys(names) if self.lag is None else asdict(self.lag)
        rest = {name: value for name, value in asdict(self).items() if name != "lag"}
        return {**lag, **rest}


def evaluate_speech(settings: SpeechRunSettings) -> list[dict[str, str | float | None]]:
    """Translate a corpus under each policy, write the run folder, return the rows of scores.

    Raises:
        SurtitleError: the model cannot be used.
        TrainingError: the corpus cannot be read, or the folder holds another run.
    """
    lines = read_table(settings.data)[: settings.limit]
    model = measured_model(settings.model, None, "cpu")
    _record(settings).claim(settings.out)
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
            name = CASCADE if settings.cascade else SOUND
            scores = score(policy, name, found, references, settings.language)
            own = _scores(settings, found, lines, n_samples)
            rows.append({**replace(scores, timed=False).row(), **own.row()})
        write_json(summary, rows)
    return rows


def make_sound_system(
    settings: SpeechRunSettings, model: ModelSettings, policy: str, log: EventLog
) -> tuple[SoundSystem, int]:
    """Load a model and make the system of a run; return it and the samples of a block.

    Raises:
        ModelError: the model cannot be used, or has no encoder.
        UsageError: a cascade is asked for, and the encoder writes no words.
    """
    torch.set_num_threads(1)
    weights = load_hearing(model)
    encoder = load_encoder(model.directory, weights.card, weights.width)
    translation = TranslationSettings(
        target_language=settings.language,
        policy=policy,
        layout=LayoutSettings(slot_length=weights.card.slot_length, name=settings.layout),
        cut_loops=False,
    )
    if settings.cascade:
        text = Translator(weights, translation, capacity=CAPACITY, log=log)
        words = Cascade(cast("AnySystem", text), encoder, weights.decoder)
        return words, samples_of_block(encoder)
    spoken = SpokenTranslator(weights, translation, capacity=CAPACITY, log=log)
    return Direct(spoken, encoder), samples_of_block(encoder)


def _translations(
    system: SoundSystem,
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
) -> SoundScores:
    lengths_ms = [1000 * line.n_samples / SAMPLE_RATE_HZ for line in lines]
    n_blocks = [-(-line.n_samples // n_samples) for line in lines]
    return SoundScores(
        lag=sound_lag(
            found,
            [line.target for line in lines],
            lengths_ms,
            piece_ms=settings.piece_ms,
            language=settings.language,
        ),
        ms_per_block_mean=sum(sum(one.ms) for one in found) / sum(n_blocks),
        forwards_per_utterance=fmean(one.forwards for one in found),
    )


def _record(settings: SpeechRunSettings) -> RunRecord:
    card = read_card(settings.model)
    digest = readable_sha256(settings.data)
    return RunRecord(
        system=CASCADE if settings.cascade else SOUND,
        language=settings.language,
        model=card.name,
        model_sha256=fingerprint(settings.model),
        adapter_sha256=None,
        slot_length=card.slot_length,
        source_sha256=digest,
        reference_sha256=digest,
        layout=settings.layout,
    )
