"""Put a folder in the place of another, whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Lend an empty folder beside ``folder`` that takes its place when the block ends well.

    A process that is killed leaves the old folder, or the new one, or for a moment the old one
    under the name ``standing`` finds; what it left beside them goes with the next call.

    Raises:
        OSError: a folder cannot be made or renamed; other errors of the block pass through, and
            the old folder stays as it was.
    """
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
        yield fresh
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)  # where the disk is full, room is made at once
        raise
    old = _old(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.replace(folder, old)  # noqa: PTH105  Path.replace refuses a folder that is not empty
    os.replace(fresh, folder)  # noqa: PTH105
    shutil.rmtree(old, ignore_errors=True)


def standing(folder: Path, file_name: str) -> Path | None:
    """Find the folder with that file; the one before it where a run was cut between two renames."""
    for candidate in (folder, _old(folder)):
        if (candidate / file_name).exists():
            return candidate
    return None


def _old(folder: Path) -> Path:
    return folder.with_name(folder.name + ".old")
