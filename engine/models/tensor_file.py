"""Read the tensors of a safetensors file into arrays of numpy, without torch."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.models.zeros import zeros
from engine.untrusted.faults import Fault
from engine.untrusted.regular_file import open_plain
from engine.untrusted.safetensors_header import TensorEntry, parse_header
from engine.untrusted.strict_json import refuse, shown

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
    with open_plain(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        refuse(Fault.TOO_LONG(most=limit))
    return content


def parse_tensors(content: bytes) -> Arrays:
    """Return the tensors of a file by their names; bfloat16 becomes float32, exactly.

    Raises:
        ValueError: the file is no sound safetensors file, or has other numbers than floating ones;
            the text continues a sentence that begins with the file.
    """
    header = parse_header(content)
    return {
        name: _array(content, header.data_start, name, entry)
        for name, entry in header.tensors.items()
    }


def _array(content: bytes, data_start: int, name: str, entry: TensorEntry) -> Array:
    if entry.dtype not in _STORED:
        refuse(Fault.TENSOR_TYPE_UNKNOWN(name=shown(name), dtype=entry.dtype))
    stored = np.frombuffer(
        content, _STORED[entry.dtype], count=entry.n_elements, offset=data_start + entry.start
    ).reshape(entry.shape)
    if entry.dtype != "BF16":
        return stored
    wide = zeros(entry.shape)
    wide.reshape(-1).view("<u2")[1::2] = stored.reshape(-1)  # the upper half of a float32
    return wide
