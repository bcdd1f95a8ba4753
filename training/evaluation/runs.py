"""Write and read run folders: the record of a run, its scores and its sentences."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.metrics.translation import Translation
from engine.untrusted.typed_table import read_table, read_value
from training.data.corpus import write_lines
from training.errors import TrainingError
from training.evaluation.run_record import RunRecord, read_record

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
        name: of the folder.
        record: settings of the run.
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
    """Read a run folder.

    Raises:
        TrainingError: it is no run folder, a file is missing or garbled, or talks were run.
    """
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
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return [read_table(PolicyScores, entry, others_ignored=True) for entry in content]
    except FileNotFoundError as error:
        msg = f"{path} is missing: let evaluate finish this run first"
        raise TrainingError(msg) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _garbled(path, error) from error


def _read_sentences(folder: Path, scores: PolicyScores) -> tuple[Sentence, ...]:
    path = folder / f"{scores.policy}.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        sentences = tuple(
            Sentence(
                translation=read_table(Translation, row, others_ignored=True),
                reference=str(read_value(str, row["reference"], "reference")),
            )
            for row in map(json.loads, lines)
        )
    except FileNotFoundError as error:
        msg = f"{path} is missing, though summary.json tells of it: run evaluate again"
        raise TrainingError(msg) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _garbled(path, error) from error
    if [sentence.translation.index for sentence in sentences] != list(range(scores.n_sentences)):
        msg = f"{path} must hold {scores.n_sentences} lines in order: run evaluate again"
        raise TrainingError(msg)
    return sentences


def _garbled(path: Path, error: Exception) -> TrainingError:
    return TrainingError(f"{path} cannot be read ({error}): run evaluate again")
