"""Identify the base model of an adapter by its shape and its tokenizer.

Read from ``config.json`` and ``tokenizer.json`` alone, so a base of gigabytes takes milliseconds.
Two checkpoints of the same shape and tokenizer have the same fingerprint.
``docs/adapter-format.md`` defines each field, to the byte.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from engine.errors import ModelError
from engine.messages import Code, Message
from engine.untrusted.faults import Fault, fault_of
from engine.untrusted.file_headers import (
    SCALED_INT4,
    SCALED_INT8,
    TensorEntry,
    read_header,
    whole_entries,
)
from engine.untrusted.model_folder import MAX_CONFIG_BYTES
from engine.untrusted.plain_files import file_sha256
from engine.untrusted.strict_json import SHA256, Between, JsonObject, shown

_MOST_LAYERS = 1024
_OWN_HEAD_SIZE = (
    "gemma2",
    "gemma3_text",
    "qwen3",
)  # head_dim has a default there that hidden_size does not give
_OWN_KV_HEADS = (
    "gemma2",
    "gemma3_text",
    "mistral",
    "qwen2",
    "qwen3",
)  # and so has num_key_value_heads
_Size = Annotated[int, Between(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """The shape of a base model and the hash of its tokenizer.

    Attributes:
        architecture: transformers' name of the family (``model_type``), for example llama.
        hidden_size: width of the residual stream.
        feed_forward: width of the feed-forward part.
        vocabulary: rows of the embedding table.
        tokenizer_sha256: of the bytes of tokenizer.json, in lower-case hexadecimal.
    """

    architecture: str
    layers: Annotated[int, Between(1, _MOST_LAYERS)]
    hidden_size: _Size
    heads: _Size
    kv_heads: _Size
    head_size: _Size
    feed_forward: _Size
    vocabulary: _Size
    tokenizer_sha256: Annotated[str, SHA256]

    def difference(self, other: "Fingerprint") -> str | None:
        """Describe the first field in which another base differs; None if all are equal."""
        for field in fields(self):
            mine, its = getattr(self, field.name), getattr(other, field.name)
            if mine != its:
                name = field.name.replace("_", " ")
                if field.name == "tokenizer_sha256":
                    name, mine, its = "tokenizer sha256", f"{mine[:12]}...", f"{its[:12]}..."
                return f"{name} {mine} there and {its} here"
        return None


def read_fingerprint(folder: Path) -> Fingerprint:
    """Compute the fingerprint of a model folder.

    Raises:
        ModelError: config.json or tokenizer.json is missing or garbled.
    """
    try:
        config = JsonObject.read(folder / "config.json", MAX_CONFIG_BYTES)
        return _fingerprint(config, file_sha256(folder / "tokenizer.json"))
    except OSError as error:
        name = Path(error.filename or "config.json").name
        reason = fault_of(error, name)
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error
    except ValueError as error:
        reason = fault_of(error, "config.json")
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error


def known_fingerprint(folder: Path) -> Fingerprint | None:
    """Return the fingerprint of a model folder; None if no adapter can be checked against it."""
    try:
        return read_fingerprint(folder)
    except ModelError:
        return None


def _fingerprint(config: JsonObject, tokenizer_sha256: str) -> Fingerprint:
    architecture = config.text("model_type")
    hidden_size = config.size("hidden_size")
    heads = config.size("num_attention_heads")
    head_size = hidden_size // heads
    if architecture == "falcon":
        kv_heads, feed_forward = _falcon(config, hidden_size, heads)
    else:
        kv_heads = config.size(
            "num_key_value_heads", None if architecture in _OWN_KV_HEADS else heads
        )
        head_size = config.size("head_dim", None if architecture in _OWN_HEAD_SIZE else head_size)
        feed_forward = config.size("intermediate_size")
    return Fingerprint(
        architecture=architecture,
        layers=config.size("num_hidden_layers", most=_MOST_LAYERS),
        hidden_size=hidden_size,
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        feed_forward=feed_forward,
        vocabulary=config.size("vocab_size"),
        tokenizer_sha256=tokenizer_sha256,
    )


def _falcon(config: JsonObject, hidden_size: int, heads: int) -> tuple[int, int]:
    """Return key heads and feed-forward width, whose defaults transformers computes."""
    kv_heads = config.size("num_kv_heads", heads)
    if not _optional_flag(config, "new_decoder_architecture", default=False):
        kv_heads = 1 if _optional_flag(config, "multi_query", default=True) else heads
    return kv_heads, config.size("ffn_hidden_size", 4 * hidden_size)


def _optional_flag(config: JsonObject, key: str, *, default: bool) -> bool:
    return default if config.values.get(key) is None else config.flag(key)


# An adapter may change linear layers inside the decoder's blocks alone: where embedding and output
# layer are tied, an adapter on one would change the other, too.

_LLAMA_LIKE = frozenset({"llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3_text"})


@dataclass(frozen=True, slots=True)
class LinearLayers:
    """The linear layers of one block, as (inputs, outputs) by their paths within it.

    ``stem``: path of the list of blocks within the network; block 3 is ``STEM.3``.
    """

    stem: str
    shapes: Mapping[str, tuple[int, int]]


def llama_layers(hidden: int, queries: int, keys: int, wide: int) -> dict[str, tuple[int, int]]:
    """Return the linear layers of a block of a Llama or its like, as of ``LinearLayers``."""
    return {
        "self_attn.q_proj": (hidden, queries),
        "self_attn.k_proj": (hidden, keys),
        "self_attn.v_proj": (hidden, keys),
        "self_attn.o_proj": (queries, hidden),
        "mlp.gate_proj": (hidden, wide),
        "mlp.up_proj": (hidden, wide),
        "mlp.down_proj": (wide, hidden),
    }


def linear_layers(base: Fingerprint) -> LinearLayers | None:
    """Return the linear layers of a base; None for an unknown architecture."""
    hidden, wide = base.hidden_size, base.feed_forward
    queries, keys = base.heads * base.head_size, base.kv_heads * base.head_size
    if base.architecture in _LLAMA_LIKE:
        return LinearLayers("model.layers", llama_layers(hidden, queries, keys, wide))
    if base.architecture == "falcon":
        return LinearLayers(
            "transformer.h",
            {
                "self_attention.query_key_value": (hidden, queries + 2 * keys),
                "self_attention.dense": (queries, hidden),
                "mlp.dense_h_to_4h": (hidden, wide),
                "mlp.dense_4h_to_h": (wide, hidden),
            },
        )
    return None


# The memory that a folder needs is estimated from the headers of its weights alone. A truncated or
# incomplete folder is detected here, before memory is allocated.

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
        """Estimate the memory of weights and cache; ``number_bytes`` of a number not quantised."""
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
