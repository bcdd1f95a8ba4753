"""Foretell how fast a speech model recognises on this computer, before it is downloaded.

A pass of a known model has a known amount of computing (``benchmarks/shapes/whisper.py``); how much
this computer does in a second is measured by a product of matrices.
"""

import math
import time
from collections.abc import Callable

import numpy as np

_SIDE = 512  # small enough that other programs leave some products alone
_LEAST_S = 0.15
_MOST_ROUNDS = 200


def matrix_gflops(clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the billions of float32 operations a second of numpy here.

    The fastest product within 0.2 s counts: other programs slow some of them down.

    Args:
        clock: the time in seconds.
    """
    left = np.full((_SIDE, _SIDE), 0.5, np.float32)
    right = left.copy()
    np.matmul(left, right)  # threads start, pages are touched
    best_s, began_s = math.inf, clock()
    for _ in range(_MOST_ROUNDS):
        round_s = clock()
        np.matmul(left, right)
        now_s = clock()
        best_s = min(best_s, now_s - round_s)
        if now_s - began_s > _LEAST_S:
            break
    return 2e-9 * _SIDE**3 / max(best_s, 1e-9)
