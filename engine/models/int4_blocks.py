"""Keep matrices in 4 bits: whole numbers, and a scale for each block of a row.

The arrangement is that of ``MatMulNBits`` of ONNX Runtime: two codes a byte, the lower one first; 8
stands for 0. The largest number of a block is its code 0, so one side has a step more (Q4_0 of
llama.cpp). A file holds it as ``engine.models.int8_entries`` tells.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.models.int8_entries import BLOCK

_ZERO, _MOST = 8, 15


class PackedBlocks(NamedTuple):
    """A matrix in 4 bits.

    Attributes:
        codes: uint8, shape (N, K / BLOCK, BLOCK / 2).
        scales: float32 of each block, shape (N, K / BLOCK); of either sign.
    """

    codes: NDArray[np.uint8]
    scales: NDArray[np.float32]


def pack_blocks(matrix: NDArray[np.float32]) -> PackedBlocks:
    """Return the codes and scales of finite numbers, shape (N, K), K a multiple of ``BLOCK``.

    Scales are rounded to float16, as they are kept, before codes are found.
    """
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(-1)[..., None], -1)[..., 0]
    scales = (largest / np.float32(-_ZERO)).astype(np.float16).astype(np.float32)
    scales[scales == 0] = np.finfo(np.float16).tiny  # of zeros, too
    codes = np.clip(np.rint(blocks / scales[..., None]) + _ZERO, 0, _MOST).astype(np.uint8)
    return PackedBlocks(codes[..., ::2] | codes[..., 1::2] << 4, scales)


def unpack_blocks(codes: NDArray[np.uint8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the matrix (N, K) that codes and scales stand for."""
    pairs = np.stack([codes & _MOST, codes >> 4], axis=-1)  # (N, K / BLOCK, BLOCK / 2, 2)
    numbers = pairs.reshape(*scales.shape, BLOCK).astype(np.float32) - np.float32(_ZERO)
    whole: NDArray[np.float32] = (numbers * scales[..., None]).reshape(len(codes), -1)
    return whole
