"""Pack the weights of linear layers to 8 bits, in blocks with a scale each.

The arrangement is that of ``MatMulNBits`` of ONNX Runtime: codes are unsigned, 128 stands for 0.
Blocks are rounded as ``engine.models.int8_rows`` rounds rows.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from engine.models.int8_entries import CODES, SCALES
from engine.models.int8_rows import pack_rows
from engine.models.llama_shape import EMBEDDING

Numbers = NDArray[np.float32] | NDArray[np.uint8] | NDArray[np.int8]

BLOCK = 128
"""Inputs that share a scale."""

_SIGN = np.uint8(0x80)  # of the eight bits of a signed number


def packed_shapes(sizes: tuple[int, ...]) -> tuple[tuple[int, int, int], tuple[int]]:
    """Return the shapes of codes and scales of a matrix (outputs, inputs)."""
    n_outputs, n_inputs = sizes
    n_blocks = -(-n_inputs // BLOCK)
    return (n_outputs, n_blocks, BLOCK), (n_outputs * n_blocks,)


def pack(matrix: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return the codes and scales of a matrix (outputs, inputs); inputs are padded by zeros."""
    codes_shape, scales_shape = packed_shapes(matrix.shape)
    padded = np.zeros((codes_shape[0], codes_shape[1] * BLOCK), dtype=np.float32)
    padded[:, : matrix.shape[1]] = matrix
    codes, scales = pack_rows(padded.reshape(codes_shape))
    return codes.view(np.uint8) ^ _SIGN, scales.reshape(scales_shape)


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
