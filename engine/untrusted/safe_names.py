"""Names from outside that become a file's or a folder's, and deleting folders that bear them.

What a hub or an adapter's card calls something is not believed: a name with a separator, a drive or
a device in it leads elsewhere, on this system or on another.
"""

import re
import shutil
from pathlib import Path

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_LONGEST = 96  # characters of an owner or a model on the hub
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_HIDDEN = re.compile(r"\.[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


def is_plain_name(name: str, most: int) -> bool:
    """Tell whether a name is one file's or folder's on every system, and nothing else.

    Args:
        name: letters and digits of ASCII, with dots, hyphens and underscores between them; none of
            the devices of Windows (``nul.json``).
        most: characters of the longest one.
    """
    return len(name) <= most and bool(_NAME.fullmatch(name)) and not _RESERVED.fullmatch(name)


def is_hub_name(name: str) -> bool:
    """Tell whether a name is ``owner/name`` as the Hugging Face hub gives them."""
    halves = name.split("/")
    # two hyphens would make two names one folder
    is_spelt = "--" not in name and ".." not in name and not name.endswith(".git")
    return len(halves) == 2 and is_spelt and all(is_plain_name(half, _LONGEST) for half in halves)


def delete_hidden(folder: Path, home: Path) -> None:
    """Delete a hidden folder that lies right in ``home``; of a link, the link alone.

    Raises:
        ValueError: the path leads elsewhere, and nothing is deleted.
        OSError: something in it cannot be deleted.
    """
    if folder.parent != home or not _HIDDEN.fullmatch(folder.name):
        msg = f"only a hidden folder right in {home} may be deleted, got {folder}"
        raise ValueError(msg)
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
    else:
        shutil.rmtree(folder)
