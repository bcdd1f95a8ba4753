"""Let Linux lay the memory of this process together in large pages, once a network is loaded.

A pass reads every weight. Spread over small pages in the order in which they were freed, they take
the processor's address tables longer to find: a sixth of a pass (``docs/experiments.md``).
"""

import contextlib
import ctypes
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_MADV_COLLAPSE = 25  # since Linux 6.1; older ones refuse it
_LEAST_BYTES = 8 << 20
_FULL = 0.9
"""Share of a range that must be in use: what nobody wrote to would take memory as well."""

_RANGE = re.compile(
    r"^([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ \S+ *(?:\[heap\]|\[anon:.*\])?\n(?:[A-Z].*\n)*?"
    r"Rss: +(\d+) kB$",
    re.MULTILINE,
)


def collapse_pages() -> None:
    """Ask for large pages in all large ranges that are in use; nothing happens where it fails."""
    if sys.platform != "linux" or not hasattr(libc := ctypes.CDLL(None), "madvise"):
        return
    with contextlib.suppress(OSError):  # who may not look
        for start, n_bytes in _full_ranges(Path("/proc/self/smaps").read_text("ascii", "replace")):
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(n_bytes), _MADV_COLLAPSE)


def _full_ranges(smaps: str) -> Iterator[tuple[int, int]]:
    """Yield start and size in bytes of the large anonymous ranges that are in use."""
    for found in _RANGE.finditer(smaps):
        start, end = (int(address, 16) for address in found.group(1, 2))
        n_bytes = end - start
        if n_bytes >= _LEAST_BYTES and int(found[3]) * 1024 >= _FULL * n_bytes:
            yield start, n_bytes
