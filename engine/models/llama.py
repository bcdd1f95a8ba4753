"""The shape of a plain Llama, or of a Gemma 3, read from its ``config.json`` without torch.

Plain: rotary positions without scaling, no biases, SiLU, and weights in one safetensors file. That
is what ``surtitle-train pretrain`` makes. Gemma 3 norms what a layer adds, too, and queries and
keys; its norms multiply by one more than their weight, its table by the root of the width; and some
of its layers see a window only, and turn by angles of their own.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.models.fingerprint import llama_layers
from engine.models.tensor_file import (
    PackedBlocks,
    PackedRows,
    check_scales,
    float_tensor,
    int8_tensor,
    read_tensor_file,
    uint8_tensor,
    unpack_blocks,
    unpack_rows,
)
from engine.untrusted.faults import Fault, FaultError, fault_of, refuse
from engine.untrusted.file_headers import (
    CODES,
    MAX_HEADER_BYTES,
    SCALES,
    SafetensorsHeader,
    TensorEntry,
    parse_header,
    whole_entries,
)
from engine.untrusted.model_folder import MAX_CONFIG_BYTES
from engine.untrusted.strict_json import JsonObject, shown

WEIGHTS_FILE = "model.safetensors"
EMBEDDING, OUTPUT, LAST_NORM = "model.embed_tokens.weight", "lm_head.weight", "model.norm.weight"

_MOST_LAYERS, _MOST = 1024, 1 << 24
_Supported = Mapping[str, tuple[object, ...]]

_TYPES = (None, "bfloat16", "float16", "float32")
_ALL: _Supported = {
    "dtype": _TYPES,
    "torch_dtype": _TYPES,
    "attention_bias": (False, None),
    "mlp_bias": (False, None),
    "quantization_config": (None,),
}
_PLAIN: _Supported = {**_ALL, "model_type": ("llama",), "hidden_act": ("silu",)}
"""The supported values of settings that change what a network computes; the first is default."""

GEMMA = "gemma3_text"
_PLAIN_GEMMA: _Supported = {
    **_ALL,
    "model_type": (GEMMA,),
    "hidden_activation": ("gelu_pytorch_tanh",),
    "attn_logit_softcapping": (None,),
    "final_logit_softcapping": (None,),
    "use_bidirectional_attention": (False, None),
    "rope_scaling": (None,),
}
_LOCAL, _GLOBAL = "sliding_attention", "full_attention"
_ROTARY = ("rope_scaling", "rope_parameters")


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaShape:
    """Sizes and constants of a network.

    Attributes:
        hidden: width of the residual stream.
        vocabulary: rows of the embedding table.
        tied: the output layer is the embedding table.
        theta: base of the rotary angles.
        window: positions that the local layers of a Gemma 3 see.
        local_theta: base of the rotary angles of these.
        local: whether each layer is one; none of a Llama.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    feed_forward: int
    vocabulary: int
    tied: bool
    epsilon: float
    theta: float
    max_positions: int
    is_gemma: bool = False
    window: int = 0
    local_theta: float = 0.0
    local: tuple[bool, ...] = ()

    @property
    def tensors(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all weights by their names in the file."""
        shapes: dict[str, tuple[int, ...]] = {EMBEDDING: (self.vocabulary, self.hidden)}
        for layer in range(self.layers):
            stem = layer_stem(layer)
            shapes |= {f"{stem}.{path}.weight": shape for path, shape in self.linear_layers.items()}
            norms = ("input_layernorm", "post_attention_layernorm")
            for norm in (*norms, *(_NORMS_OF_GEMMA if self.is_gemma else ())):
                shapes[f"{stem}.{norm}.weight"] = (self.hidden,)
            for norm in ("q_norm", "k_norm") if self.is_gemma else ():
                shapes[f"{stem}.self_attn.{norm}.weight"] = (self.head_size,)
        shapes[LAST_NORM] = (self.hidden,)
        return shapes if self.tied else shapes | {OUTPUT: (self.vocabulary, self.hidden)}

    @property
    def is_mixed(self) -> bool:
        """Whether some layers are local, so that there are angles and masks of two kinds."""
        return any(self.local)

    @property
    def linear_layers(self) -> dict[str, tuple[int, int]]:
        """The shapes (outputs, inputs) of the linear layers of a block by their paths in it."""
        queries, keys = self.heads * self.head_size, self.kv_heads * self.head_size
        layers = llama_layers(self.hidden, queries, keys, self.feed_forward)
        return {path: (outputs, inputs) for path, (inputs, outputs) in layers.items()}

    @property
    def n_parameters(self) -> int:
        """Numbers in all weights; tied ones are counted once."""
        return sum(map(math.prod, self.tensors.values()))


_NORMS_OF_GEMMA = ("pre_feedforward_layernorm", "post_feedforward_layernorm")


def layer_stem(layer: int) -> str:
    return f"model.layers.{layer}"


def read_llama_shape(folder: Path) -> LlamaShape:
    """Read the shape of a model folder.

    Raises:
        OSError: config.json cannot be read.
        ValueError: it is garbled, or describes neither a plain Llama nor a Gemma 3; the text
            continues a sentence that begins with the file.
    """
    config = JsonObject.read(folder / "config.json", MAX_CONFIG_BYTES)
    is_gemma = config.values.get("model_type") == GEMMA
    config.check_supported(_PLAIN_GEMMA if is_gemma else _PLAIN)
    hidden = config.size("hidden_size", most=_MOST)
    heads = config.size("num_attention_heads", most=_MOST)
    kv_heads = config.size("num_key_value_heads", heads, most=_MOST)
    head_size = config.size("head_dim", hidden // heads, most=_MOST)
    if head_size % 2 or heads % kv_heads:
        sizes = f"{head_size} ({heads}/{kv_heads})"
        refuse(Fault.UNSUPPORTED(detail=f"sets 'head_dim' to {sizes}, which is not supported"))
    local = _local_layers(config, head_size) if is_gemma else ()
    angles = {
        key: config.inner("rope_parameters").inner(key) for key in (_GLOBAL, _LOCAL) if is_gemma
    }
    for key, part in angles.items():
        _check_angles(key, part)
    return LlamaShape(
        layers=config.size("num_hidden_layers", most=_MOST_LAYERS),
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        feed_forward=config.size("intermediate_size", most=_MOST),
        vocabulary=config.size("vocab_size", most=_MOST),
        tied=config.flag("tie_word_embeddings", default=is_gemma),
        epsilon=config.number("rms_norm_eps"),
        theta=angles[_GLOBAL].number("rope_theta") if is_gemma else _theta(config),
        max_positions=config.size("max_position_embeddings", most=_MOST),
        is_gemma=is_gemma,
        window=config.size("sliding_window", most=_MOST) if is_gemma else 0,
        local_theta=angles[_LOCAL].number("rope_theta") if is_gemma else 0.0,
        local=local,
    )


def _local_layers(config: JsonObject, head_size: int) -> tuple[bool, ...]:
    """Return whether each layer of a Gemma 3 sees a window only."""
    if config.size("query_pre_attn_scalar", most=_MOST) != head_size:
        detail = "sets 'query_pre_attn_scalar' to another size than 'head_dim', not supported"
        refuse(Fault.UNSUPPORTED(detail=detail))
    kinds = config.texts("layer_types")
    if len(kinds) != config.size("num_hidden_layers") or not {*kinds} <= {_LOCAL, _GLOBAL}:
        refuse(Fault.UNSUPPORTED(detail="does not name the kind of each layer in 'layer_types'"))
    return tuple(kind == _LOCAL for kind in kinds)


def _theta(config: JsonObject) -> float:
    """Return the base of the angles; refuse positions that are scaled.

    As in transformers, the older ``rope_scaling`` stands for ``rope_parameters`` where both are.
    """
    parts = {key: config.inner(key) for key in _ROTARY if config.values.get(key)}
    for key, part in parts.items():
        _check_angles(key, part)
    rotary = next(iter(parts.values()), config)
    return (rotary if "rope_theta" in rotary else config).number("rope_theta")


def _check_angles(key: str, rotary: JsonObject) -> None:
    kind = rotary.values.get("rope_type", rotary.values.get("type", "default"))
    if kind != "default" or rotary.values.get("partial_rotary_factor", 1) != 1:
        detail = f"sets {shown(key)} to {shown(kind)}, which is not supported"
        refuse(Fault.UNSUPPORTED(detail=detail))


# Read the weights of a plain Llama as float32, whole or kept in 8 or 4 bits, without torch.

Weights = dict[str, NDArray[np.float32]]

Stored = NDArray[np.float32] | PackedRows | PackedBlocks
"""A weight as a file has it: numbers, or a matrix kept in 8 or 4 bits."""

_WIDEST = 8  # bytes of a number in a file


def read_llama_file(folder: Path, shape: LlamaShape) -> bytes:
    """Read a folder's file of weights into memory.

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
    """The weights are those of another network; the file itself is sound."""


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
