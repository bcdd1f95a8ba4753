"""The ``augment`` command: makes more pairs of prepared pairs and phrases."""

import argparse
import re
import sys
from pathlib import Path

from training.commands.common_arguments import settings_from
from training.data.augmentation import SHARES, AugmentSettings, augment
from training.errors import UsageError


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``augment`` to the command line."""
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
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the new pairs and print their number by kind."""
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
