"""Write files so that a crash or a full disk leaves them intact; format sizes for people.

``ASSETS`` is the folder of the files that come with the program; ours lie where the system has such
files, or all in ``SURTITLE_HOME``.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import platformdirs

ASSETS = Path(__file__).resolve().parents[1] / "assets"


@contextlib.contextmanager
def replacing(path: Path, fresh: Path | None = None) -> Iterator[Path]:
    """Yield a new file's name; it replaces ``path`` unless the block raises.

    ``fresh`` names it, in the same folder; by default the file's name with ``.new``.

    Raises:
        OSError: the file cannot be replaced; errors of the block pass through.
    """
    fresh = fresh or path.with_name(path.name + ".new")
    try:
        fresh.unlink(missing_ok=True)  # left by a crash, or a pipe
        yield fresh
        fresh.replace(path)
    finally:
        with contextlib.suppress(OSError):  # the folder may be missing
            fresh.unlink(missing_ok=True)


def write_file(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file by UTF-8 text and sync it to disk; on OSError the old file remains.

    ``mode`` is limited by the umask.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with (
        replacing(path) as fresh,
        os.fdopen(os.open(fresh, flags, mode), "w", encoding="utf-8", newline="\n") as file,
    ):
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def append_text(file: int, text: str, *, synced: bool = True) -> None:
    """Write to the end of an open file, all of the text or nothing.

    As UTF-8; halves of surrogate pairs become question marks. ``synced``: to disk, which pipes do
    not support.

    Raises:
        OSError: that failed; the part of the text that was written is removed.
    """
    size = os.fstat(file).st_size
    data = text.encode(errors="replace")
    n_written = 0
    try:
        while n_written < len(data):
            n_written += os.write(file, data[n_written:])
        if synced:
            os.fsync(file)
    except OSError:
        with contextlib.suppress(OSError):  # a pipe cannot be truncated
            os.ftruncate(file, size)
        raise


def bytes_text(n_bytes: float) -> str:
    """Write a size for people, in powers of ten: ``999 B``, ``13.7 MB``, ``988 MB``, ``3.1 GB``."""
    if n_bytes < 1000:
        return f"{n_bytes:.0f} B"
    if n_bytes < 1e6:
        return f"{n_bytes / 1e3:.1f} kB"
    if n_bytes < 1e8:
        return f"{n_bytes / 1e6:.1f} MB"
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:.1f} GB"


class ByteCount(int):
    """A number of bytes that is written as ``bytes_text`` does."""

    def __format__(self, form: str) -> str:
        return bytes_text(int(self))  # its own format would come back here


def own_folder(kind: str, below_home: str = "") -> Path:
    """Return our folder of a kind: ``config``, ``state``, ``log``, ``cache`` or ``data``.

    That is ``below_home`` inside SURTITLE_HOME if that is set, else as the system has it.
    """
    if home := os.environ.get("SURTITLE_HOME"):  # noqa: TID251  asked by entry points alone
        return Path(home, below_home)
    folders = platformdirs.PlatformDirs("surtitle", appauthor=False)
    folder: Path = getattr(folders, f"user_{kind}_path")
    return folder
