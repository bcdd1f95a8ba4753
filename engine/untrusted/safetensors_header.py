"""Read the header of a safetensors file: names, shapes and offsets of its tensors.

The file begins with eight bytes, a little-endian count; so many bytes of JSON follow; the rest is
data (https://huggingface.co/docs/safetensors). The header is not trusted: it is checked against
itself and the length of the file, as the library does when it loads, but without torch and with a
limit of its size.
"""

import math
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.untrusted.faults import Fault, refuse
from engine.untrusted.regular_file import open_plain
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
        shape: its dimensions.
        start: its first byte in the data, which begins after the header.
        end: the byte after its last.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def n_elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class SafetensorsHeader:
    """The tensors of a file by name, the length of the file, and where the data begins."""

    tensors: Mapping[str, TensorEntry]
    n_bytes: int
    data_start: int = 0


def read_header(path: Path, limit: int = MAX_HEADER_BYTES) -> SafetensorsHeader:
    """Read and check a header; the data is not touched.

    Args:
        path: a plain file.
        limit: bytes of the longest header that is read.

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
