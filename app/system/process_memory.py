"""How much memory this process holds."""

import os
from pathlib import Path

_STATM = Path("/proc/self/statm")


def resident_bytes() -> int | None:
    """Tell the resident set of this process; None where the system does not tell it so."""
    try:
        n_pages = int(_STATM.read_text(encoding="ascii").split()[1])
        return n_pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):  # only Linux has it
        return None
