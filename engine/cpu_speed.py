"""Which weights a processor multiplies fastest: whole in one of two types, or in 8 or 4 bits.

That depends on its instructions and on its memory, so it is measured, for about a second, where a
model is large enough that it matters and nobody said how to keep its weights.
"""

import functools
import importlib.util
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn

from engine.device import best_s, compute_dtype
from engine.quantisation import pack_layer

Way = tuple[str, torch.dtype]
"""``none``, ``nf4`` or ``int8``, and the type of what is whole or unpacked."""

_IN, _OUT = 2048, 4096  # 32 MB in float32: more than most processors keep at hand
_WORTH = 0.8
"""Packed weights say things a little differently: a fifth of the time must be gained by them."""

StopWatch = Callable[[Callable[[], object]], float]


@functools.cache
def cpu_ways() -> tuple[Way, ...]:
    """List the ways, the fastest first; the same for as long as the process runs."""
    computed = compute_dtype(torch.device("cpu"))
    ways: list[Way] = [("none", torch.float32), ("none", torch.bfloat16)]
    if importlib.util.find_spec("bitsandbytes") is not None:
        ways += [("int8", computed), ("nf4", computed)]
    return rank_ways(time_ways(ways))


def time_ways(ways: Sequence[Way], stop_watch: StopWatch = best_s) -> dict[Way, float]:
    """Time the product that a decode step is made of; seconds."""
    found = dict[Way, float]()
    for quantise, dtype in ways:
        layer = nn.Linear(_IN, _OUT, bias=False, dtype=dtype).requires_grad_(requires_grad=False)
        if quantise != "none":
            layer = pack_layer(layer, quantise).to("cpu")
        row = torch.ones(1, _IN, dtype=dtype)
        with torch.inference_mode():
            found[quantise, dtype] = stop_watch(functools.partial(layer, row))
    return found


def rank_ways(seconds: Mapping[Way, float]) -> tuple[Way, ...]:
    """Sort the ways by their time; packed ones count for more than they took."""

    def cost(way: Way) -> float:
        return seconds[way] if way[0] == "none" else seconds[way] / _WORTH

    return tuple(sorted(seconds, key=cost))
