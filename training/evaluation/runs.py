"""Write and read run folders: the record of a run, its scores and its sentences."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, TypeVar, cast, get_args, get_origin

from engine.metrics.translation import Translation
from training.data.corpus import write_lines
from training.errors import TrainingError
from training.evaluation.run_record import RunRecord, read_record

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Kind = TypeVar("_Kind", bound="DataclassInstance")
_SYSTEMS = ("slots", "retranslate")  # runs over talks are scored by segments, not by lines


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
    tokens_fed: int
    tokens_recomputed: int
    gflops_per_sentence: float
    ms_per_word_p50: float
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
    if record.system not in _SYSTEMS:
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
        return [_take(PolicyScores, entry) for entry in content]
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
                translation=_take(Translation, row),
                reference=str(_checked("reference", row["reference"], str)),
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


def _take(kind: "type[_Kind]", row: Mapping[str, object]) -> "_Kind":
    """Make a dataclass from its fields in a JSON object; other fields are ignored.

    Raises:
        KeyError: a field is missing.
        TypeError: a field has another type.
    """
    values = {
        field.name: _checked(field.name, row[field.name], field.type) for field in fields(kind)
    }
    return kind(**values)


def _checked(name: str, value: object, kind: object) -> object:
    """Return a JSON value as the type of a field has it."""
    types = get_args(kind) or (kind,)  # float | None has two
    if get_origin(kind) is tuple:
        items = cast("list[object]", value if isinstance(value, list) else [None])
        return tuple([_checked(name, item, types[0]) for item in items])
    matches = (
        (value is None and NoneType in types)
        or (isinstance(value, int) and (int in types or float in types))
        or (isinstance(value, float) and float in types and math.isfinite(value))
        or (isinstance(value, str) and str in types)
    )
    if not matches:
        msg = f"{name} is {value!r}"
        raise TypeError(msg)
    return value
