"""Make training files: the commands ``prepare``, ``augment`` and ``align``."""

import argparse
import re
import sys
from pathlib import Path

from training.commands.command_line import settings_from
from training.data.alignment import MIN_AGREEMENT, Report, schedule
from training.data.augmentation import SHARES, AugmentSettings, augment
from training.data.cleaning import CleaningSettings, PrepareSettings, prepare
from training.data.corpus import create, read_pairs, replacing, write_json
from training.errors import UsageError


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    for add in (add_prepare, add_augment, add_align):
        add(subparsers)


def add_prepare(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
    parser.set_defaults(run=run_prepare)


def run_prepare(arguments: argparse.Namespace) -> int:
    cleaning = settings_from(arguments, CleaningSettings)
    files = {name: tuple(getattr(arguments, name)) for name in ("sources", "held_out")}
    settings = settings_from(arguments, PrepareSettings, cleaning=cleaning, **files)
    sys.stdout.write(prepare(settings).as_table())
    return 0


def add_augment(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "augment",
        help="make more pairs: names, numbers, addresses, spontaneous speech",
        description="Make pairs of prepared pairs and phrases: names, numbers and addresses that "
        "must be copied, sources in lower case, sources with hesitations. Append them to the "
        "prepared pairs before aligning.",
    )
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="F.tsv")
    parser.add_argument(
        "--to-language", dest="language", required=True, metavar="LANG", help="for example de"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.tsv")
    parser.add_argument(
        "--lexicon",
        type=Path,
        metavar="F.tsv",
        help="words that shall be known: English, translation, part of speech, origin",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--share",
        nargs="*",
        default=[],
        metavar="KIND=SHARE",
        help="share of the suitable pairs that are changed: "
        + ", ".join(f"{kind} {share:g}" for kind, share in SHARES.items())
        + " (phrases, contrasts, sense, lexicon: sentences of each)",
    )
    parser.set_defaults(run=run_augment)


def run_augment(arguments: argparse.Namespace) -> int:
    shares = dict(SHARES)
    for text in arguments.share:
        kind, _, share = text.partition("=")
        if kind not in SHARES or not re.fullmatch(r"\d+(\.\d+)?", share):
            msg = f"KIND=SHARE was expected with a kind of {', '.join(SHARES)}, got {text!r}"
            raise UsageError(msg)
        shares[kind] = float(share)
    counts = augment(settings_from(arguments, AugmentSettings, shares=shares))
    sys.stdout.writelines(f"{n_pairs:>10,}  {kind}\n" for kind, n_pairs in counts.most_common())
    return 0


def add_align(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "align",
        help="word-align prepared pairs for read-n training",
        description="Word-align prepared pairs and write a read-n schedule for each. What became "
        "of the pairs is printed, and written beside OUT as .json.",
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
    parser.set_defaults(run=run_align)


def run_align(arguments: argparse.Namespace) -> int:
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
