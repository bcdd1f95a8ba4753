"""Where a network computes, and how much memory is free there."""

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
    """Turn ``auto``, ``cpu``, ``cuda`` or ``mps`` into a device.

    Raises:
        ModelError: CUDA or MPS was asked for and there is none.
    """
    lacks_cuda = name == "cuda" and not torch.cuda.is_available()
    if lacks_cuda or (name == "mps" and not torch.backends.mps.is_available()):
        raise ModelError(Code.NO_DEVICE(device=name))
    if name == "auto":  # MPS only where it is asked for: nobody has tried it yet
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def free_bytes(device: torch.device) -> int | None:
    """Tell how much memory is free on a device; None where the system does not tell.

    On Linux what the file cache would give back counts as free, and a limit of the container is
    not looked for. MPS shares the memory of the processor, of which nothing is known here.
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
    """Compute on one thread of the processor what is small, all else on as many as there are.

    Threads that share a product wait for each other at its end. Where other programs have the
    cores, each of the hundreds of products of a word then waits until all threads had their turn:
    captions of the bundled model, seven million parameters, came 14 s late by two threads on two
    busy cores, and 0.2 s late by one (``benchmarks/window.py``). On idle cores a product of this
    size is hardly quicker by several.

    Returns:
        the number of threads.
    """
    all_threads = _all_threads()  # asked before it is changed for the first time
    n_threads = 1 if n_parameters < _SMALL else all_threads
    torch.set_num_threads(n_threads)
    return n_threads


@functools.cache
def _all_threads() -> int:
    """Tell how many threads torch takes by itself; the same for as long as the process runs."""
    return torch.get_num_threads()


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether memory ran out; torch says so of a processor's in words only."""
    kinds = (torch.OutOfMemoryError, MemoryError)
    return isinstance(error, kinds) or "can't allocate memory" in str(error)


def give_memory_back(device: torch.device) -> None:
    """Let go of memory that torch keeps for later, after something did not fit."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


@functools.cache
def compute_dtype(device: torch.device) -> torch.dtype:
    """Choose what weights of 4 or 8 bits are unpacked to; the same for as long as the process runs.

    bfloat16 where the device multiplies it natively. A processor is asked by a stop-watch, for some
    milliseconds: without instructions for bfloat16 it is many times slower than float32.
    """
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if device.type == "mps":
        return torch.float16
    return min((torch.float32, torch.bfloat16), key=_probe_s)


def best_s(once: Callable[[], object]) -> float:
    """Time a call, the best of a few, of fewer where they take long; seconds."""
    times_s = list[float]()
    while len(times_s) < 2 or (len(times_s) < _PROBE_PASSES and sum(times_s) < _PROBE_S):
        start_s = time.perf_counter()
        once()
        times_s.append(time.perf_counter() - start_s)
    return min(times_s)


def _probe_s(dtype: torch.dtype) -> float:
    """Time the product that a decode step is made of."""
    matrix = torch.ones(_PROBE_WIDTH, _PROBE_WIDTH, dtype=dtype)
    return best_s(functools.partial(torch.mm, matrix[:1], matrix))
