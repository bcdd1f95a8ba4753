"""The processor, its memory, and a graphics card if torch finds one."""

import contextlib
import ctypes
import importlib.util
import logging
import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import first_line

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A computer; sizes in bytes, 0 if unknown; ``cores`` that this process may use.

    ``trouble``: why a graphics card could not be queried, one sentence; empty for no trouble.
    """

    processor: str
    cores: int
    memory_bytes: int
    free_bytes: int
    gpu: str = ""
    gpu_bytes: int = 0
    gpu_free_bytes: int = 0
    trouble: str = ""


def look_around() -> Machine:
    """Describe this computer.

    Querying a driver can crash or hang, so windows use a separate process (``surtitle check``).
    """
    gpu, gpu_bytes, gpu_free_bytes, trouble = _graphics()
    return Machine(
        processor=_processor(),
        cores=_cores(),
        memory_bytes=_memory_bytes(),
        free_bytes=free_memory_bytes() or 0,
        gpu=gpu,
        gpu_bytes=gpu_bytes,
        gpu_free_bytes=gpu_free_bytes,
        trouble=trouble,
    )


def _graphics() -> tuple[str, int, int, str]:
    if importlib.util.find_spec("torch") is None:
        return "", 0, 0, ""
    import torch  # noqa: PLC0415  takes seconds

    if torch.backends.mps.is_available():
        return "Apple GPU (MPS)", 0, 0, ""
    if not torch.cuda.is_available():
        return "", 0, 0, ""
    try:  # a driver of another version, or a card that another program holds alone
        free, total = torch.cuda.mem_get_info(0)
        return torch.cuda.get_device_name(0), total, free, ""
    except RuntimeError as error:
        return "", 0, 0, first_line(error)


def _cores() -> int:
    if platform.system() == "Linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return 0


def _processor() -> str:
    """Return the name of the processor from Linux, elsewhere that of ``platform``."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


# A pass reads every weight. Spread over small pages in the order in which they were freed, they
# take the processor's address tables longer to find: a sixth of a pass (``docs/experiments.md``).

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
