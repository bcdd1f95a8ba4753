"""Score a run with COMET (Rei et al. 2022, https://aclanthology.org/2022.wmt-1.52): ``comet``.

COMET needs an environment of its own (``docs/decisions/0003-comet.md``), whose Python runs
``comet_scorer.py``, once for all policies. The run folder gets ``comet.json``, which replaces an
older one: an object of ``model``, of what ``comet_scorer`` says of itself, and of ``policies``: for
each an object of ``policy``, ``comet`` (mean over the segments, 0 to 1 for the usual models),
``n_sentences``, ``n_empty`` (lines without output, which are scored too) and ``segments`` (a score
for each source line).
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TypedDict

from engine.settings import DEVICES, at_least
from training.commands.command_line import Cell, draw_table, settings_from, split_policies
from training.data.corpus import write_json
from training.errors import TrainingError, UsageError
from training.evaluation.runs import PolicyRun, read_run
from training.research import comet_scorer
from training.research.comet_scorer import Answer, Request, Sample, Scores

MODEL = "Unbabel/wmt22-comet-da"
PYTHON = Path(__file__).parents[2] / ".venv-comet" / "bin" / "python"
"""The Python of the environment that ``scripts/comet-environment`` makes."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "comet",
        help="score a run of evaluate with COMET",
        description="Score a run of evaluate with COMET, in the environment that "
        "scripts/comet-environment makes. Weights are fetched from huggingface.co once.",
    )
    add = parser.add_argument
    add("folder", type=Path, metavar="RUN", help="run folder of evaluate")
    add("--policies", type=split_policies, metavar="P,P,...", help="of the run (all)")
    add("--model", default=MODEL, metavar="NAME|DIR", help="(%(default)s)")
    add("--device", choices=DEVICES, default="auto", help="(%(default)s)")
    add("--batch", dest="batch_size", type=int, default=16, metavar="N", help="(%(default)s)")
    add("--python", type=Path, default=PYTHON, metavar="FILE", help="one that has COMET")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    settings = settings_from(arguments, CometSettings)
    # four digits, as differences in COMET are reported
    shown: list[dict[str, Cell]] = [
        {
            "policy": row["policy"],
            "comet": f"{row['comet']:.4f}",
            "n_sentences": row["n_sentences"],
            "n_empty": row["n_empty"],
        }
        for row in score_run(settings)
    ]
    sys.stdout.write(draw_table(tuple(shown[0]), shown) + f"{settings.model}\n")
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CometSettings:
    """The run to score and its policies, None for all; the scorer, by a name or a folder."""

    folder: Path
    policies: tuple[str, ...] | None = None
    model: str = MODEL
    device: str = "auto"
    batch_size: int = 16
    python: Path = PYTHON

    def __post_init__(self) -> None:
        at_least("the segments of a batch", self.batch_size, 1)


class PolicyComet(TypedDict):
    """The scores of a policy, as ``comet.json`` has them."""

    policy: str
    comet: float
    n_sentences: int
    n_empty: int
    segments: list[float]


def score_run(settings: CometSettings) -> list[PolicyComet]:
    texts = {
        name: [
            (" ".join(one.translation.source), one.translation.hypothesis, one.reference)
            for one in policy.sentences
        ]
        for name, policy in _choose(settings).items()
    }
    # Policies often have equal translations: each segment is scored once.
    unique = list(dict.fromkeys(segment for own in texts.values() for segment in own))
    samples = [Sample(src=source, mt=hypothesis, ref=ref) for source, hypothesis, ref in unique]
    device, n = settings.device, settings.batch_size
    request = Request(model=settings.model, device=device, batch_size=n, samples=samples)
    answer = ask(settings.python, request)
    scores = dict(zip(unique, answer["scores"], strict=True))
    rows = [
        PolicyComet(
            policy=name,
            comet=fmean(scores[segment] for segment in own),
            n_sentences=len(own),
            n_empty=sum(not hypothesis for _, hypothesis, _ in own),
            segments=[scores[segment] for segment in own],
        )
        for name, own in texts.items()
    ]
    scorer = {name: value for name, value in answer.items() if name != "scores"}
    content = {"model": settings.model, **scorer, "policies": rows}
    write_json(settings.folder / "comet.json", content)
    return rows


def ask(python: Path, request: Request) -> Scores:
    """Run COMET in its own environment; raise TrainingError if it is missing or fails."""
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
    policies = read_run(settings.folder).policies
    chosen = policies if settings.policies is None else dict.fromkeys(settings.policies)
    missing = [name for name in chosen if name not in policies]
    if missing or not chosen:
        fault = f"no run of {missing[0]!r}" if missing else "runs, but no policy was named"
        msg = f"{settings.folder} holds {fault}: choose out of {', '.join(policies)}"
        raise UsageError(msg)
    return {name: policies[name] for name in chosen}
