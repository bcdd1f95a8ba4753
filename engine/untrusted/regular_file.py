"""Open and hash untrusted files: reading a pipe under a file's name would block for ever."""

import hashlib
import os
import stat
from io import BufferedReader
from pathlib import Path

from engine.messages import Code


def open_plain(path: Path) -> BufferedReader:
    """Open a plain file, or a link to one, to read its bytes; never block on anything else.

    Raises:
        OSError: it cannot be opened, or is a pipe, a device, a socket or a folder.
    """
    # a pipe without a writer opens at once this way; Windows has neither pipes nor the flag
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    number = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(0, Code.NOT_PLAIN(), str(path))
    return os.fdopen(number, "rb")


def file_sha256(path: Path) -> str:
    """Return the sha256 of a plain file of any size: 64 hexadecimal digits.

    ``training.comparison.comet_scorer`` has its own, since it runs without this package.

    Raises:
        OSError: it cannot be read, or is no plain file.
    """
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
