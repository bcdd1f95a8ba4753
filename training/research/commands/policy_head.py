"""The ``policy-head`` command: teaches a model, or an adapter, when to write."""

import argparse
import sys
from pathlib import Path

from engine.settings import DEVICES
from training.commands.common_arguments import named_values
from training.errors import UsageError
from training.evaluation.model_choice import measured_model

LABELS = ("alignment", "stability")
SIDES = ("source", "target")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``policy-head`` to the command line."""
    parser = subparsers.add_parser(
        "policy-head",
        help="teach a model when to write under adaptive policies",
        description="Train the policy head of a model or an adapter, which stays as it is, on "
        "aligned pairs, or on what the model itself makes of them; write it beside the card, which "
        "names it. adaptive:TAU then asks the head.",
    )
    parser.add_argument("--model", type=Path, required=True, metavar="DIR")
    parser.add_argument("--adapter", type=Path, metavar="DIR", help="whose head it becomes")
    parser.add_argument(
        "--data", required=True, metavar="LANG=F.tsv", help="aligned pairs of a target language"
    )
    parser.add_argument(
        "--labels",
        choices=LABELS,
        default=LABELS[0],
        help="where a write is right: where the alignment lets it begin; or where the model's own "
        "words stay the same, for which pairs need no alignment, and may be sources (%(default)s)",
    )
    parser.add_argument(
        "--side",
        choices=SIDES,
        default=SIDES[0],
        help="row that the head reads: that of the newest source word, or the one that is asked "
        "for a token, which sees all that was written (%(default)s)",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="F.jsonl",
        help="file for labels of stability; after a stop the same command goes on from it",
    )
    parser.add_argument(
        "--pairs", type=int, default=20_000, metavar="N", help="drawn from them (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="(%(default)s)")
    parser.add_argument("--device", choices=DEVICES, default="cpu", help="(%(default)s)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Train the head, print how good it is.

    Raises:
        TrainingError: one sentence says what is wrong.
        SurtitleError: likewise.
    """
    if arguments.pairs < 1:
        msg = f"--pairs is at least 1, got {arguments.pairs}"
        raise UsageError(msg)
    if (arguments.labels == "stability") != (arguments.keep is not None):
        msg = "--labels stability needs --keep F.jsonl, where they are kept, and nothing else does"
        raise UsageError(msg)
    ((language, data),) = named_values([arguments.data], "LANG=F.tsv")
    from training.research.heads.policy_head import (  # noqa: PLC0415  torch; help is there at once
        HeadSettings,
        train_head,
    )

    report = train_head(
        HeadSettings(
            model=measured_model(arguments.model, arguments.adapter, arguments.device),
            language=language,
            data=Path(data),
            n_pairs=arguments.pairs,
            seed=arguments.seed,
            labels=arguments.keep,
            reads_target=arguments.side == "target",
        )
    )
    writes = ", ".join(f"{share:.0%} at {tau:g}" for tau, share in report.writes.items())
    sys.stdout.write(
        f"trained on {report.n_trained:,} words; of the {report.n_kept_back:,} words kept back:\n"
        f"{report.cross_entropy:10.4f}  cross-entropy ({report.of_the_rate:.4f} by the rate)\n"
        f"written after by tau: {writes}\n"
    )
    return 0
