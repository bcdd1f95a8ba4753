"""Whether a run computes in bfloat16."""

import time

import torch


def computes_bf16(precision: str, device: torch.device) -> bool:
    """Decide for a device; ``auto`` takes bf16 where it is the faster one."""
    return precision == "bf16" or (precision == "auto" and bf16_pays(device))


def bf16_pays(device: torch.device) -> bool:
    """Time one matrix product in both precisions: many CPUs only emulate bf16."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    seconds = dict[torch.dtype, float]()
    for dtype in (torch.float32, torch.bfloat16):
        a, b = torch.ones(256, 256, dtype=dtype), torch.ones(256, 256, dtype=dtype)
        torch.mm(a, b)
        start = time.perf_counter()
        for _ in range(5):
            torch.mm(a, b)
        seconds[dtype] = time.perf_counter() - start
    return seconds[torch.bfloat16] < seconds[torch.float32]
