"""Devices: choose one, and measure its free memory and its speed."""

import functools
import time
from collections.abc import Callable

import torch

from engine.errors import ModelError
from engine.messages import Code
from engine.runtime.processor import free_memory_bytes, suits_one_thread

_PROBE_WIDTH, _PROBE_PASSES, _PROBE_S = 1024, 8, 0.2


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

    MPS shares the memory of the processor, which is not known here.
    """
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return free_memory_bytes() if device.type == "cpu" else None


def share_processor(n_parameters: int) -> int:
    """Use one thread of the processor for a small model, else all; return their number."""
    all_threads = _all_threads()  # read before the first change
    n_threads = 1 if suits_one_thread(n_parameters) else all_threads
    torch.set_num_threads(n_threads)
    return n_threads


@functools.cache
def _all_threads() -> int:
    """Return torch's default number of threads."""
    return torch.get_num_threads()


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
