"""Score a run with COMET (Rei et al. 2022, https://aclanthology.org/2022.wmt-1.52).

COMET needs an environment of its own (``docs/decisions/0003-comet.md``): ``surtitle-research
comet`` starts ``training/research/comparison/comet_scorer.py`` in its own, once for all policies.
The run folder gets ``comet.json``, which replaces an older one: an object of

* ``model``, ``revision``, ``checkpoint_sha256``, ``versions``: of the scorer, see ``comet_scorer``.
* ``policies``: for each an object of ``policy``, ``comet`` (mean over the segments, 0 to 1 for the
  usual models), ``n_sentences``, ``n_empty`` (lines without output, which are scored too) and
  ``segments`` (a score for each source line).
"""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TypedDict

from training.data.corpus import write_json
from training.errors import TrainingError, UsageError
from training.evaluation.plots.table import Cell, draw
from training.evaluation.runs import PolicyRun, read_run
from training.research.comparison import comet_scorer
from training.research.comparison.comet_scorer import Answer, Request, Sample, Scores

MODEL = "Unbabel/wmt22-comet-da"
PYTHON = Path(__file__).parents[3] / ".venv-comet" / "bin" / "python"
"""The Python of the environment that ``scripts/comet-environment`` makes."""

_Segment = tuple[str, str, str]  # source, hypothesis, reference


@dataclass(frozen=True, slots=True, kw_only=True)
class CometSettings:
    """The run to score, and the scorer.

    Attributes:
        folder: of the run.
        policies: of the run; None for all.
        model: name on huggingface.co, or a folder.
        device: one of ``DEVICES``.
        batch_size: segments.
        python: the Python of an environment that has COMET.
    """

    folder: Path
    policies: tuple[str, ...] | None = None
    model: str = MODEL
    device: str = "auto"
    batch_size: int = 16
    python: Path = PYTHON

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            msg = f"a batch has at least one segment, got {self.batch_size}"
            raise ValueError(msg)


class PolicyComet(TypedDict):
    """The scores of a policy, as ``comet.json`` has them."""

    policy: str
    comet: float
    n_sentences: int
    n_empty: int
    segments: list[float]


def score_run(settings: CometSettings) -> list[PolicyComet]:
    """Score the policies of a run and write ``comet.json`` into its folder.

    Raises:
        TrainingError: the run cannot be read, or COMET is missing, has no weights, or fails.
        UsageError: the run has no such policy.
    """
    segments = {name: _segments(policy) for name, policy in _choose(settings).items()}
    # Policies often have equal translations: each segment is scored once.
    unique = list(dict.fromkeys(segment for own in segments.values() for segment in own))
    request = Request(
        model=settings.model,
        device=settings.device,
        batch_size=settings.batch_size,
        samples=[Sample(src=source, mt=hypothesis, ref=ref) for source, hypothesis, ref in unique],
    )
    answer = ask(settings.python, request)
    scores = dict(zip(unique, answer["scores"], strict=True))
    rows = [_row(name, policy, scores) for name, policy in segments.items()]
    scorer = {name: value for name, value in answer.items() if name != "scores"}
    content = {"model": settings.model, **scorer, "policies": rows}
    write_json(settings.folder / "comet.json", content)
    return rows


def ask(python: Path, request: Request) -> Scores:
    """Run COMET in its own environment.

    Raises:
        TrainingError: it is missing, has no weights, or fails.
    """
    if not os.access(python, os.X_OK):
        msg = (
            f"COMET is not installed ({python} is missing): make its environment with "
            "scripts/comet-environment, or name a Python that has it with --python"
        )
        raise TrainingError(msg)
    with TemporaryDirectory() as folder:
        question, reply = Path(folder, "request.json"), Path(folder, "answer.json")
        question.write_text(json.dumps(request), encoding="utf-8")
        command = [str(python), "-P", comet_scorer.__file__, str(question), str(reply)]
        try:
            status = subprocess.run(command, check=False).returncode
        except OSError as error:
            msg = f"{python} cannot be run ({error.strerror}): type scripts/comet-environment"
            raise TrainingError(msg) from error
        if status or not reply.exists():
            msg = f"COMET ended without scores (exit code {status}): see its own messages"
            raise TrainingError(msg)
        answer: Answer = json.loads(reply.read_text(encoding="utf-8"))
    if "error" in answer:
        raise TrainingError(answer["error"])
    return answer


def _choose(settings: CometSettings) -> dict[str, PolicyRun]:
    """Read the policies to score."""
    policies = read_run(settings.folder).policies
    chosen = policies if settings.policies is None else dict.fromkeys(settings.policies)
    missing = [name for name in chosen if name not in policies]
    if missing or not chosen:
        fault = f"no run of {missing[0]!r}" if missing else "runs, but no policy was named"
        msg = f"{settings.folder} holds {fault}: choose out of {', '.join(policies)}"
        raise UsageError(msg)
    return {name: policies[name] for name in chosen}


def _segments(policy: PolicyRun) -> list[_Segment]:
    return [
        (" ".join(line.translation.source), line.translation.hypothesis, line.reference)
        for line in policy.sentences
    ]


def _row(name: str, segments: list[_Segment], scores: Mapping[_Segment, float]) -> PolicyComet:
    scored = [scores[segment] for segment in segments]
    return PolicyComet(
        policy=name,
        comet=fmean(scored),
        n_sentences=len(segments),
        n_empty=sum(not hypothesis for _, hypothesis, _ in segments),
        segments=scored,
    )


def table(rows: Sequence[PolicyComet], model: str) -> str:
    """Draw the means, with four digits, as differences in COMET are reported."""
    shown: list[dict[str, Cell]] = [
        {
            "policy": row["policy"],
            "comet": f"{row['comet']:.4f}",
            "n_sentences": row["n_sentences"],
            "n_empty": row["n_empty"],
        }
        for row in rows
    ]
    return draw(tuple(shown[0]), shown) + f"{model}\n"
