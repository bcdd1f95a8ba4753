"""Pack the weights of linear layers to 8 bits, in blocks with a scale each.

The arrangement is that of ``MatMulNBits`` of ONNX Runtime: codes are unsigned, 128 stands for 0.
Blocks are rounded as ``engine.models.int8_rows`` rounds rows.
"""

from collections.abc import Mapping
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from engine.models.int8_entries import CODES, SCALES
from engine.models.int8_rows import PackedRows, pack_rows
from engine.models.llama_shape import EMBEDDING

Numbers = NDArray[np.float32] | NDArray[np.uint8] | NDArray[np.int8]

BLOCK = 128
"""Inputs that share a scale."""

_Matrix = TypeVar("_Matrix", NDArray[np.float32], NDArray[np.int8])

_SIGN = np.uint8(0x80)  # of the eight bits of a signed number


def pack(matrix: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return the codes and scales of a matrix (outputs, inputs); inputs are padded by zeros."""
    codes, scales = pack_rows(_in_blocks(matrix))
    return codes.view(np.uint8) ^ _SIGN, scales.reshape(-1)


def blocks_of_rows(rows: PackedRows) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return the codes and scales of a matrix that has 8 bits already: the same numbers."""
    codes = _in_blocks(rows.codes)
    return codes.view(np.uint8) ^ _SIGN, np.repeat(rows.scales, codes.shape[1])


def _in_blocks(matrix: _Matrix) -> _Matrix:
    n_outputs, n_inputs = matrix.shape
    n_blocks = -(-n_inputs // BLOCK)
    padded = np.zeros((n_outputs, n_blocks * BLOCK), dtype=matrix.dtype)
    padded[:, :n_inputs] = matrix
    return cast("_Matrix", padded.reshape(n_outputs, n_blocks, BLOCK))


def packed_weights(
    weights: Mapping[str, NDArray[np.float32]], names: Mapping[str, tuple[int, ...]]
) -> dict[str, Numbers]:
    """Return weights with the named matrices packed; the table of embeddings stays whole, too."""
    packed: dict[str, Numbers] = {
        name: weight for name, weight in weights.items() if name not in names or name == EMBEDDING
    }
    for name in names:
        packed[name + CODES], packed[name + SCALES] = pack(weights[name])
    return packed
