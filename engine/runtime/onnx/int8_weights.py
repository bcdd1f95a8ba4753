"""Pack the weights of linear layers to 8 bits, in blocks with a scale each.

The arrangement is that of ``MatMulNBits`` of ONNX Runtime: codes are unsigned, 128 stands for 0.
Symmetric rounding to 255 steps, scaled by the largest number of a block: Dettmers et al. 2022
(LLM.int8(), https://arxiv.org/abs/2208.07339), section 2.1, with blocks instead of rows.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from engine.models.llama_shape import EMBEDDING

Numbers = NDArray[np.float32] | NDArray[np.uint8]

BLOCK = 128
"""Inputs that share a scale."""

CODES, SCALES = ".codes", ".scales"
"""What is added to the name of a weight."""

_ZERO, _MOST = 128, 127


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
    blocks = padded.reshape(codes_shape)
    scales = np.abs(blocks).max(axis=-1) / _MOST  # (N, blocks)
    steps = blocks / np.where(scales, scales, 1)[..., None]
    codes = (np.rint(steps) + _ZERO).astype(np.uint8)
    return codes, scales.reshape(scales_shape).astype(np.float32)


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
