"""Replace a folder by a new one, whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces ``folder`` if the block succeeds.

    A process that is killed leaves the old folder, or the new one, or for a moment the old one
    under a name that ``intact_folder`` finds; the next call removes leftovers.

    Raises:
        OSError: a folder cannot be made or renamed; other errors of the block pass through. The old
            folder is kept then.
    """
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
        yield fresh
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)  # frees a full disk at once
        raise
    old = _old(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.replace(folder, old)  # noqa: PTH105  Path.replace refuses a folder that is not empty
    os.replace(fresh, folder)  # noqa: PTH105
    shutil.rmtree(old, ignore_errors=True)


def intact_folder(folder: Path, file_name: str) -> Path | None:
    """Find the folder with that file, or the old one after a crash between two renames."""
    for candidate in (folder, _old(folder)):
        if (candidate / file_name).exists():
            return candidate
    return None


def _old(folder: Path) -> Path:
    return folder.with_name(folder.name + ".old")
