"""Exit codes and messages on stderr that the terminal commands share."""

import errno
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from app.config.process import INTERRUPTED
from app.config.text_io import ReaderGoneError, TextError, printable
from engine.errors import SurtitleError, is_failure

_MEMORY = re.compile("^(OutOf)?MemoryError |can't allocate memory")  # torch is not imported here
_LONGEST = 200  # characters of a library's error message

_FAILED, _WRONG_USAGE, _READER_GONE = 1, 2, 141


class UsageError(Exception):
    """The command line is wrong."""


def exit_code_of(name: str, work: Callable[[], None]) -> int:
    """Run a command; a failure becomes one sentence on stderr.

    Returns:
        0, 1 for a failure, 2 for wrong usage, 130 after Ctrl+C, and 141 (silently, as after
        SIGPIPE) if the reader of the output has closed it.
    """
    try:
        work()
    except UsageError as error:
        tell(name, str(error))
        return _WRONG_USAGE
    except ReaderGoneError:
        return _READER_GONE
    except SurtitleError as error:
        tell(name, str(error))
        return _FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseException as error:
        if not is_failure(error):
            raise
        tell(name, _unexpected(error))
        return _FAILED
    return 0


def _unexpected(error: BaseException) -> str:
    is_full = isinstance(error, OSError) and error.errno == errno.ENOMEM
    if is_full or _MEMORY.search(f"{type(error).__name__} {error}"):
        return "memory ran out: choose a smaller model or 4 bits, or close other programs"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    text = (str(error).strip().splitlines() or [""])[0][:_LONGEST]
    kind = type(error).__name__
    return (
        f"it stopped unexpectedly ({kind}{': ' if text else ''}{text}, in "
        f"{Path(frame.filename).name}, line {frame.lineno}); the output so far is complete: please "
        "report this, and try another model or text"
    )


def standard_output() -> BinaryIO:
    if sys.stdout is None:
        msg = "standard output is closed: send it to a terminal, a file or a pipe"
        raise TextError(msg)
    return sys.stdout.buffer


def tell(name: str, sentence: str) -> None:
    """Write a sentence to stderr, if that is open and the sentence is not empty."""
    if sys.stderr is not None and sentence:
        sys.stderr.write(f"surtitle {name}: {printable(sentence)}\n")
        sys.stderr.flush()
