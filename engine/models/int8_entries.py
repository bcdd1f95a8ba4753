"""Matrices of 8 bits in a safetensors file, by the file's header alone.

The matrix ``NAME`` of shape (N, K) is two tensors: ``NAME.codes``, I8, (N, K), and ``NAME.scales``,
F32, (N,). A number is its code times the scale of its row (``engine.models.int8_rows``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from engine.untrusted.faults import refuse
from engine.untrusted.safetensors_header import TensorEntry
from engine.untrusted.strict_json import shown

CODES, SCALES = ".codes", ".scales"
"""What is added to the name of a matrix."""

SCALED_INT8 = "I8 with scales"
"""Type of a matrix whose codes and scales are taken as one tensor; no type of the format."""


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
        sound = codes.dtype == "I8" and len(codes.shape) == 2 and codes.n_elements
        if not (sound and scales and scales.dtype == "F32" and scales.shape == codes.shape[:1]):
            refuse(
                f"keeps {shown(name)} in 8 bits, and codes of type I8 with one scale of type F32 "
                "for each row were expected"
            )
        if name in tensors:
            refuse(f"has {shown(name)} twice, whole and in 8 bits")
        yield name, replace(codes, dtype=SCALED_INT8)
