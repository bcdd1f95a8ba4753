"""Keep matrices in 8 bits: whole numbers, and a scale for each row.

``engine.models.int8_entries`` tells how a file holds them.

Symmetric rounding to 255 steps, scaled by the largest number of a row: Dettmers et al. 2022
(LLM.int8(), https://arxiv.org/abs/2208.07339), section 2.1.
"""

import numpy as np
from numpy.typing import NDArray

from engine.models.zeros import zeros
from engine.untrusted.faults import refuse
from engine.untrusted.strict_json import shown

_MOST = 127
_LARGEST_SCALE = np.finfo(np.float32).max / 128  # times any code it is finite


def pack_rows(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the codes of finite numbers, shape (..., K), and the scales of their rows, (...)."""
    largest = np.abs(matrix).max(axis=-1)
    scales = np.maximum(largest / np.float32(_MOST), np.finfo(np.float32).tiny)  # of zeros, too
    return np.rint(matrix / scales[..., None]).astype(np.int8), scales


def unpack_rows(codes: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the matrix (N, K) that codes and scales stand for; it owns its memory."""
    matrix = zeros(codes.shape)
    np.multiply(codes, scales[:, None], out=matrix)
    return matrix


def check_scales(name: str, scales: NDArray[np.float32]) -> None:
    """Raise ValueError, as a clause about the file, if a scale gives no finite numbers."""
    if not bool(((scales > 0) & (scales <= _LARGEST_SCALE)).all()):  # NaN is neither
        refuse(f"has scales of {shown(name)} that are not all finite and more than 0")
