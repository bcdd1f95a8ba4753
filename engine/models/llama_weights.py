"""Read the weights of a plain Llama as float32, whole or kept in 8 or 4 bits, without torch."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.models.int4_blocks import PackedBlocks, unpack_blocks
from engine.models.int8_entries import CODES, SCALES, whole_entries
from engine.models.int8_rows import PackedRows, check_scales, unpack_rows
from engine.models.llama_shape import WEIGHTS_FILE, LlamaShape
from engine.models.tensor_file import float_tensor, int8_tensor, read_tensor_file, uint8_tensor
from engine.untrusted.faults import FaultError, fault_of
from engine.untrusted.safetensors_header import (
    MAX_HEADER_BYTES,
    SafetensorsHeader,
    TensorEntry,
    parse_header,
)
from engine.untrusted.strict_json import shown

Weights = dict[str, NDArray[np.float32]]

Stored = NDArray[np.float32] | PackedRows | PackedBlocks
"""A weight as a file has it: numbers, or a matrix kept in 8 or 4 bits."""

_WIDEST = 8  # bytes of a number in a file


def read_llama_file(folder: Path, shape: LlamaShape) -> bytes:
    """Read the file of weights of a folder into memory.

    Raises:
        ValueError: it cannot be read, or is longer than any of this shape; the text is a clause
            about the model.
    """
    try:
        return read_tensor_file(
            folder / WEIGHTS_FILE, MAX_HEADER_BYTES + _WIDEST * shape.n_parameters
        )
    except (OSError, ValueError) as error:
        raise FaultError(fault_of(error, WEIGHTS_FILE)) from error


def parse_llama_weights(content: bytes, shape: LlamaShape) -> Weights:
    """Return the weights of a file as float32, see ``stored_llama_weights``."""
    stored = stored_llama_weights(content, shape)
    return {name: whole_weight(weight) for name, weight in stored.items()}


def stored_llama_weights(content: bytes, shape: LlamaShape) -> dict[str, Stored]:
    """Return the weights of a file; what is kept in 8 or 4 bits stays so, in the file's own memory.

    Raises:
        ValueError: the file is damaged, or of another network, which is found before any of its
            numbers are read; the text is a clause about the model.
    """
    try:
        header = parse_header(content)
        _check_shapes(whole_entries(header.tensors), shape)
        return {name: _stored(content, header, name) for name in shape.tensors}
    except _OtherNetworkError:
        raise
    except ValueError as error:
        raise FaultError(fault_of(error, WEIGHTS_FILE)) from error


class _OtherNetworkError(FaultError):
    """The weights are those of another network; not the file is at fault."""


def _check_shapes(found: Mapping[str, TensorEntry], shape: LlamaShape) -> None:
    wanted = shape.tensors
    for name in sorted({*wanted} ^ {*found}):
        lacks = (
            "its weights lack" if name in wanted else "its config.json has no place for its weights"
        )
        msg = f"{lacks} {shown(name)}"
        raise _OtherNetworkError(msg)
    for name, sizes in wanted.items():
        if found[name].shape != sizes:
            msg = f"its weights have {shown(name)} in another shape than its config.json asks for"
            raise _OtherNetworkError(msg)


def whole_weight(weight: Stored) -> NDArray[np.float32]:
    """Return a weight as float32."""
    if isinstance(weight, PackedRows):
        return unpack_rows(*weight)
    return unpack_blocks(*weight) if isinstance(weight, PackedBlocks) else weight


def _stored(content: bytes, header: SafetensorsHeader, name: str) -> Stored:
    if name + CODES not in header.tensors:
        return np.ascontiguousarray(float_tensor(content, header, name), np.float32)
    scales = np.asarray(float_tensor(content, header, name + SCALES), np.float32)
    if header.tensors[name + CODES].dtype == "U8":
        check_scales(name, np.abs(scales))
        return PackedBlocks(uint8_tensor(content, header, name + CODES), scales)
    check_scales(name, scales)
    return PackedRows(int8_tensor(content, header, name + CODES), scales)
