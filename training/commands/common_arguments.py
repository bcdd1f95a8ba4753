"""Arguments that several commands share, and how values of them are read."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from engine.settings import DEVICES, LAYOUTS
from training.errors import UsageError


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add test set, policies, model and run folder to a command."""
    parser.add_argument("--source", type=Path, required=True, metavar="FILE")
    parser.add_argument("--reference", type=Path, required=True, metavar="FILE")
    parser.add_argument("--to", required=True, metavar="LANG", help="target, for example de")
    parser.add_argument(
        "--policies",
        type=split_policies,
        required=True,
        metavar="P,P,...",
        help="out of read:N, wait:K and offline",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="run folder")
    parser.add_argument(
        "--model", type=Path, metavar="DIR", help="model folder (the bundled one for LANG)"
    )
    parser.add_argument("--adapter", type=Path, metavar="DIR", help="LoRA adapter folder")
    parser.add_argument("--slot", type=int, metavar="N", help="slot length (that of the model)")
    parser.add_argument(
        "--layout",
        metavar="NAME",
        help=f"positions of the words: {', '.join(LAYOUTS)} (that of the adapter, or slots)",
    )
    parser.add_argument(
        "--cut-loops", action="store_true", help="end writes that loop, as the window does"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N lines")
    parser.add_argument("--device", choices=DEVICES, default="cpu", help="(%(default)s)")


def split_policies(text: str) -> tuple[str, ...]:
    """Split at commas and spaces; a policy named twice is measured once."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def named_values(texts: Iterable[str], form: str = "NAME=VALUE") -> list[tuple[str, str]]:
    """Split texts at their first equals sign; names may hold dots.

    Raises:
        UsageError: a text is not of that form.
    """
    found = list[tuple[str, str]]()
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            msg = f"{form} was expected, got {text!r}"
            raise UsageError(msg)
        found.append((name, value))
    return found
