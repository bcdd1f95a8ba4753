import numpy as np

from engine.models.tensor_file import pack_blocks, unpack_blocks
from engine.untrusted.file_headers import BLOCK


def test_numbers_are_half_a_step_off_at_most_and_the_largest_of_a_block_hardly():
    rng = np.random.default_rng(0)
    matrix = (rng.normal(size=(20, 3 * BLOCK)) * rng.uniform(0.01, 50, (20, 1))).astype(np.float32)
    codes, scales = pack_blocks(matrix)
    assert codes.shape == (20, 3, BLOCK // 2)
    off = np.abs(unpack_blocks(codes, scales) - matrix).reshape(20, 3, BLOCK)
    steps = off / np.abs(scales)[..., None]
    blocks = matrix.reshape(20, 3, BLOCK)
    at_the_other_end = blocks / scales[..., None] > 7.5  # it has a step less
    assert steps[~at_the_other_end].max() < 0.5 + 1e-3
    assert steps.max() < 1.0 + 1e-2
    largest = np.abs(blocks).argmax(-1)[..., None]
    assert np.take_along_axis(steps, largest, -1).max() < 1e-2  # rounding of the scale


def test_what_4_bits_stand_for_is_packed_to_the_same_numbers():
    matrix = np.random.default_rng(1).normal(size=(9, 2 * BLOCK)).astype(np.float32)
    once = unpack_blocks(*pack_blocks(matrix))
    assert np.array_equal(unpack_blocks(*pack_blocks(once)), once)


def test_zeros_stay_zeros():
    codes, scales = pack_blocks(np.zeros((2, BLOCK), np.float32))
    assert np.isfinite(scales).all()
    assert not unpack_blocks(codes, scales).any()
