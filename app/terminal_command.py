"""What commands that write captions to a terminal share: how they end, and what they say aside."""

import sys
from collections.abc import Callable
from typing import BinaryIO

from app.text_lines import ReaderGoneError, TextError, printable
from engine.errors import SurtitleError

_FAILED, _WRONG_USAGE, _INTERRUPTED, _READER_GONE = 1, 2, 130, 141


class UsageError(Exception):
    """The command line asks for what cannot be."""


def exit_code_of(name: str, work: Callable[[], None]) -> int:
    """Do the work of a command; what cannot be done is one sentence on stderr.

    Returns:
        0, 1 for a failure, 2 for wrong usage, 130 after Ctrl+C, and 141 when the reader of the
        output went away: like any program that SIGPIPE ends, without a word.
    """
    try:
        work()
    except UsageError as error:
        tell(name, str(error))
        return _WRONG_USAGE
    except ReaderGoneError:
        return _READER_GONE
    except (SurtitleError, TextError) as error:
        tell(name, str(error))
        return _FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def captions_out() -> BinaryIO:
    """Give the stream that captions go to.

    Raises:
        TextError: standard output is closed.
    """
    if sys.stdout is None:
        msg = "standard output is closed: send the captions to a terminal, a file or a pipe"
        raise TextError(msg)
    return sys.stdout.buffer


def tell(name: str, sentence: str) -> None:
    """Say a sentence on stderr, where there is one; nothing to say is not said."""
    if sys.stderr is not None and sentence:
        sys.stderr.write(f"surtitle {name}: {printable(sentence)}\n")
        sys.stderr.flush()
