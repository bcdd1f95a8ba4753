"""Measure which weights a processor multiplies fastest: whole in one of two types, 8 or 4 bits.

That depends on its instructions and its memory, so it is measured, for a second or two, if a model
is large and its quantisation is ``auto``. Weights of 4 bits are unpacked for each product, or
multiplied packed where that is faster (``engine.runtime.torch.quantisation``).
"""

import functools
import importlib.util
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn

from engine.runtime.device import best_s, compute_dtype
from engine.runtime.torch.quantisation import fuse_layers, has_fused_product, pack_layer

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
    """Return whether packed weights of 4 bits are faster; measured once for each process.

    Raises:
        ModelError: bitsandbytes is missing.
    """
    return packed_is_faster()


def packed_is_faster(stop_watch: StopWatch = best_s) -> bool:
    """Time layers of 4 bits packed in bfloat16 and unpacked, if the processor supports both.

    Raises:
        ModelError: bitsandbytes is missing.
    """
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
