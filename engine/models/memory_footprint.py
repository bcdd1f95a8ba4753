"""Estimate the memory that a model folder needs, from the headers of its weights alone.

Nothing is loaded and torch is not imported: an 8 B model takes milliseconds. A truncated or
incomplete folder is detected here, before memory is allocated.
"""

from dataclasses import dataclass
from pathlib import Path

from engine.errors import ModelError
from engine.messages import Code, Message
from engine.models.fingerprint import read_fingerprint
from engine.models.int8_entries import SCALED_INT4, SCALED_INT8, whole_entries
from engine.untrusted.faults import Fault, fault_of
from engine.untrusted.safetensors_header import TensorEntry, read_header
from engine.untrusted.strict_json import JsonObject, shown

_WEIGHTS, _INDEX = "model.safetensors", "model.safetensors.index.json"
_MAX_INDEX_BYTES = 1 << 24
_BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, SCALED_INT8: 4, SCALED_INT4: 4}

_NF4_BYTES = 1 / 2 + 1 / 64 + 4 / (64 * 256)
"""Bytes of one number: its code, the 8-bit scale of its block, and the scale of those scales.

Source: Dettmers et al. 2023 (QLoRA), section 3: blocks of 64, double quantisation over 256.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """The size of a model.

    Attributes:
        n_linear: numbers in the matrices of the blocks, which can be quantised.
        n_rows: rows of these matrices: each has its own scale in int8.
        n_other: all other numbers: embeddings, output layer, norms, biases.
        n_cached: numbers in one row of the slot cache; 0 if the configuration is not known.
        stored_bytes: bytes of a number in the files; of one that is kept in codes, once unpacked.
        n_tensors: in the files; 0 if they were not read.
        n_packed: matrices that are kept in 8 or 4 bits.
    """

    n_linear: int
    n_rows: int
    n_other: int
    n_cached: int
    stored_bytes: int
    n_tensors: int = 0
    n_packed: int = 0

    @property
    def n_parameters(self) -> int:
        """Numbers in the files; tied weights are counted once."""
        return self.n_linear + self.n_other

    def n_bytes(self, quantise: str, number_bytes: int, capacity: int) -> int:
        """Estimate the memory of weights and cache.

        Args:
            quantise: ``nf4``, ``int8`` or ``none``.
            number_bytes: bytes of a number that is not quantised.
            capacity: rows of the slot cache.
        """
        linear = {
            "none": float(self.n_linear * number_bytes),
            "int8": float(self.n_linear + 4 * self.n_rows),
            "nf4": self.n_linear * _NF4_BYTES,
        }[quantise]
        return int(linear) + number_bytes * (self.n_other + capacity * self.n_cached)


def tensor_sizes(folder: Path) -> dict[str, int]:
    """Return the numbers in each tensor by its name; raise ModelError as ``read_footprint``."""
    return {name: entry.n_elements for name, entry in _tensors(folder).items()}


def read_footprint(folder: Path) -> Footprint:
    """Measure a model folder; raise ModelError if its safetensors are missing or damaged."""
    tensors = _tensors(folder)
    linear = {name: entry for name, entry in tensors.items() if _is_linear(name, entry)}
    n_linear = sum(entry.n_elements for entry in linear.values())
    sizes = [_BYTES.get(entry.dtype, 1) for entry in (linear or tensors).values()]
    return Footprint(
        n_linear=n_linear,
        n_rows=sum(entry.shape[0] for entry in linear.values()),
        n_other=sum(entry.n_elements for entry in tensors.values()) - n_linear,
        n_cached=_cached_numbers(folder),
        stored_bytes=max(sizes, default=4),
        n_tensors=len(tensors),
        n_packed=sum(it.dtype in (SCALED_INT8, SCALED_INT4) for it in tensors.values()),
    )


def _tensors(folder: Path) -> dict[str, TensorEntry]:
    tensors = dict[str, TensorEntry]()
    for name in weight_files(folder):
        try:
            tensors |= whole_entries(read_header(folder / name).tensors)
        except (OSError, ValueError) as error:
            raise _broken(folder, fault_of(error, shown(name))) from error
    return tensors


def weight_files(folder: Path) -> list[str]:
    """List the files of weights: one if it is there, as transformers takes it, or an index's."""
    if not (folder / _INDEX).exists():
        return [_WEIGHTS]
    try:
        weight_map = JsonObject.read(folder / _INDEX, _MAX_INDEX_BYTES).inner("weight_map")
        names = sorted({weight_map.text(key) for key in weight_map.values})
    except (OSError, ValueError) as error:
        raise _broken(folder, fault_of(error, _INDEX)) from error
    if any(Path(name).name != name for name in names):
        detail = f"its {_INDEX} names a file outside the folder"
        raise _broken(folder, Fault.NAMES_CODE(detail=detail))
    return [_WEIGHTS] if (folder / _WEIGHTS).exists() else names


def _is_linear(name: str, entry: TensorEntry) -> bool:
    """Return whether this is a matrix within a block, whose path has the block's number."""
    return len(entry.shape) == 2 and any(part.isdigit() for part in name.split("."))


def _cached_numbers(folder: Path) -> int:
    try:
        base = read_fingerprint(folder)
    except ModelError:  # reported when the library loads it
        return 0
    return 2 * base.layers * base.kv_heads * base.head_size


def _broken(folder: Path, fault: Message) -> ModelError:
    return ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=fault))
