"""Write ONNX models as bytes: the part of protobuf that ``engine.runtime.onnx.onnx_graph`` needs.

The numbers of the fields are those of onnx.proto3
(https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3). Equal graphs are equal bytes.
"""

import struct
from collections.abc import Mapping, Sequence

MICROSOFT = "com.microsoft"
"""Domain of the operators that ONNX Runtime adds to the standard ones."""

FLOAT, UINT8, INT8, INT32, INT64, BOOL = 1, 2, 3, 6, 7, 9
"""Types of numbers (``TensorProto.DataType``)."""

_IR_VERSION, _OPSET, _MICROSOFT_OPSET = 10, 18, 1
_AS_FLOAT, _AS_INTEGER = 1, 2  # kinds of attributes
_EXTERNAL = 1

Value = bytes | str | int | float


def node(
    operator: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    domain: str = "",
    **attributes: float,
) -> bytes:
    """Return a node of a graph; an empty name stands for an input or output that is left out."""
    return _field(
        1,
        b"".join(_field(1, name) for name in inputs)
        + b"".join(_field(2, name) for name in outputs)
        + _field(3, outputs[0])
        + _field(4, operator)
        + b"".join(_field(5, _attribute(*item)) for item in attributes.items())
        + _field(7, domain),
    )


def constant(name: str, numbers: Sequence[int]) -> bytes:
    """Return a list of int64 as part of the graph."""
    data = struct.pack(f"<{len(numbers)}q", *numbers)
    return _field(5, _field(1, len(numbers)) + _field(2, INT64) + _field(8, name) + _field(9, data))


def weight(name: str, shape: Sequence[int], kind: int, file: str) -> bytes:
    """Return a tensor whose numbers are given when the graph is loaded; ``file`` has them."""
    place = _field(13, _field(1, "location") + _field(2, file)) + _field(14, _EXTERNAL)
    return _field(
        5, b"".join(_field(1, size) for size in shape) + _field(2, kind) + _field(8, name) + place
    )


def graph_input(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    """Return an input of a graph; sizes with a name differ from run to run."""
    return _field(11, _value(name, kind, shape))


def graph_output(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    """Return an output of a graph."""
    return _field(12, _value(name, kind, shape))


def model(parts: Sequence[bytes], producer: str) -> bytes:
    """Return a model of nodes, tensors, inputs and outputs."""
    opsets: Mapping[str, int] = {"": _OPSET, MICROSOFT: _MICROSOFT_OPSET}
    return (
        _field(1, _IR_VERSION)
        + _field(2, producer)
        + _field(7, b"".join(parts) + _field(2, producer))
        + b"".join(
            _field(8, _field(1, domain) + _field(2, version)) for domain, version in opsets.items()
        )
    )


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, _AS_INTEGER)
    return _field(1, name) + _field(2, value) + _field(20, _AS_FLOAT)


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    sizes = (_field(1, _field(1 if isinstance(size, int) else 2, size)) for size in shape)
    tensor = _field(1, kind) + _field(2, b"".join(sizes))
    return _field(1, name) + _field(2, _field(1, tensor))


def _field(number: int, value: Value) -> bytes:
    """Return a field: a key of number and wire type, then the value."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first; negative ones have 64 bits."""
    number &= 2**64 - 1
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])
