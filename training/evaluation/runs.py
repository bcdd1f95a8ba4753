"""Run folders: settings, ``run.json`` that keeps a folder to one run, scores and sentences.

The words of a test set come as a file says, or are drawn like those of people and programs. A line
of such a file has ``SAID:CAME`` for each word of the same line of the source, in seconds since the
line began: the end of its sound, and when it comes to the translator. Words that come at the same
moment come together.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from itertools import accumulate, pairwise
from math import inf
from pathlib import Path

from engine.metrics.event_log import Translation
from engine.models.adapters.adapter import model_card
from engine.models.encoder_decoder.record import converted_folder
from engine.models.resolve import Resolved, resolve
from engine.policy import parse_policy
from engine.settings import ModelSettings, TranslationSettings, at_least
from engine.translation.feed import Arrival
from engine.untrusted.plain_files import file_sha256
from engine.untrusted.strict_json import read_object, read_value
from training.data.corpus import read_lines, write_json, write_lines
from training.errors import TrainingError, UsageError
from training.evaluation.models import card_in_use

FILE_NAME = "run.json"
_DECISIVE = frozenset({".safetensors", ".json"})
_DECISIVE_CONVERTED = frozenset({".bin", ".spm", ".model", ".json"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Which text a run translates, how, and where its files go.

    Attributes:
        source: a sentence, or a segment of a talk, in each line.
        reference: its translation in the same line.
        model: weights, device and translation system.
        translation: all but the policy.
        limit: lines from the start of the files; None takes all.
        names: file with the talk of each line; for talks only.
        n_workers: processes; talks are translated in one.
        batch: lines that a process translates side by side; talks are translated one by one.
        arrivals: of the words, see ``training.evaluation.short_form``; None has no times.
    """

    source: Path
    reference: Path
    model: ModelSettings
    translation: TranslationSettings
    policies: tuple[str, ...]
    out: Path
    limit: int | None = None
    names: Path | None = None
    n_workers: int = 1
    batch: int = 1
    arrivals: str | None = None

    def __post_init__(self) -> None:
        if not self.policies:
            msg = "at least one policy is needed, for example --policies read:3,offline"
            raise ValueError(msg)
        for policy in self.policies:
            parse_policy(policy)
        if self.limit is not None:
            at_least("--limit", self.limit, 1)
        at_least("--workers", self.n_workers, 1)
        at_least("--batch", self.batch, 1)

    @property
    def resolved(self) -> Resolved:
        """System and layout of the run; raises TrainingError or ModelError for an unfit model."""
        card = card_in_use(self.model.directory, self.model.adapter)
        return resolve(card, self.model.system, self.translation)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Every setting that decides the translations of a run, except the policy.

    Attributes:
        system: ``slots``, ``retranslate``, or ``long form`` for talks.
        language: two-letter code of the target.
        source_language: two-letter code of the source.
        model: name on its card.
        model_sha256: of its files, see ``fingerprint``.
        adapter_sha256: likewise; None without an adapter.
        slot_length: positions.
        layout: one of ``engine.layout.planner.LAYOUTS``.
        cut_loops: whether the engine ended writes that looped.
        batch: lines translated side by side; the times in the logs of more than one include waiting
            for the others.
        quantise: as it was asked for, one of ``engine.settings.QUANTISATIONS``.
        arrivals: of the words, one of ``DRAWN``, or the hash of a file; None has no times.
        source_sha256, reference_sha256: of the two files.
    """

    system: str
    language: str
    model: str
    model_sha256: str
    adapter_sha256: str | None
    slot_length: int
    source_sha256: str
    reference_sha256: str
    layout: str = "slots"
    cut_loops: bool = False
    batch: int = 1
    quantise: str = "none"
    source_language: str = "en"
    arrivals: str | None = None

    @classmethod
    def of(cls, settings: RunSettings, system: str) -> "RunRecord":
        model, translation, layout = settings.model, settings.translation, settings.resolved.layout
        arrivals = settings.arrivals
        return cls(
            system=system,
            language=translation.target_language,
            source_language=translation.source_language,
            model=model_card(model.directory, None).name,
            model_sha256=fingerprint(model.directory),
            adapter_sha256=None if model.adapter is None else fingerprint(model.adapter),
            slot_length=layout.slot_length,
            layout=layout.name,
            cut_loops=translation.cut_loops,
            batch=settings.batch,
            quantise=model.quantise,
            arrivals=arrivals
            if arrivals is None or arrivals in DRAWN
            else readable_sha256(Path(arrivals)),
            source_sha256=readable_sha256(settings.source),
            reference_sha256=readable_sha256(settings.reference),
        )

    def claim(self, folder: Path) -> None:
        """Write the record into a run folder, or check that the folder holds this very run."""
        path = folder / FILE_NAME
        if not path.exists():
            write_json(path, asdict(self))
            return
        recorded = read_record(folder)
        for field in fields(self):
            new, old = getattr(self, field.name), getattr(recorded, field.name)
            if new != old:
                name = field.name.removesuffix("_sha256").replace("_", " ")
                values = "" if field.name.endswith("sha256") else f" ({old}, not {new})"
                msg = f"{folder} holds a run with another {name}{values}: choose another --out"
                raise UsageError(msg)


def read_record(folder: Path) -> RunRecord:
    path = folder / FILE_NAME
    with _reading(path, f"{folder} holds no run, name a folder that evaluate wrote"):
        return RunRecord(**json.loads(path.read_text(encoding="utf-8")))


def readable_sha256(path: Path) -> str:
    """Hash a file that the user named; raise TrainingError if it cannot be read."""
    try:
        return file_sha256(path)
    except OSError as error:
        msg = f"{path} cannot be read ({error.strerror}): name a file that is there"
        raise TrainingError(msg) from error


def fingerprint(folder: Path) -> str:
    """Hash the files that decide a model's or adapter's output: weights and JSON, tokenizer too.

    Of a model with an encoder and a decoder these are what was made of it for CTranslate2.
    """
    converted = converted_folder(folder, "")
    suffixes = _DECISIVE if converted is None else _DECISIVE_CONVERTED
    files = (converted or folder).glob("*")
    paths = sorted(one for one in files if one.suffix in suffixes)
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0{readable_sha256(path)}\n".encode())
    return digest.hexdigest()


TALKS = "long form"
"""The system of runs over talks, which are scored by segments, not by lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyScores:
    """The scores of ``summary.json`` that runs are compared by, under the same names."""

    policy: str
    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str
    al: float | None
    laal: float | None
    laal_ca: float | None
    lag_s_p50: float | None = None
    tokens_fed: int
    tokens_recomputed: int
    gflops_per_sentence: float
    ms_per_word_p50: float | None
    n_sentences: int
    n_empty: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One source line: its translation and the reference."""

    translation: Translation
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRun:
    """The scores of one policy, and a sentence for each source line, in order."""

    scores: PolicyScores
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run folder.

    Attributes:
        policies: by name, in the order in which they were run.
    """

    name: str
    folder: Path
    record: RunRecord
    policies: dict[str, PolicyRun]

    @property
    def n_sentences(self) -> int:
        """Count the source lines."""
        return next(len(policy.sentences) for policy in self.policies.values())


def write_translations(
    folder: Path,
    policy: str,
    translations: Sequence[Translation],
    more: Sequence[Mapping[str, object]],
) -> None:
    """Write ``POLICY.jsonl``: an object of the fields of each translation and more."""
    rows = [{**asdict(own), **rest} for own, rest in zip(translations, more, strict=True)]
    write_lines(folder / f"{policy}.jsonl", [json.dumps(row, ensure_ascii=False) for row in rows])


def read_run(folder: Path) -> Run:
    record = read_record(folder)
    if record.system == TALKS:
        msg = (
            f"{folder} holds a run of {record.system}, which has no lagging of single lines: "
            "name runs of evaluate"
        )
        raise TrainingError(msg)
    policies = {
        scores.policy: PolicyRun(scores=scores, sentences=_read_sentences(folder, scores))
        for scores in _read_summary(folder / "summary.json")
    }
    if len({len(policy.sentences) for policy in policies.values()}) != 1:
        msg = f"{folder} has no policies, or unequally many lines of them: run evaluate again"
        raise TrainingError(msg)
    return Run(name=folder.resolve().name, folder=folder, record=record, policies=policies)


def _read_summary(path: Path) -> list[PolicyScores]:
    with _reading(path, "let evaluate finish this run first"):
        content = json.loads(path.read_text(encoding="utf-8"))
        return [read_object(PolicyScores, entry) for entry in content]


def _read_sentences(folder: Path, scores: PolicyScores) -> tuple[Sentence, ...]:
    path = folder / f"{scores.policy}.jsonl"
    with _reading(path, "summary.json tells of it, so run evaluate again"):
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        sentences = tuple(
            Sentence(
                translation=read_object(Translation, row),
                reference=str(read_value(str, row["reference"], "reference")),
            )
            for row in map(json.loads, lines)
        )
    if [sentence.translation.index for sentence in sentences] != list(range(scores.n_sentences)):
        msg = f"{path} must hold {scores.n_sentences} lines in order: run evaluate again"
        raise TrainingError(msg)
    return sentences


@contextmanager
def _reading(path: Path, remedy: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        msg = f"{path} is missing: {remedy}"
        raise TrainingError(msg) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        msg = f"{path} cannot be read ({error}): run evaluate again"
        raise TrainingError(msg) from error


_WORDS_A_SECOND = 2.7
_TYPED_A_SECOND = 0.7
_STREAMING_S, _WHISPER_S = 0.5, 1.6  # after the (last) word, see docs/results.md, Hearing
_BURST = (3, 6)
_LENGTHS = (0.5, 1.5)  # of a word, of the mean

DRAWN = ("spoken", "streaming", "whisper", "typed", "at-once")
"""Heard as it is said; committed word by word half a second later; in bursts; typed; a file."""


def arrivals_of(what: str | None, n_words: Sequence[int]) -> list[Sequence[Arrival]]:
    """Return when the words of each line come.

    Args:
        what: one of ``DRAWN``, or the name of a file; None has no times.
    """
    if what is None:
        return [()] * len(n_words)
    if what in DRAWN:
        return [_drawn(what, n, random.Random(index)) for index, n in enumerate(n_words)]
    lines = [line.decode("utf-8", "replace") for line in read_lines(Path(what))]
    if len(lines) < len(n_words):
        msg = f"{what} has {len(lines)} lines, fewer than the {len(n_words)} of the source"
        raise UsageError(msg)
    return [
        _read(f"line {number} of {what}", line, n)
        for number, (line, n) in enumerate(zip(lines, n_words, strict=False), start=1)
    ]


def _drawn(kind: str, n_words: int, rng: random.Random) -> list[Arrival]:
    """Draw when the words of a line come; the same seed draws the same."""
    if kind == "at-once":
        return [(0.0, 0.0)] * n_words
    rate = _TYPED_A_SECOND if kind == "typed" else _WORDS_A_SECOND
    ends = accumulate(rng.randint(*_BURST) for _ in range(n_words))
    bursts = [slice(*ends) for ends in pairwise((0, *ends))]
    lengths = (rng.uniform(*_LENGTHS) / rate for _ in range(n_words))
    said = [round(end, 3) for end in accumulate(lengths)]
    if kind == "whisper":
        return [
            (one, round(said[burst][-1] + _WHISPER_S, 3)) for burst in bursts for one in said[burst]
        ]
    later = _STREAMING_S if kind == "streaming" else 0.0
    return [(one, round(one + later, 3)) for one in said]


def _read(where: str, line: str, n_words: int) -> list[Arrival]:
    try:
        found = [(float(said), float(came)) for said, came in (w.split(":") for w in line.split())]
    except ValueError as error:
        msg = f"{where}: expected SAID:CAME for each word, in seconds, got {line[:60]!r}"
        raise UsageError(msg) from error
    came_s = [came for _, came in found]
    ordered = came_s == sorted(came_s) and all(0 <= said <= came < inf for said, came in found)
    if len(found) != n_words or not ordered:
        msg = (
            f"{where}: expected {n_words} words, none before it was said and none before another "
            f"that stands before it, got {line[:60]!r}"
        )
        raise UsageError(msg)
    return found
