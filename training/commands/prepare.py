"""The ``prepare`` command: makes a clean training file out of parallel text."""

import argparse
import sys
from pathlib import Path

from training.commands.common_arguments import settings_from
from training.data.cleaning import CleaningSettings
from training.data.prepare import PrepareSettings, prepare


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``prepare`` to the commands of ``surtitle-train``."""
    parser = subparsers.add_parser(
        "prepare",
        help="clean parallel text for training and report what was dropped",
        description="Clean parallel text for training. Files may be plain, .gz or .xz.",
    )
    files = parser.add_argument_group("files")
    files.add_argument(
        "--from",
        dest="sources",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="a TSV (source, target, corpus), or two text files aligned line by line",
    )
    files.add_argument("--out", type=Path, required=True, metavar="FILE", help="the TSV to write")
    files.add_argument("--report", type=Path, metavar="FILE", help="the report as JSON")
    files.add_argument(
        "--held-out",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a test set whose sentences are dropped; may be given several times",
    )
    rules = parser.add_argument_group("rules")
    rules.add_argument("--to-language", required=True, metavar="LANG", help="for example de")
    standard = CleaningSettings(to_language="de")
    for option, default, text in (
        ("--from-language", standard.from_language, "language of the source"),
        ("--max-words", standard.max_words, "longest side that is kept"),
        ("--max-ratio", standard.max_ratio, "length of the longer side to the shorter one"),
        ("--max-targets", standard.max_targets, "translations that are kept of one sentence"),
        ("--max-url-share", standard.max_url_share, "share of a side that addresses may be"),
    ):
        kind = type(default)
        rules.add_argument(option, type=kind, default=default, help=f"{text} (%(default)s)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prepare, then print the report."""
    cleaning = settings_from(arguments, CleaningSettings)
    files = {name: tuple(getattr(arguments, name)) for name in ("sources", "held_out")}
    settings = settings_from(arguments, PrepareSettings, cleaning=cleaning, **files)
    sys.stdout.write(prepare(settings).as_table())
    return 0
