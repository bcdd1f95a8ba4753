"""Rows of 8 bits stand for nearly the numbers that they were packed from."""

import numpy as np
import pytest

from engine.models.tensor_file import is_packed, pack_rows, unpack_rows, zeros


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


def test_a_change_of_less_than_half_a_step_is_kept_on_the_whole_if_it_is_rounded_by_chance():
    before = unpack_rows(*pack_rows(np.random.default_rng(1).normal(size=(64, 448)).astype("f4")))
    change = np.full(before.shape, 0.002, np.float32)  # a twentieth to a tenth of a step
    nearest = unpack_rows(*pack_rows(before + change))
    drawn = unpack_rows(*pack_rows(before + change, np.random.default_rng(0)))
    assert abs(np.mean(nearest - before)) < 0.0005
    assert np.mean(drawn - before) == pytest.approx(0.002, rel=0.1)


def test_drawn_codes_stay_within_a_step_and_8_bits():
    matrix = rows(100)
    codes, scales = pack_rows(matrix, np.random.default_rng(0))
    assert codes.min() >= -127
    error = np.abs(unpack_rows(codes, scales).astype(np.float64) - matrix)
    assert (error <= scales[:, None].astype(np.float64) * 1.0001).all()


def test_it_is_seen_whether_a_matrix_was_packed():
    matrix = np.random.default_rng(1).normal(size=(8, 100)).astype(np.float32)
    assert not is_packed(matrix)
    assert is_packed(unpack_rows(*pack_rows(matrix)))


def test_that_there_is_no_memory_for_an_array_is_a_fault_of_memory():
    with pytest.raises(MemoryError):
        zeros((1 << 50,))
