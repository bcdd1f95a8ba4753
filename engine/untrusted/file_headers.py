"""Read the header of a safetensors file: names, shapes and offsets of its tensors.

The file begins with eight bytes, a little-endian count; so many bytes of JSON follow; the rest is
data (https://huggingface.co/docs/safetensors). The header is not trusted: it is checked against
itself and the length of the file, as the library does when it loads, but without torch and with a
limit of its size.
"""

import math
import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from engine.untrusted.faults import Fault, FaultError, refuse
from engine.untrusted.limited_child import fields
from engine.untrusted.plain_files import open_plain
from engine.untrusted.strict_json import JsonObject, shown

MAX_HEADER_BYTES = 1 << 20
"""Room for 6,000 tensors; the factors of all layers of the largest models need a tenth of it."""

_PREFIX_BYTES = 8
_MOST_DIMENSIONS = 8
_LARGEST = 2**63 - 1
_PICKLE_STARTS = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")

_BYTES = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 1),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 2),
    **dict.fromkeys(("U32", "I32", "F32"), 4),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 8),
}


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One tensor.

    Attributes:
        dtype: as the format spells it, for example BF16.
        start: its first byte in the data, which begins after the header.
        end: the byte after its last.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def n_elements(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class SafetensorsHeader:
    """The tensors of a file by name, the length of the file, and where the data begins."""

    tensors: Mapping[str, TensorEntry]
    n_bytes: int
    data_start: int = 0


def read_header(path: Path, limit: int = MAX_HEADER_BYTES) -> SafetensorsHeader:
    """Read and check a header of at most ``limit`` bytes; the data is not touched.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is no sound safetensors file; the text continues a sentence that
            begins with the file.
    """
    with open_plain(path) as file:
        n_bytes = file.seek(0, 2)
        file.seek(0)
        prefix = file.read(_PREFIX_BYTES)
        n_header = _header_length(prefix, n_bytes, limit)
        content = file.read(n_header)
    return _parsed(content, n_bytes)


def parse_header(file: bytes | mmap.mmap) -> SafetensorsHeader:
    """Read and check the header of a file that is in memory, as ``read_header`` does."""
    n_header = _header_length(file[:_PREFIX_BYTES], len(file), MAX_HEADER_BYTES)
    return _parsed(file[_PREFIX_BYTES : _PREFIX_BYTES + n_header], len(file))


def _parsed(content: bytes, n_bytes: int) -> SafetensorsHeader:
    if not content.startswith(b"{"):
        refuse("has a header that does not begin with an object")
    try:
        entries = JsonObject.parse(content)
    except ValueError as error:
        refuse(f"has a header that {error}")
    tensors = {name: _entry(entries, name) for name in entries.values if name != "__metadata__"}
    if "__metadata__" in entries:
        metadata = entries.inner("__metadata__")
        for key in metadata.values:
            metadata.text(key)
    data_start = _PREFIX_BYTES + len(content)
    _check_offsets(tensors, n_bytes - data_start)
    return SafetensorsHeader(tensors=tensors, n_bytes=n_bytes, data_start=data_start)


def _header_length(prefix: bytes, n_bytes: int, limit: int) -> int:
    n_header = int.from_bytes(prefix, "little")
    if prefix.startswith(_PICKLE_STARTS) and n_header > limit:  # the length of a header is less
        detail = "is a pickle, which can run code, and no safetensors file"
        refuse(Fault.NAMES_CODE(detail=detail))
    if len(prefix) < _PREFIX_BYTES or n_bytes < _PREFIX_BYTES + min(n_header, limit):
        refuse(f"was cut within its header: it ends at byte {n_bytes}")
    if n_header > limit:
        detail = f"says its header is {n_header} bytes long, and {limit} are the most that is read"
        refuse(Fault.OVERSIZED(detail=detail))
    return n_header


def _entry(entries: JsonObject, name: str) -> TensorEntry:
    """Parse the entry of one tensor; check that its shape fills its bytes."""
    try:
        entry = entries.inner(name)
        dtype = entry.text("dtype")
        shape = entry.integers("shape", most=_LARGEST)
        offsets = entry.integers("data_offsets", most=_LARGEST)
    except ValueError as error:
        refuse(f"garbles the tensor {shown(name)}: {error}")
    if dtype not in _BYTES:
        refuse(f"gives the tensor {shown(name)} the unknown type {shown(dtype)}")
    if len(shape) > _MOST_DIMENSIONS or len(offsets) != 2:
        refuse(f"garbles the tensor {shown(name)}: its shape or its place has too many numbers")
    tensor = TensorEntry(dtype, shape, offsets[0], offsets[1])
    n_bytes, wanted = tensor.end - tensor.start, tensor.n_elements * _BYTES[dtype]
    if n_bytes != wanted:
        refuse(
            f"gives the tensor {shown(name)} another size in bytes than {list(shape)} of {dtype} "
            f"needs: {n_bytes}, not {wanted}"
        )
    return tensor


def _check_offsets(tensors: Mapping[str, TensorEntry], n_data: int) -> None:
    """Check that the tensors fill the data, without gaps and overlaps."""
    end = 0
    for name, entry in sorted(tensors.items(), key=lambda item: (item[1].start, item[1].end)):
        if entry.start != end:
            refuse(f"puts the tensor {shown(name)} at byte {entry.start} of the data, not at {end}")
        end = entry.end
    if end > n_data:
        refuse(f"was cut: its tensors need data up to byte {end}, and it ends at {n_data}")
    if end < n_data:
        refuse(f"has data behind its last tensor (bytes: {n_data - end})")


# A matrix ``NAME`` of shape (N, K) that is kept in 8 bits is two tensors: ``NAME.codes``, I8,
# (N, K), and ``NAME.scales``, F32, (N,). A number is its code times the scale of its row. In 4 bits
# they are U8, (N, K / 32, 16), and F16, (N, K / 32). ``engine.models.tensor_file`` computes them.

CODES, SCALES = ".codes", ".scales"
"""What is added to the name of a matrix."""

BLOCK = 32
"""Numbers of a matrix in 4 bits that share a scale."""

SCALED_INT8, SCALED_INT4 = "I8 with scales", "I4 with scales"
"""Types of matrices whose codes and scales are taken as one tensor; no types of the format."""


def whole_entries(tensors: Mapping[str, TensorEntry]) -> dict[str, TensorEntry]:
    """Return the tensors of a file; codes and scales are one, at the place of the codes.

    Raises:
        ValueError: codes and scales do not belong together; the text continues a sentence that
            begins with the file.
    """
    packed = dict(_packed_matrices(tensors))
    parts = {name + ending for name in packed for ending in (CODES, SCALES)}
    return packed | {name: entry for name, entry in tensors.items() if name not in parts}


def _packed_matrices(tensors: Mapping[str, TensorEntry]) -> Iterator[tuple[str, TensorEntry]]:
    for full_name, codes in tensors.items():
        name = full_name.removesuffix(CODES)
        if name == full_name:
            continue
        scales = tensors.get(name + SCALES)
        bits, dtype, shape = 8, SCALED_INT8, codes.shape
        sound = codes.dtype == "I8" and len(codes.shape) == 2 and codes.n_elements
        expected = "I8 with one scale of type F32 for each row"
        of_scales = "F32", codes.shape[:1]
        if codes.dtype == "U8" and len(shape) == 3:
            bits, dtype = 4, SCALED_INT4
            sound = shape[2] == BLOCK // 2 and codes.n_elements
            expected = f"U8 with one scale of type F16 for each block of {BLOCK}"
            of_scales = "F16", shape[:2]
            shape = (shape[0], BLOCK * shape[1])
        if not (sound and scales and (scales.dtype, scales.shape) == of_scales):
            refuse(
                f"keeps {shown(name)} in {bits} bits, and codes of type {expected} were expected"
            )
        if name in tensors:
            refuse(f"has {shown(name)} twice, whole and in {bits} bits")
        yield name, replace(codes, dtype=dtype, shape=shape)


# Weights of ONNX may lie in other files, which a description names by their paths; such a file is
# refused.
# Messages of protobuf are walked where they lie, so that the largest weights cost nothing. Source:
# https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.

_MOST_FIELDS = 500_000  # those in use reach 60,000
_MOST_DEPTH = 12
_MOST_METADATA = 1 << 16  # bytes of a name or a value
_EXTERNAL, _LOCATION = 13, 14
_NO_ONNX = "is no ONNX file, or is cut"
_TOO_MUCH = "describes more than any model in use"
_EXTERNAL_WEIGHTS = "keeps weights in other files, which are not read"

_PARTS: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 14: "metadata", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
    "metadata": {},
}
"""What the fields of each message hold that is looked into."""


def onnx_metadata(path: Path, most_bytes: int) -> dict[str, str]:
    """Return the names and values that a file of ONNX tells about itself.

    Raises:
        OSError: it cannot be read, or is no plain file.
        ValueError: it cannot be used; the text is a clause about the file.
    """
    with open_plain(path) as file:
        n_bytes = file.seek(0, 2)
        if n_bytes > most_bytes:
            refuse(f"is longer than {most_bytes} bytes")
        if not n_bytes:
            refuse(_NO_ONNX)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return _Walk(mapped).metadata()


class _Walk:
    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._n_fields = 0
        self._has_graph = False
        self._metadata: dict[str, str] = {}

    def metadata(self) -> dict[str, str]:
        try:
            self._look("model", 0, len(self._content), 0)
        except FaultError:
            raise
        except ValueError:
            self._has_graph = False
        if not self._has_graph:
            refuse(_NO_ONNX)
        return self._metadata

    def _look(self, part: str, start: int, end: int, depth: int) -> None:
        if depth > _MOST_DEPTH:
            refuse(_TOO_MUCH)
        entry: dict[int, str] = {}
        for number, first, behind, value in fields(self._content, start, end):
            self._n_fields += 1
            if self._n_fields > _MOST_FIELDS:
                refuse(_TOO_MUCH)
            if part == "tensor" and (number == _EXTERNAL or (number == _LOCATION and value)):
                refuse(_EXTERNAL_WEIGHTS)
            if part == "metadata" and first is not None and behind - first <= _MOST_METADATA:
                entry[number] = self._content[first:behind].decode(errors="replace")
            inner = _PARTS[part].get(number)
            if inner is not None and first is not None:
                self._has_graph |= part == "model" and inner == "graph"
                self._look(inner, first, behind, depth + 1)
        if part == "metadata":
            self._metadata[entry.get(1, "")] = entry.get(2, "")
