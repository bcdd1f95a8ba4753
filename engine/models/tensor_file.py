"""Read the tensors of a safetensors file into arrays of numpy, without torch."""

import math
import mmap
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.untrusted.faults import Fault, refuse
from engine.untrusted.file_headers import BLOCK, SafetensorsHeader, TensorEntry, parse_header
from engine.untrusted.plain_files import open_plain
from engine.untrusted.strict_json import shown

# Memory of large arrays is taken page by page, as it is written, and given back at once: numpy asks
# for huge pages, of which one written number takes two megabytes, and the C library keeps what is
# freed for itself.


def zeros(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return an array of zeros in float32 with memory of its own; MemoryError if there is none."""
    try:
        memory = mmap.mmap(-1, max(1, 4 * math.prod(shape)))
    except OSError as error:
        raise MemoryError(str(error)) from error
    if hasattr(mmap, "MADV_NOHUGEPAGE"):  # on Linux
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.float32, count=math.prod(shape)).reshape(shape)


Array = NDArray[np.float16] | NDArray[np.float32] | NDArray[np.float64]
Arrays = dict[str, Array]

_STORED = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""How numpy reads each type; bfloat16, which it does not have, as its bits."""


def read_tensor_file(path: Path, limit: int) -> bytes:
    """Read a file of at most ``limit`` bytes into memory.

    Raises:
        OSError: it cannot be read, or is no plain file.
        ValueError: it is longer.
    """
    check_size(path, limit)
    with open_plain(path) as file:
        return file.read(limit)


def check_size(path: Path, limit: int) -> None:
    with open_plain(path) as file:
        if file.seek(0, 2) > limit:
            refuse(Fault.OVERSIZED(detail=f"is longer than {limit} bytes"))


def map_tensor_file(path: Path) -> mmap.mmap:
    """Map a file of any size, to be read where it is needed.

    Raises:
        OSError: it cannot be read, or is no plain file.
        ValueError: it is empty.
    """
    with open_plain(path) as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def parse_tensors(content: bytes) -> Arrays:
    """Return the tensors of a file by their names; bfloat16 becomes float32, exactly.

    Raises:
        ValueError: the file is no sound safetensors file, or has other numbers than floating ones;
            the text continues a sentence that begins with the file.
    """
    header = parse_header(content)
    return {name: float_tensor(content, header, name) for name in header.tensors}


def float_tensor(content: bytes | mmap.mmap, header: SafetensorsHeader, name: str) -> Array:
    """Return one tensor of a file, as ``parse_tensors`` does."""
    entry = header.tensors[name]
    if entry.dtype not in _STORED:
        refuse(f"gives the tensor {shown(name)} the unknown type {entry.dtype}")
    stored = _bytes(content, header, entry).view(_STORED[entry.dtype])
    if entry.dtype != "BF16":
        return stored.reshape(entry.shape)
    wide = zeros(entry.shape)
    wide.reshape(-1).view("<u2")[1::2] = stored  # the upper half of a float32
    return wide


def int8_tensor(content: bytes, header: SafetensorsHeader, name: str) -> NDArray[np.int8]:
    return uint8_tensor(content, header, name).view(np.int8)


def uint8_tensor(content: bytes, header: SafetensorsHeader, name: str) -> NDArray[np.uint8]:
    entry = header.tensors[name]
    return _bytes(content, header, entry).view(np.uint8).reshape(entry.shape)


def _bytes(
    content: bytes | mmap.mmap, header: SafetensorsHeader, entry: TensorEntry
) -> NDArray[np.uint8]:
    start = header.data_start + entry.start
    return np.frombuffer(content, np.uint8, count=entry.end - entry.start, offset=start)


# Matrices in 8 bits: symmetric rounding to 255 steps, scaled by the largest number of a row:
# Dettmers et al. 2022 (LLM.int8(), https://arxiv.org/abs/2208.07339), section 2.1. Stochastic
# rounding: Gupta et al. 2015 (https://arxiv.org/abs/1502.02551), section 3.1.

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


# Matrices in 4 bits: the arrangement is that of ``MatMulNBits`` of ONNX Runtime: two codes a byte,
# the lower one first; 8 stands for 0. The largest number of a block is its code 0, so one side has
# a step more (Q4_0 of llama.cpp).

_ZERO, _MOST_OF_4_BITS = 8, 15


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
    codes = np.clip(np.rint(blocks / scales[..., None]) + _ZERO, 0, _MOST_OF_4_BITS).astype(
        np.uint8
    )
    return PackedBlocks(codes[..., ::2] | codes[..., 1::2] << 4, scales)


def unpack_blocks(codes: NDArray[np.uint8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the matrix (N, K) that codes and scales stand for."""
    pairs = np.stack([codes & _MOST_OF_4_BITS, codes >> 4], axis=-1)  # (N, K / BLOCK, BLOCK / 2, 2)
    numbers = pairs.reshape(*scales.shape, BLOCK).astype(np.float32) - np.float32(_ZERO)
    whole: NDArray[np.float32] = (numbers * scales[..., None]).reshape(len(codes), -1)
    return whole
