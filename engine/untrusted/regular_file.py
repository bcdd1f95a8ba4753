"""Opening files of strangers: a pipe under a file's name would be waited for, for ever."""

import os
import stat
from io import BufferedReader
from pathlib import Path


def open_plain(path: Path) -> BufferedReader:
    """Open a plain file, or a link to one, to read its bytes; nothing else is waited for.

    Raises:
        OSError: it cannot be opened, or is a pipe, a device, a socket or a folder.
    """
    # a pipe without a writer opens at once this way; Windows has neither pipes nor the flag
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    number = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(0, "it is no plain file", str(path))
    return os.fdopen(number, "rb")
