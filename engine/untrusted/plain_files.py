"""Open and hash untrusted files: a pipe under a file's name would block for ever."""

import contextlib
import hashlib
import os
import re
import shutil
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

    With ``follow`` a link to a plain file counts as one. Return a descriptor.

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


# Names from a hub or an adapter's card are not trusted: one with a separator, a drive or a device
# leads elsewhere, on this system or on another.

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_LONGEST = 96  # characters of an owner or a model on the hub
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_HIDDEN = re.compile(r"\.[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


def is_plain_name(name: str, most: int) -> bool:
    """Return whether a name of up to ``most`` characters is a plain file name on every system.

    It has ASCII letters and digits, with dots, hyphens and underscores between them, and is no
    device of Windows (``nul.json``).
    """
    return len(name) <= most and bool(_NAME.fullmatch(name)) and not _RESERVED.fullmatch(name)


def is_hub_name(name: str) -> bool:
    """Return whether a name is ``owner/name`` as on the Hugging Face hub."""
    halves = name.split("/")
    # with two hyphens in a row, two names could have the same folder
    is_spelt = "--" not in name and ".." not in name and not name.endswith(".git")
    return len(halves) == 2 and is_spelt and all(is_plain_name(half, _LONGEST) for half in halves)


def folder_of(name: str) -> str:
    """Return what the folder of a model of the hub is called in a library."""
    return name.replace("/", "--")


def is_download(folder: Path, library: Path) -> bool:
    """Return whether a model of the hub was downloaded into this folder, which is no link then."""
    is_named = is_hub_name(folder.name.replace("--", "/", 1))
    return is_named and folder.parent == library and not folder.is_symlink()


def model_name(folder: Path) -> str:
    """Return the name of a model for people: that of the hub if its folder says so, else its own.

    The folder is called as by ``folder_of``, or is a snapshot in the cache of huggingface_hub
    (``models--owner--name/snapshots/COMMIT``).
    """
    folder = folder.resolve()
    is_snapshot = folder.parent.name == "snapshots"
    called = folder.parent.parent.name.removeprefix("models--") if is_snapshot else folder.name
    on_hub = called.replace("--", "/", 1)
    return on_hub if is_hub_name(on_hub) else folder.name


def delete_hidden(folder: Path, home: Path) -> None:
    """Delete a hidden folder directly in ``home``; of a link, the link alone.

    Raises:
        ValueError: the path is any other; nothing is deleted.
        OSError: something in it cannot be deleted.
    """
    if folder.parent != home or not _HIDDEN.fullmatch(folder.name):
        msg = f"only a hidden folder right in {home} may be deleted, got {folder}"
        raise ValueError(msg)
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
    else:
        shutil.rmtree(folder)


def swap_folder(fresh: Path, target: Path) -> None:
    """Let a complete folder take the place of another, if there is one, which is deleted.

    A failure leaves that one there; a program that is killed leaves it as ``.NAME.old``.

    Raises:
        OSError: it cannot be renamed.
    """
    old = target.with_name(f".{target.name}.old")
    delete_hidden(old, target.parent)  # of a run that was killed
    was_there = target.is_symlink() or target.exists()
    if was_there:
        target.rename(old)
    try:
        fresh.rename(target)
    except OSError:
        if was_there:
            old.rename(target)
        raise
    delete_hidden(old, target.parent)
