"""The processor and its memory, without torch."""

import logging
import sys
from pathlib import Path

_log = logging.getLogger(__name__)

_SMALL = 50_000_000  # parameters: 0.2 GB, which one core reads in the time of a key press


def suits_one_thread(n_parameters: int) -> bool:
    """Return whether a model is so small that it computes in one thread of the processor.

    Threads that share a product wait for each other at its end. If other programs use the cores,
    each of the hundreds of products of a word then waits until all threads have run: captions of
    the bundled model, seven million parameters, came 14 s late with two threads on two busy cores,
    and 0.2 s late with one (``benchmarks/window.py``). On idle cores several threads hardly speed
    up a product of this size.
    """
    return n_parameters < _SMALL


def free_memory_bytes() -> int | None:
    """Return the free memory of the processor; None if the system does not report it.

    On Linux reclaimable file cache counts as free, and container limits are ignored.
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError as error:
        _log.info("free memory is not known: %s", error)
        return None
    available = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(available[0]) * 1024 if available else None


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out; torch reports that by its own error, or by the text only."""
    named = type(error).__name__ == "OutOfMemoryError"  # of torch, which is not imported for it
    return isinstance(error, MemoryError) or named or "can't allocate memory" in str(error)
