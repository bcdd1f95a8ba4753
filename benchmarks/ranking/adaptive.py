"""Compare when slots and EASiST-text write: one base, the same pairs, the same run.

    .venv/bin/python -m benchmarks.ranking.adaptive --base models/ordinary \
        --data de=data/chat.aligned.tsv --source chat.en --reference chat.de --out runs/adaptive

Two adapters are trained, ExPosST's and that of EASiST's stage I, and copies of them get heads: of
stability and of alignments over slots, of alignments over interleaved pieces, as published. All are
decoded over one sweep of tau, and compared at equal LAAL (benchmarks.when_to_write):

* adaptive:TAU: slots without a head.
* slots-stability, slots-alignment: with heads.
* slots-target: with a head of stability that reads the row that is asked for a token.
* EAST: interleaved, written where the token that ends a read is likelier than tau.
* EASiST: interleaved, with a head.

A head asks for writes after one word and after many: name a recipe (``--recipe``) that teaches
both, since ``surtitle`` teaches reads of two and more. Every step resumes: type the same again
after a stop.
"""

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import when_to_write
from benchmarks.methods import run
from engine.models.adapters.card import read_adapter_card


@dataclass(frozen=True)
class Head:
    """A head, and the method whose adapter it is trained beside."""

    name: str
    method: str
    labels: str
    side: str = "source"


METHODS = ("exposst", "easist")
HEADS = (
    Head("slots-stability", "exposst", "stability"),
    Head("slots-target", "exposst", "stability", "target"),
    Head("slots-alignment", "exposst", "alignment"),
    Head("EASiST", "easist", "alignment"),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Train, teach heads, decode, compare."""
    arguments, options = parse(argv)
    out = arguments.out
    for method in METHODS:
        run(
            "finetune", "--method", method, "--base", arguments.base, "--data", arguments.data,
            "--seed", arguments.seed, "--out", out / method, *options,
        )  # fmt: skip
    for head in HEADS:
        teach(arguments, head)
    also = [
        f"EAST={out / 'easist' / 'adapter'}",
        *(f"{one.name}={out / one.name}" for one in HEADS),
    ]
    words = [
        "--source", str(arguments.source), "--reference", str(arguments.reference),
        "--to", arguments.data.partition("=")[0], "--model", str(arguments.base),
        "--adapter", str(out / "exposst" / "adapter"), "--also", *also, "--apart",
        "--out", str(out / arguments.source.name), "--batch", arguments.batch,
    ]  # fmt: skip
    if arguments.limit is not None:
        words += ["--limit", arguments.limit]
    if arguments.taus is not None:
        words += ["--taus", *arguments.taus]
    when_to_write.main(words)


def parse(argv: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
    """Read the command line; what is not known here goes to ``finetune``."""
    parser = argparse.ArgumentParser(
        description="Compare when to write. Other options go to surtitle-train finetune."
    )
    parser.add_argument("--base", type=Path, required=True, metavar="DIR")
    parser.add_argument("--data", required=True, metavar="LANG=F.tsv")
    parser.add_argument("--source", type=Path, required=True, metavar="F")
    parser.add_argument("--reference", type=Path, required=True, metavar="F")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--seed", default="1", metavar="N", help="(%(default)s)")
    parser.add_argument("--pairs", default="20000", metavar="N", help="of a head (%(default)s)")
    parser.add_argument("--limit", metavar="N", help="lines (all)")
    parser.add_argument("--taus", nargs="+", metavar="TAU", help="(those of when_to_write)")
    parser.add_argument("--batch", default="1", metavar="N", help="lines side by side (1)")
    return parser.parse_known_args(argv)


def teach(arguments: argparse.Namespace, head: Head) -> None:
    """Copy the adapter of a method and train a head beside the copy, if that was not done."""
    folder = arguments.out / head.name
    if not folder.exists():
        partial = folder.with_name(f".{folder.name}")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(arguments.out / head.method / "adapter", partial)
        partial.rename(folder)
    if read_adapter_card(folder).has_head:
        return
    labels = arguments.out / "stability.jsonl"  # of one adapter, and so of both heads
    kept = ("--keep", labels) if head.labels == "stability" else ()
    run(
        "policy-head", "--model", arguments.base, "--adapter", folder, "--data", arguments.data,
        "--pairs", arguments.pairs, "--labels", head.labels, "--side", head.side, *kept,
        program="training.research",
    )  # fmt: skip


if __name__ == "__main__":
    main()
