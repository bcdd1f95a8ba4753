"""Writing files so that a crash or a full disk leaves them whole, and sizes as people read them."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path, fresh: Path | None = None) -> Iterator[Path]:
    """Lend the name of a new file that takes the place of ``path`` when the block ends well.

    Args:
        path: what is there already is replaced; it stays as it was if the block raises.
        fresh: the name that is lent, in the same folder; by default the file's with ``.new``.

    Raises:
        OSError: the file cannot be replaced; errors of the block pass through.
    """
    fresh = fresh or path.with_name(path.name + ".new")
    try:
        fresh.unlink(missing_ok=True)  # left by a crash, or a pipe
        yield fresh
        fresh.replace(path)
    finally:
        with contextlib.suppress(OSError):  # the folder may be what is missing
            fresh.unlink(missing_ok=True)


def write_file(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a whole file and wait until it is on the disk; a failure leaves the old one.

    Args:
        path: what is there already is replaced.
        text: written as UTF-8.
        mode: permissions of the file, less what the person's umask forbids.

    Raises:
        OSError: it cannot be written.
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

    Args:
        file: a descriptor.
        text: written as UTF-8; halves of surrogate pairs become question marks.
        synced: wait until it is on the disk; pipes cannot.

    Raises:
        OSError: that failed; what was written of the text is taken back.
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
        with contextlib.suppress(OSError):  # a pipe cannot be cut
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
