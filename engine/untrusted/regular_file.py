"""Open and hash untrusted files: a pipe under a file's name would block for ever."""

import contextlib
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
    return os.fdopen(_checked(os.open(path, flags), path), "rb")


def append_plain(path: Path, *, follow: bool = True) -> int:
    """Open a plain file to append to it, or create it for its owner alone; never block.

    Args:
        path: in a folder that exists.
        follow: a link to a plain file counts as one.

    Returns:
        a descriptor.

    Raises:
        OSError: it cannot be opened, or is a pipe, a device or a socket.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat(follow_symlinks=follow).st_mode):
            raise OSError(0, Code.NOT_PLAIN(), str(path))
    # another file may be there by now
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
    if not follow:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    return _checked(os.open(path, flags, 0o600), path)


def file_sha256(path: Path) -> str:
    """Return the sha256 of a plain file of any size: 64 hexadecimal digits.

    ``training.research.comet_scorer`` has its own, since it runs without this package.

    Raises:
        OSError: it cannot be read, or is no plain file.
    """
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked(number: int, path: Path) -> int:
    """Return the descriptor of a plain file; close any other and raise OSError."""
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(0, Code.NOT_PLAIN(), str(path))
    return number
