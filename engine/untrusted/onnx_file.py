"""Look through a file of ONNX, before a library opens it: is it one, and is it all there is of it?

Weights may lie in other files, which a description names by their paths; such a file is refused.
Messages of protobuf are walked where they lie, so that the largest weights cost nothing. Source:
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.untrusted.faults import FaultError, refuse
from engine.untrusted.regular_file import open_plain

_MOST_FIELDS = 500_000  # those in use reach 60,000
_MOST_DEPTH = 12
_MOST_METADATA = 1 << 16  # bytes of a name or a value
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
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
    """One look through a file."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._n_fields = 0
        self._has_graph = False
        self._metadata: dict[str, str] = {}

    def metadata(self) -> dict[str, str]:
        self._look("model", 0, len(self._content), 0)
        if not self._has_graph:
            refuse(_NO_ONNX)
        return self._metadata

    def _look(self, part: str, start: int, end: int, depth: int) -> None:
        if depth > _MOST_DEPTH:
            refuse(_TOO_MUCH)
        entry: dict[int, str] = {}
        for number, first, behind, value in self._fields(start, end):
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

    def _fields(self, start: int, end: int) -> Iterator[tuple[int, int | None, int, int]]:
        """Yield number, start and end of the bytes (None for a number), and the number."""
        place = start
        while place < end:
            self._n_fields += 1
            if self._n_fields > _MOST_FIELDS:
                refuse(_TOO_MUCH)
            key, place = self._varint(place, end)
            number, kind, value = key >> 3, key & 7, 0
            if kind == _VARINT:
                value, place = self._varint(place, end)
                yield number, None, place, value
                continue
            size = {_FIXED64: 8, _FIXED32: 4}.get(kind, -1)
            if kind == _BYTES:
                size, place = self._varint(place, end)
            if not number or size < 0 or size > end - place:
                refuse(_NO_ONNX)
            place += size
            yield number, place - size if kind == _BYTES else None, place, 0

    def _varint(self, place: int, end: int) -> tuple[int, int]:
        """Return a number of seven bits a byte, and the place behind it."""
        value = 0
        for n, byte in enumerate(self._content[place : min(place + 10, end)]):
            value |= (byte & 0x7F) << 7 * n
            if byte < 0x80:
                return value, place + n + 1
        raise FaultError(_NO_ONNX)
