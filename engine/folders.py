"""Where our files lie: as the system has it, or all in ``SURTITLE_HOME``."""

import os
from pathlib import Path

import platformdirs


def own_folder(kind: str, below_home: str = "") -> Path:
    """Return our folder of a kind: ``config``, ``state``, ``log``, ``cache`` or ``data``.

    That is ``below_home`` inside SURTITLE_HOME if that is set, else as the system has it.
    """
    if home := os.environ.get("SURTITLE_HOME"):  # noqa: TID251  asked by entry points alone
        return Path(home, below_home)
    folders = platformdirs.PlatformDirs("surtitle", appauthor=False)
    folder: Path = getattr(folders, f"user_{kind}_path")
    return folder
