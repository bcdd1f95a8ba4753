"""Rows of 8 bits stand for nearly the numbers that they were packed from."""

import numpy as np
import pytest

from engine.models.int8_rows import pack_rows, unpack_rows


def rows(width):
    """Rows of numbers of every size, each with an outlier; one of zeros, one of the least
    floats."""
    generator = np.random.default_rng(width)
    sizes = np.float32(10.0) ** np.arange(-36, 37, 6, dtype=np.float32)
    matrix = generator.normal(size=(len(sizes), width)).astype(np.float32) * sizes[:, None]
    matrix[:, 0] *= 30
    least = np.full((1, width), np.float32(3e-45))
    return np.concatenate([matrix, np.zeros((1, width), np.float32), least])


@pytest.mark.parametrize("width", [1, 2, 100, 384, 1001])
def test_each_number_is_rounded_by_at_most_half_a_step_of_its_row(width):
    matrix = rows(width)
    codes, scales = pack_rows(matrix)
    assert codes.dtype == np.int8
    assert scales.dtype == np.float32
    assert np.isfinite(scales).all()
    assert (scales > 0).all()
    assert codes.min() >= -127
    error = np.abs(unpack_rows(codes, scales).astype(np.float64) - matrix)
    assert (error <= scales[:, None].astype(np.float64) * 0.50001).all()


def test_what_was_unpacked_is_packed_as_it_was():
    codes, scales = pack_rows(rows(64))
    again, same = pack_rows(unpack_rows(codes, scales))
    assert np.array_equal(again[:-1], codes[:-1])
    np.testing.assert_allclose(same, scales, rtol=1e-6)
