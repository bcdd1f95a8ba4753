"""Score a run with COMET (Rei et al. 2022, https://aclanthology.org/2022.wmt-1.52): ``comet``.

COMET needs an environment of its own (``docs/decisions/0003-comet.md``), whose ``comet-score`` is
run once for all policies. The run folder gets ``comet.json``, which replaces an older one: an
object of ``model`` and ``policies``: for each an object of ``policy``, ``comet`` (mean over the
segments, 0 to 1 for the usual models), ``n_sentences``, ``n_empty`` (lines without output, which
are scored too) and ``segments`` (a score for each source line).
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TypedDict

import torch

from engine.settings import DEVICES, at_least
from training.commands.command_line import Cell, draw_table, settings_from, split_policies
from training.data.corpus import write_json, write_lines
from training.errors import TrainingError, UsageError
from training.evaluation.runs import PolicyRun, read_run

MODEL = "Unbabel/wmt22-comet-da"
PROGRAM = Path(__file__).parents[2] / ".venv-comet" / "bin" / "comet-score"
"""Of the environment that ``scripts/comet-environment`` makes."""

Segment = tuple[str, str, str]
"""Source, translation and reference."""


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
    add("--program", type=Path, default=PROGRAM, metavar="FILE", help="comet-score of COMET")
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
    program: Path = PROGRAM

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
    scores = dict(zip(unique, ask(settings, unique), strict=True))
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
    write_json(settings.folder / "comet.json", {"model": settings.model, "policies": rows})
    return rows


def ask(settings: CometSettings, segments: Sequence[Segment]) -> list[float]:
    """Let COMET score segments; raise TrainingError if it is missing or fails."""
    has_cuda = torch.cuda.is_available()
    if settings.device == "cuda" and not has_cuda:
        msg = "torch finds no CUDA device: score with --device cpu"
        raise UsageError(msg)
    own = Path(settings.model, "checkpoints", "model.ckpt")
    with TemporaryDirectory() as folder:
        reply, files = Path(folder, "scores.json"), list[str]()
        for option, texts in zip(("-s", "-t", "-r"), zip(*segments, strict=True), strict=True):
            path = Path(folder, option)
            write_lines(path, texts)
            files += [option, str(path)]
        command = [
            *(str(settings.program), *files, "--to_json", str(reply), "--quiet"),
            *("--model", str(own) if own.is_file() else settings.model),
            *("--batch_size", str(settings.batch_size)),
            *("--gpus", str(int(has_cuda and settings.device != "cpu"))),
        ]
        try:
            status = subprocess.run(command, stdout=2, check=False).returncode
        except OSError as error:
            msg = (
                f"COMET cannot be run ({settings.program}: {error.strerror}): make its environment "
                "with scripts/comet-environment, or name its comet-score with --program"
            )
            raise TrainingError(msg) from error
        if status or not reply.exists():
            msg = f"COMET ended without scores (exit code {status}): see its own messages"
            raise TrainingError(msg)
        (scored,) = json.loads(reply.read_text(encoding="utf-8")).values()
    return [float(one["COMET"]) for one in scored]


def _choose(settings: CometSettings) -> dict[str, PolicyRun]:
    policies = read_run(settings.folder).policies
    chosen = policies if settings.policies is None else dict.fromkeys(settings.policies)
    missing = [name for name in chosen if name not in policies]
    if missing or not chosen:
        fault = f"no run of {missing[0]!r}" if missing else "runs, but no policy was named"
        msg = f"{settings.folder} holds {fault}: choose out of {', '.join(policies)}"
        raise UsageError(msg)
    return {name: policies[name] for name in chosen}
