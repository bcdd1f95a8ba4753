"""The ``align`` command: adds to each pair the number of source words each target word needs."""

import argparse
import sys
from pathlib import Path

from training.data.aligned_pairs import MIN_AGREEMENT, schedule
from training.data.corpus import create, read_pairs, replacing, write_json
from training.errors import UsageError


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``align`` to the command line."""
    parser = subparsers.add_parser(
        "align",
        help="word-align prepared pairs for read-n training",
        description="Word-align prepared pairs and write a read-n schedule for each. Statistics of "
        "links and schedules are printed, and written beside OUT as .json.",
    )
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="F.tsv")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.tsv")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--ratio", action="store_true", help="spread the target evenly instead; needs no aligner"
    )
    how.add_argument(
        "--min-agreement",
        type=float,
        default=MIN_AGREEMENT,
        metavar="SHARE",
        help="pairs get a schedule when the two directions have this share of their links in "
        "common (%(default)s)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Align a prepared file, write pairs and statistics."""
    from training.data.align_report import Report  # noqa: PLC0415  numpy; help must not wait for it

    if not 0 <= arguments.min_agreement <= 1:
        msg = f"--min-agreement is a share from 0 to 1, got {arguments.min_agreement}"
        raise UsageError(msg)
    statistics = arguments.out.with_suffix(".json")
    if statistics == arguments.out:
        msg = f"{statistics} is where the statistics go: name the pairs otherwise, as OUT.tsv"
        raise UsageError(msg)
    pairs = list(read_pairs([arguments.source]))
    report = Report(None if arguments.ratio else arguments.min_agreement)
    with replacing(arguments.out) as fresh, create(fresh) as out:
        out.writelines(aligned.as_line().encode() for aligned in schedule(pairs, report))
    write_json(statistics, report.as_json())
    sys.stdout.write(report.as_table())
    return 0
