"""Plan the device and quantisation of a model: the options that fit, in order of preference.

Whole weights first, then 4 bits; the faster device first. On a processor a large model uses its
fastest way. 8 bits elsewhere only on request: slower than either. Only ``auto`` is replaced by
another choice, never an explicit request.
"""

import functools
import importlib.util
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from engine.errors import ModelError
from engine.files import ByteCount
from engine.messages import Code, Message, Value
from engine.models.fingerprint import Footprint
from engine.runtime.processor import free_memory_bytes, suits_one_thread
from engine.runtime.torch.linear_layers import fuse_layers, has_fused_product, pack_layer
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


def best_s(once: Callable[[], object]) -> float:
    """Return the best time of a few calls in seconds; slow calls are repeated less often."""
    times_s = list[float]()
    while len(times_s) < 2 or (len(times_s) < _PROBE_PASSES and sum(times_s) < _PROBE_S):
        start_s = time.perf_counter()
        once()
        times_s.append(time.perf_counter() - start_s)
    return min(times_s)


def _probe_s(dtype: torch.dtype) -> float:
    matrix = torch.ones(_PROBE_WIDTH, _PROBE_WIDTH, dtype=dtype)
    return best_s(functools.partial(torch.mm, matrix[:1], matrix))


# Which weights a processor multiplies fastest depends on its instructions and its memory, so it is
# measured, for a second or two, if a model is large and its quantisation is ``auto``. Weights of 4
# bits are unpacked for each product, or multiplied packed where that is faster.

Way = tuple[str, torch.dtype]
"""``none``, ``nf4`` or ``int8``, and the type of whole or unpacked weights."""

_IN, _OUT = 2048, 4096  # 32 MB in float32: more than most caches hold
_STEPS, _PROMPT = 30, 48
"""Passes of an utterance, most of one row or two, and rows of the prompt before it."""

_WORTH = 0.8
"""Less exact weights change the output a little, so they must save a fifth of the time."""

StopWatch = Callable[[Callable[[], object]], float]


@functools.cache
def cpu_ways() -> tuple[Way, ...]:
    """List the ways, the fastest first; measured once for each process."""
    computed = compute_dtype(torch.device("cpu"))
    ways: list[Way] = [("none", torch.float32), ("none", torch.bfloat16)]
    if importlib.util.find_spec("bitsandbytes") is not None:
        ways += [("int8", computed), ("nf4", torch.bfloat16 if multiplies_packed() else computed)]
    return rank_ways(time_ways(ways))


@functools.cache
def multiplies_packed() -> bool:
    """Return whether packed weights of 4 bits are faster; measured once for each process."""
    return packed_is_faster()


def packed_is_faster(stop_watch: StopWatch = best_s) -> bool:
    """Time layers of 4 bits packed in bfloat16 and unpacked, if the processor supports both."""
    if not has_fused_product():
        return False
    computed = compute_dtype(torch.device("cpu"))
    unpacked_s = _utterance_s(_layer("nf4", computed), computed, stop_watch)
    packed = _layer("nf4", torch.bfloat16)
    fuse_layers(packed)
    return _utterance_s(packed, torch.bfloat16, stop_watch) < _WORTH * unpacked_s


def time_ways(ways: Sequence[Way], stop_watch: StopWatch = best_s) -> dict[Way, float]:
    """Time the products of an utterance in one layer; seconds."""
    times_s = dict[Way, float]()
    for quantise, dtype in ways:
        layer = _layer(quantise, dtype)
        if quantise == "nf4" and multiplies_packed():
            fuse_layers(layer)
        times_s[quantise, dtype] = _utterance_s(layer, dtype, stop_watch)
    return times_s


def rank_ways(seconds: Mapping[Way, float]) -> tuple[Way, ...]:
    """Sort the ways by time; packed ones with a penalty of ``_WORTH``."""

    def cost(way: Way) -> float:
        return seconds[way] if way[0] == "none" else seconds[way] / _WORTH

    return tuple(sorted(seconds, key=cost))


def _layer(quantise: str, dtype: torch.dtype) -> nn.Module:
    layer = nn.Linear(_IN, _OUT, bias=False, dtype=dtype).requires_grad_(requires_grad=False)
    return layer if quantise == "none" else pack_layer(layer, quantise).to("cpu")


def _utterance_s(layer: nn.Module, dtype: torch.dtype, stop_watch: StopWatch) -> float:
    """Time a step, for which packed weights are faster, and a prompt, for which they are slower."""
    seconds = []
    for n_rows in (1, _PROMPT):
        rows = torch.ones(n_rows, _IN, dtype=dtype)
        with torch.inference_mode():
            seconds.append(stop_watch(functools.partial(layer, rows)))
    step_s, prompt_s = seconds
    return _STEPS * step_s + prompt_s


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


def load_plans(
    settings: ModelSettings,
    footprint: Footprint,
    fastest: Callable[[], Sequence[Way]] = cpu_ways,
) -> list[LoadPlan]:
    """List the plans that the settings allow, the best first.

    ``fastest`` measures a processor, if that is needed.

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
        ways: Sequence[tuple[str, torch.dtype | None]]
        if device.type == "cpu" and settings.quantise == "auto" and large:
            ways = fastest()
        else:
            ways = [(quantise, None) for quantise in _quantisations(settings, device)]
        plans += [_plan(device, *way, footprint, settings.capacity) for way in ways]
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
    packs = device.type != "mps" and importlib.util.find_spec("bitsandbytes") is not None
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
