"""Keep matrices in 8 bits: whole numbers, and a scale for each row.

``engine.models.int8_entries`` tells how a file holds them.

Symmetric rounding to 255 steps, scaled by the largest number of a row: Dettmers et al. 2022
(LLM.int8(), https://arxiv.org/abs/2208.07339), section 2.1. Stochastic rounding: Gupta et al. 2015
(https://arxiv.org/abs/1502.02551), section 3.1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.models.zeros import zeros
from engine.untrusted.faults import refuse
from engine.untrusted.strict_json import shown

_MOST = 127
_LARGEST_SCALE = np.finfo(np.float32).max / 128  # times any code it is finite


class PackedRows(NamedTuple):
    """A matrix in 8 bits.

    Attributes:
        codes: int8, shape (..., K).
        scales: float32 of each row, shape (...,).
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]


def pack_rows(matrix: NDArray[np.float32], chance: np.random.Generator | None = None) -> PackedRows:
    """Return the codes of finite numbers, shape (..., K), and the scales of their rows, (...).

    Each is rounded to the nearest step, or, with a generator, up or down by chance so that its
    mean is right: what was in 8 bits before and has changed by less than half a step would else
    become what it was.
    """
    largest = np.abs(matrix).max(axis=-1)
    scales = np.maximum(largest / np.float32(_MOST), np.finfo(np.float32).tiny)  # of zeros, too
    steps = matrix / scales[..., None]
    if chance is None:
        return PackedRows(np.rint(steps).astype(np.int8), scales)
    drawn = np.floor(steps + chance.random(steps.shape, dtype=np.float32))
    return PackedRows(np.clip(drawn, -_MOST, _MOST).astype(np.int8), scales)


def is_packed(matrix: NDArray[np.float32]) -> bool:
    """Return whether the rows (N, K) are what 8 bits stand for."""
    return np.allclose(unpack_rows(*pack_rows(matrix)), matrix, rtol=1e-4, atol=0)


def unpack_rows(codes: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the matrix (N, K) that codes and scales stand for; it owns its memory."""
    matrix = zeros(codes.shape)
    np.multiply(codes, scales[:, None], out=matrix)
    return matrix


def check_scales(name: str, scales: NDArray[np.float32]) -> None:
    """Raise ValueError, as a clause about the file, if a scale gives no finite numbers."""
    if not bool(((scales > 0) & (scales <= _LARGEST_SCALE)).all()):  # NaN is neither
        refuse(f"has scales of {shown(name)} that are not all finite and more than 0")
