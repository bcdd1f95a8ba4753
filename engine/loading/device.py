"""Devices: choose one, and measure its free memory and its speed."""

import functools
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from engine.errors import ModelError
from engine.messages import Code

_log = logging.getLogger(__name__)

_PROBE_WIDTH, _PROBE_PASSES, _PROBE_S = 1024, 8, 0.2
_SMALL = 50_000_000  # parameters: 0.2 GB, which one core reads in the time of a key press


def pick_device(name: str) -> torch.device:
    """Return the device of ``auto``, ``cpu``, ``cuda`` or ``mps``.

    Raises:
        ModelError: CUDA or MPS was requested and is missing.
    """
    lacks_cuda = name == "cuda" and not torch.cuda.is_available()
    if lacks_cuda or (name == "mps" and not torch.backends.mps.is_available()):
        raise ModelError(Code.NO_DEVICE(device=name))
    if name == "auto":  # MPS only on request: it is untested
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def free_bytes(device: torch.device) -> int | None:
    """Return the free memory of a device; None if the system does not report it.

    On Linux reclaimable file cache counts as free, and container limits are ignored. MPS shares the
    memory of the processor, which is not known here.
    """
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type != "cpu" or not sys.platform.startswith("linux"):
        return None
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError as error:
        _log.info("free memory is not known: %s", error)
        return None
    available = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(available[0]) * 1024 if available else None


def share_processor(n_parameters: int) -> int:
    """Use one thread of the processor for a small model, else all; return their number.

    Threads that share a product wait for each other at its end. If other programs use the cores,
    each of the hundreds of products of a word then waits until all threads have run: captions of
    the bundled model, seven million parameters, came 14 s late with two threads on two busy cores,
    and 0.2 s late with one (``benchmarks/window.py``). On idle cores several threads hardly speed
    up a product of this size.
    """
    all_threads = _all_threads()  # read before the first change
    n_threads = 1 if n_parameters < _SMALL else all_threads
    torch.set_num_threads(n_threads)
    return n_threads


@functools.cache
def _all_threads() -> int:
    """Return torch's default number of threads."""
    return torch.get_num_threads()


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out; on a processor torch reports that by the text only."""
    kinds = (torch.OutOfMemoryError, MemoryError)
    return isinstance(error, kinds) or "can't allocate memory" in str(error)


def give_memory_back(device: torch.device) -> None:
    """Release the memory that torch caches, after an allocation failed."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


@functools.cache
def compute_dtype(device: torch.device) -> torch.dtype:
    """Return the type that weights of 4 or 8 bits are unpacked to, chosen once for each process.

    bfloat16 if the device multiplies it natively. On a processor that is timed, for some
    milliseconds: without instructions for bfloat16 it is many times slower than float32.
    """
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if device.type == "mps":
        return torch.float16
    return min((torch.float32, torch.bfloat16), key=_probe_s)


def best_s(once: Callable[[], object]) -> float:
    """Return the best time of a few calls in seconds; slow calls are repeated less often."""
    times_s = list[float]()
    while len(times_s) < 2 or (len(times_s) < _PROBE_PASSES and sum(times_s) < _PROBE_S):
        start_s = time.perf_counter()
        once()
        times_s.append(time.perf_counter() - start_s)
    return min(times_s)


def _probe_s(dtype: torch.dtype) -> float:
    """Time the product of a decode step."""
    matrix = torch.ones(_PROBE_WIDTH, _PROBE_WIDTH, dtype=dtype)
    return best_s(functools.partial(torch.mm, matrix[:1], matrix))
