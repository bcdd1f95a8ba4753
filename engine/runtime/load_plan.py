"""Plan the device and quantisation of a model: the options that fit, in order of preference.

Whole weights first, then 4 bits; the faster device first. On a processor a large model computes in
the type that it multiplies fastest. 8 bits only on request: slower than either. Only ``auto`` is
replaced by another choice, never an explicit request.
"""

import functools
import importlib.util
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.errors import ModelError
from engine.files import ByteCount
from engine.messages import Code, Message, Value
from engine.models.fingerprint import Footprint
from engine.runtime.processor import free_memory_bytes, suits_one_thread
from engine.settings import ModelSettings

# Devices: choose one, and measure its free memory and its speed.

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


def _probe_s(dtype: torch.dtype) -> float:
    """Return the best time of a few products in seconds; slow ones are repeated less often."""
    matrix = torch.ones(_PROBE_WIDTH, _PROBE_WIDTH, dtype=dtype)
    times_s = list[float]()
    while len(times_s) < 2 or (len(times_s) < _PROBE_PASSES and sum(times_s) < _PROBE_S):
        start_s = time.perf_counter()
        torch.mm(matrix[:1], matrix)
        times_s.append(time.perf_counter() - start_s)
    return min(times_s)


SMALL = 200_000_000
"""Parameters up to which a CPU computes in float32, which is fast on every CPU."""

_ROOM = 1.1  # for activations, and for rounding by allocators
_KEPT = {"none": Code.WHOLE, "nf4": Code.IN_4_BITS, "int8": Code.IN_8_BITS}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """One way to load a model.

    Attributes:
        quantise: ``none``, ``nf4`` or ``int8``.
        needed_bytes: estimate, with the slot cache and some room.
        free_bytes: on the device; None if unknown.
        dtype: of whole or unpacked weights, if measured to be the fastest.
    """

    device: torch.device
    quantise: str
    needed_bytes: int
    free_bytes: int | None
    dtype: torch.dtype | None = None

    @property
    def fits(self) -> bool:
        """Whether there is room, or the free memory is unknown."""
        return self.free_bytes is None or self.needed_bytes <= self.free_bytes

    @property
    def kept(self) -> Message:
        """The plan in words: ``in 4 bits on cuda``, ``whole in float32 on cpu``."""
        if self.quantise == "none" and self.dtype is not None:
            dtype = str(self.dtype).removeprefix("torch.")
            return Code.WHOLE_IN(dtype=dtype, device=self.device.type)
        return _KEPT[self.quantise](device=self.device.type)

    @property
    def shortage(self) -> Message:
        """The reason against it: ``needs 5.6 GB in 4 bits on cuda, 4.1 GB free``."""
        size = ByteCount(self.needed_bytes)
        if self.free_bytes is None:
            return Code.NEEDS(size=size, kept=self.kept)
        return Code.NEEDS_MORE(size=size, kept=self.kept, free=ByteCount(self.free_bytes))


def load_plans(settings: ModelSettings, footprint: Footprint) -> list[LoadPlan]:
    """List the plans that the settings allow, the best first.

    Raises:
        ModelError: the device is missing, or does not support the quantisation.
    """
    first = pick_device(settings.device)
    if first.type == "mps" and settings.quantise in ("nf4", "int8"):
        kept = _KEPT[settings.quantise](device="mps")
        raise ModelError(Code.CANNOT_QUANTISE(kept=kept))
    devices = [first]
    if settings.device == "auto" and first.type != "cpu":
        devices.append(torch.device("cpu"))
    plans = list[LoadPlan]()
    for device in devices:
        large = footprint.n_parameters > SMALL
        is_measured = device.type == "cpu" and settings.quantise == "auto" and large
        dtype = compute_dtype(device) if is_measured else None
        plans += [
            _plan(device, quantise, dtype, footprint, settings.capacity)
            for quantise in _quantisations(settings, device)
        ]
    return plans


def fitting(
    folder: Path, plans: Sequence[LoadPlan], settings: ModelSettings, footprint: Footprint
) -> list[LoadPlan]:
    """Return the plans that fit.

    Raises:
        ModelError: none does; the sentence names the needed and free memory, and a plan that fits.
    """
    fit = [plan for plan in plans if plan.fits]
    if fit:
        return fit
    least = min(plans, key=lambda plan: plan.needed_bytes)
    others = [
        _plan(device, quantise, None, footprint, settings.capacity)
        for device in dict.fromkeys([plans[0].device, torch.device("cpu")])
        for quantise in ("none", "nf4")
        if not (quantise == "nf4" and device.type == "mps")
    ]
    instead = next((plan for plan in others if plan.fits), None)
    subject: dict[str, Value] = {"folder": str(folder), "reasons": least.shortage}
    if instead is None:
        raise ModelError(Code.TOO_LARGE_CLOSE(**subject))
    device, quantise = instead.device.type, instead.quantise
    raise ModelError(Code.TOO_LARGE_INSTEAD(**subject, device=device, quantise=quantise))


def _quantisations(settings: ModelSettings, device: torch.device) -> tuple[str, ...]:
    if settings.quantise != "auto":
        return (settings.quantise,)
    libraries = ("bitsandbytes", "accelerate")
    packs = device.type != "mps" and all(map(importlib.util.find_spec, libraries))
    return ("none", "nf4") if packs else ("none",)


def _plan(
    device: torch.device,
    quantise: str,
    dtype: torch.dtype | None,
    footprint: Footprint,
    capacity: int,
) -> LoadPlan:
    on_cpu = device.type == "cpu"
    number_bytes = footprint.stored_bytes
    if dtype is not None:
        number_bytes = dtype.itemsize
    elif on_cpu and footprint.n_parameters <= SMALL:
        number_bytes = 4
    elif quantise != "none":
        number_bytes = 4 if on_cpu else 2  # a CPU may unpack to float32, see ``compute_dtype``
    needed = _ROOM * footprint.n_bytes(quantise, number_bytes, capacity)
    return LoadPlan(
        device=device,
        quantise=quantise,
        needed_bytes=int(needed),
        free_bytes=free_bytes(device),
        dtype=dtype,
    )
