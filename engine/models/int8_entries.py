"""Matrices of 8 and of 4 bits in a safetensors file, by the file's header alone.

The matrix ``NAME`` of shape (N, K) is two tensors: ``NAME.codes``, I8, (N, K), and ``NAME.scales``,
F32, (N,). A number is its code times the scale of its row (``engine.models.int8_rows``). In 4 bits
they are U8, (N, K / 32, 16), and F16, (N, K / 32) (``engine.models.int4_blocks``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from engine.untrusted.faults import refuse
from engine.untrusted.safetensors_header import TensorEntry
from engine.untrusted.strict_json import shown

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
