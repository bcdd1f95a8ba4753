"""Choice between bfloat16 and float32 for a run."""

import time

import torch
from torch import nn


def computes_bf16(precision: str, device: torch.device) -> bool:
    """Return whether to compute in bf16; ``auto`` takes bf16 if it is faster on the device."""
    return precision == "bf16" or (precision == "auto" and bf16_pays(device))


def bf16_pays(device: torch.device) -> bool:
    """Time a block forwards and backwards in both precisions.

    Many CPUs only emulate bf16; others multiply in bf16 but are slow at the rest, so a whole block
    is timed.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return _block_s(torch.bfloat16) < _block_s(torch.float32)


def _block_s(dtype: torch.dtype) -> float:
    """Time a feed-forward block of the bundled model's size: the best of some tries, in seconds."""
    with torch.random.fork_rng(devices=[]):  # the run's own random state is unchanged
        block = nn.Sequential(
            nn.Linear(256, 704), nn.SiLU(), nn.Linear(704, 256), nn.LayerNorm(256)
        ).to(dtype)
    rows = torch.ones(1024, 256, dtype=dtype)
    seconds = list[float]()
    for _ in range(4):
        start = time.perf_counter()
        block(rows).float().sum().backward()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
