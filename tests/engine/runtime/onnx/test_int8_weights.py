"""Weights of 8 bits stand for nearly the numbers that they were packed from."""

import numpy as np
import pytest

from engine.runtime.onnx.onnx_graph import BLOCK, pack


@pytest.mark.parametrize("n_inputs", [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_each_number_is_rounded_by_at_most_half_a_step_of_its_block(n_inputs):
    generator = np.random.default_rng(0)
    matrix = generator.normal(size=(5, n_inputs)).astype(np.float32)
    matrix[:, 0] = 100  # an outlier makes the steps of its own block large, and of no other
    codes, scales = pack(matrix)
    assert codes.dtype == np.uint8
    steps = scales.reshape(5, -1)[..., None]
    unpacked = ((codes.astype(np.float32) - 128) * steps).reshape(5, -1)
    wanted = np.zeros_like(unpacked)
    wanted[:, :n_inputs] = matrix
    error = np.abs(unpacked - wanted).reshape(codes.shape)
    assert (error <= steps * 0.5001).all()
    assert (unpacked[:, n_inputs:] == 0).all()
    assert (steps[:, 1:] < steps[:, :1] / 5).all()


def test_a_block_of_zeros_stays_zero():
    codes, scales = pack(np.zeros((2, BLOCK), dtype=np.float32))
    assert (codes == 128).all()
    assert (scales > 0).all()
    assert np.isfinite(scales).all()
