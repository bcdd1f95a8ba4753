"""A line on standard error that is written over while something long goes on."""

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a text in place of the one before."""
    shown = ""

    def show(text: str) -> None:
        nonlocal shown
        if sys.stderr is not None and text != shown:
            shown = text
            sys.stderr.write(f"\rsurtitle: {text}")

    try:
        yield show
    finally:
        if shown:
            sys.stderr.write("\n")
