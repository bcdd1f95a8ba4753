"""The memory of this process."""

import os
from pathlib import Path

_STATM = Path("/proc/self/statm")


def resident_bytes() -> int | None:
    """Return the resident set of this process; None if the system is not Linux."""
    try:
        n_pages = int(_STATM.read_text(encoding="ascii").split()[1])
        return n_pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):  # only Linux has it
        return None
