"""What commands that write captions to a terminal share: how they end, and what they say aside."""

import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from app.system.early_interrupt import INTERRUPTED
from app.system.text_io import ReaderGoneError, TextError, printable
from engine.errors import SurtitleError, is_failure

_MEMORY = re.compile("^(OutOf)?MemoryError |can't allocate memory")  # torch is not imported here
_LONGEST = 200  # characters of a library's words

_FAILED, _WRONG_USAGE, _READER_GONE = 1, 2, 141


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
        return INTERRUPTED
    except BaseException as error:
        if not is_failure(error):
            raise
        tell(name, _unexpected(error))
        return _FAILED
    return 0


def _unexpected(error: BaseException) -> str:
    """Say in one sentence what nobody expected, and where, for who mends it."""
    if _MEMORY.search(f"{type(error).__name__} {error}"):
        return "memory ran out: choose a smaller model or 4 bits, or close other programs"
    place = traceback.extract_tb(error.__traceback__)[-1]
    what = (str(error).strip().splitlines() or [""])[0][:_LONGEST]
    kind = type(error).__name__
    return (
        f"it stopped unexpectedly ({kind}{': ' if what else ''}{what}, in "
        f"{Path(place.filename).name}, line {place.lineno}); what was written is whole: please "
        "report this, and try another model or text"
    )


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
