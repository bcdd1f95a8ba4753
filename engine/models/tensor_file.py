"""Read the tensors of a safetensors file into arrays of numpy, without torch."""

import mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.models.zeros import zeros
from engine.untrusted.faults import Fault, refuse
from engine.untrusted.regular_file import open_plain
from engine.untrusted.safetensors_header import SafetensorsHeader, TensorEntry, parse_header
from engine.untrusted.strict_json import shown

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
    """Check that a file has at most ``limit`` bytes; raises as ``read_tensor_file``."""
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
    """Return one tensor of type I8."""
    return uint8_tensor(content, header, name).view(np.int8)


def uint8_tensor(content: bytes, header: SafetensorsHeader, name: str) -> NDArray[np.uint8]:
    """Return one tensor of type U8."""
    entry = header.tensors[name]
    return _bytes(content, header, entry).view(np.uint8).reshape(entry.shape)


def _bytes(
    content: bytes | mmap.mmap, header: SafetensorsHeader, entry: TensorEntry
) -> NDArray[np.uint8]:
    start = header.data_start + entry.start
    return np.frombuffer(content, np.uint8, count=entry.end - entry.start, offset=start)
