"""Describe the network of an original for CTranslate2, from its ``config.json`` and its weights.

Tensors are named as transformers names them, variables as CTranslate2 does. The folder may come
from a stranger, so every tensor must have the shape that the settings ask for. Files are mapped,
and what is copied of them stays no longer than it is needed. Imports no torch.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.attention_spec import MultiHeadAttentionSpec
from ctranslate2.specs.common_spec import Activation, LayerNormSpec, LinearSpec
from ctranslate2.specs.model_spec import NumpyVariable
from ctranslate2.specs.transformer_spec import FeedForwardSpec
from numpy.typing import NDArray

from engine.models.encoder_decoder.original import Original
from engine.models.encoder_decoder.record import END, MOST_TOKENS, PADDING, START, UNKNOWN
from engine.models.fingerprint import weight_files
from engine.models.tensor_file import float_tensor, map_tensor_file
from engine.untrusted.faults import about, refuse
from engine.untrusted.file_headers import SafetensorsHeader, parse_header
from engine.untrusted.model_folder import MAX_CONFIG_BYTES
from engine.untrusted.strict_json import JsonObject, shown

if TYPE_CHECKING:
    import mmap

_ACTIVATIONS = {
    "gelu": Activation.GELU,
    "gelu_new": Activation.GELUTanh,
    "relu": Activation.RELU,
    "silu": Activation.SWISH,
    "swish": Activation.SWISH,
}
_GATED = {"gated-gelu": Activation.GELUTanh}
"""Of MADLAD, as of T5 1.1; transformers takes ``gelu`` for ``gelu_new`` there."""

_EMBEDDINGS = ("shared", "encoder.embed_tokens", "decoder.embed_tokens", "lm_head")
_PROJECTION = ("lm_head", *_EMBEDDINGS)
"""Where tied weights may be: a file has them under one of these names."""

_CONFIG = "config.json"
_M2M_FIRST = 2  # the place of its first token
_MOST_TABLE_BYTES = 1 << 28


class _Mapped(NumpyVariable):  # type: ignore[misc]  # CTranslate2 has no types
    """A variable in a mapped file; CTranslate2 scales an array where it is, so it gets a copy."""

    def numpy(self) -> NDArray[np.float32]:
        return np.array(self.array)


class _Weights:
    """The tensors of a folder, and how layers are made of them; ``width``: numbers of a token."""

    def __init__(self, folder: Path, width: int, projections: str, *, has_bias: bool) -> None:
        """Map the files; ``projections`` names an attention's queries, keys, values and outputs."""
        self.width = width
        self._projections = projections.split()
        self._has_bias = has_bias
        self._places: dict[str, tuple[mmap.mmap, SafetensorsHeader, str]] = {}
        for name in weight_files(folder):
            with about(name):
                content = map_tensor_file(folder / name)
                header = parse_header(content)
            for key in header.tensors:
                self._places[key.removeprefix("model.")] = content, header, key
        self.n_bytes = sum((folder / name).stat().st_size for name in weight_files(folder))

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def take(self, names: Sequence[str], *shape: int) -> _Mapped:
        """Return tensors of this shape, one under the other."""
        arrays = []
        for name in names:
            if name not in self:
                refuse(f"its weights lack {shown(name)}")
            content, header, key = self._places[name]
            if header.tensors[key].shape != shape:
                other = "in another shape than its config.json asks for"
                refuse(f"its weights have {shown(name)} {other}")
            with about("safetensors"):
                arrays.append(float_tensor(content, header, key))
        array = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
        return _Mapped(array.astype(np.float32) if array.dtype == np.float64 else array)

    def take_rows(self, names: Sequence[str], n_rows: int, n_kept: int) -> _Mapped:
        """Return the first rows of the table that has one of these names."""
        name = next((one for one in names if f"{one}.weight" in self), names[0])
        return _Mapped(self.take([f"{name}.weight"], n_rows, self.width).array[:n_kept])

    def set_linear(self, spec: LinearSpec, names: Sequence[str], n_out: int, n_in: int) -> None:
        spec.weight = self.take([f"{name}.weight" for name in names], n_out, n_in)
        if self._has_bias:
            spec.bias = self.take([f"{name}.bias" for name in names], n_out)

    def set_norm(self, spec: LayerNormSpec, name: str) -> None:
        spec.gamma = self.take([f"{name}.weight"], self.width)
        if self._has_bias:
            spec.beta = self.take([f"{name}.bias"], self.width)

    def set_attention(
        self, spec: MultiHeadAttentionSpec, name: str, norm: str, all_heads: int
    ) -> None:
        """Set an attention to the own side, whose projections are one layer, or to the other."""
        queries, keys, values, outputs = (f"{name}.{one}" for one in self._projections)
        is_own = len(spec.linear) == 2
        parts = [[queries, keys, values]] if is_own else [[queries], [keys, values]]
        for linear, names in zip(spec.linear, parts, strict=False):
            self.set_linear(linear, names, all_heads, self.width)
        self.set_linear(spec.linear[-1], [outputs], self.width, all_heads)
        self.set_norm(spec.layer_norm, norm)

    def set_feed_forward(
        self, spec: FeedForwardSpec, inner: Sequence[str], outer: str, norm: str, n_inner: int
    ) -> None:
        """Set both layers; the inner one has a gate if it has two names."""
        for name, place in zip(inner, ("linear_0", "linear_0_noact"), strict=False):
            self.set_linear(getattr(spec, place), [name], n_inner, self.width)
        self.set_linear(spec.linear_1, [outer], self.width, n_inner)
        self.set_norm(spec.layer_norm, norm)


def describe(folder: Path, original: Original) -> TransformerSpec:
    """Return the network of an original's folder, with its weights and its vocabulary.

    Raises:
        OSError: a file cannot be read.
        ValueError: settings and weights make no network; the text is a clause about the model.
    """
    config = JsonObject.read(folder / _CONFIG, MAX_CONFIG_BYTES)
    is_t5, is_marian = (original.record.family == one for one in ("madlad", "marian"))
    with about(_CONFIG):
        n_rows = config.integer("vocab_size", least=1, most=MOST_TOKENS)
        begin = config.integer("decoder_start_token_id", most=n_rows - 1, default=0 if is_t5 else 2)
    tokens = _tokens(original, n_rows)
    spec, weights = _t5(folder, config) if is_t5 else _bart(folder, config, is_marian=is_marian)
    spec.encoder.embeddings[0].weight = weights.take_rows(_EMBEDDINGS, n_rows, len(tokens))
    spec.decoder.embeddings.weight = weights.take_rows(_EMBEDDINGS, n_rows, len(tokens))
    spec.decoder.projection.weight = weights.take_rows(_PROJECTION, n_rows, len(tokens))
    if "final_logits_bias" in weights:
        bias = weights.take(["final_logits_bias"], 1, n_rows).array[0, : len(tokens)]
        if bias.any():
            spec.decoder.projection.bias = _Mapped(bias)
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.bos_token = PADDING if is_t5 else START
    spec.config.eos_token, spec.config.unk_token = END, UNKNOWN
    # Marian begins with zeros, whatever the token is
    spec.config.decoder_start_token = END if is_marian else tokens[begin]
    spec.validate()
    return spec


def _tokens(original: Original, n_rows: int) -> list[str]:
    """Return a token for each row that is kept: for all but the last of Marian, its padding."""
    tokens, family = list(original.vocabulary[:n_rows]), original.record.family
    if family == "marian":
        return tokens[:-1] if tokens[-1] == PADDING else tokens
    spare = "<extra_id_{}>" if family == "madlad" else "madeupword{}"
    return tokens + [spare.format(n) for n in range(n_rows - len(tokens))]


def _activation(config: JsonObject, key: str, known: Mapping[str, Activation]) -> Activation:
    name = config.text(key)
    if name not in known:
        refuse(f"{key} should be {', '.join(known)}, got {shown(name)}")
    return known[name]


def _heads(config: JsonObject, key: str, width: int) -> int:
    n_heads = config.integer(key, least=1)
    if width % n_heads:
        refuse(f"{key} should be a divisor of {width}, got {shown(n_heads)}")
    return n_heads


def _bart(folder: Path, config: JsonObject, *, is_marian: bool) -> tuple[TransformerSpec, _Weights]:
    """Describe the layers of Marian, which norms behind a layer, or of M2M-100 or NLLB."""
    sides = ("encoder", "decoder")
    with about(_CONFIG):
        width = config.integer("d_model", least=4)
        n_positions = config.integer("max_position_embeddings", least=1)
        n_layers = tuple(config.integer(f"{side}_layers", least=1) for side in sides)
        n_heads = [_heads(config, f"{side}_attention_heads", width) for side in sides]
        n_inner = [config.integer(f"{side}_ffn_dim", least=1) for side in sides]
        activation = _activation(config, "activation_function", _ACTIVATIONS)
        is_scaled = config.flag("scale_embedding", default=not is_marian)
    weights = _Weights(folder, width, "q_proj k_proj v_proj out_proj", has_bias=True)
    if 4 * n_positions * width > weights.n_bytes + _MOST_TABLE_BYTES:
        refuse("its config.json asks for a larger network than it has weights for")
    spec = TransformerSpec.from_config(
        n_layers, n_heads[0], pre_norm=not is_marian, activation=activation
    )
    spec.decoder.num_heads = np.int16(n_heads[1])
    spec.decoder.start_from_zero_embedding = is_marian
    table = _marian_positions if is_marian else _m2m_positions
    for side, size in zip(sides, n_inner, strict=True):
        part = getattr(spec, side)
        part.scale_embeddings = math.sqrt(width) if is_scaled else 1.0
        part.position_encodings.encodings = table(n_positions, width)
        if not is_marian:
            weights.set_norm(part.layer_norm, f"{side}.layer_norm")
        for n, layer in enumerate(part.layer):
            at = f"{side}.layers.{n}"
            attentions = [(layer.self_attention, f"{at}.self_attn")]
            if side == "decoder":
                attentions.append((layer.attention, f"{at}.encoder_attn"))
            for one, name in attentions:
                weights.set_attention(one, name, f"{name}_layer_norm", width)
            norm = f"{at}.final_layer_norm"
            weights.set_feed_forward(layer.ffn, [f"{at}.fc1"], f"{at}.fc2", norm, size)
    return spec, weights


def _t5(folder: Path, config: JsonObject) -> tuple[TransformerSpec, _Weights]:
    """Describe the layers of MADLAD, with relative positions."""
    with about(_CONFIG):
        width, n_inner = (config.integer(key, least=1) for key in ("d_model", "d_ff"))
        n_encoder, n_heads = (config.integer(key, least=1) for key in ("num_layers", "num_heads"))
        n_decoder = config.integer("num_decoder_layers", least=1, default=n_encoder)
        all_heads = n_heads * config.integer("d_kv", least=1)
        activation = _activation(config, "feed_forward_proj", _GATED)
        n_buckets = config.integer("relative_attention_num_buckets", least=2, default=32)
        farthest = config.integer("relative_attention_max_distance", least=1, default=128)
        is_scaled = config.flag("tie_word_embeddings", default=True)
    weights = _Weights(folder, width, "q k v o", has_bias=False)
    spec = TransformerSpec.from_config(
        (n_encoder, n_decoder),
        n_heads,
        activation=activation,
        ffn_glu=True,
        relative_attention_bias=True,
        rms_norm=True,
    )
    if is_scaled:
        spec.decoder.scale_outputs = width**-0.5
    for side in ("encoder", "decoder"):
        part = getattr(spec, side)
        part.scale_embeddings = False
        weights.set_norm(part.layer_norm, f"{side}.final_layer_norm")
        own = f"{side}.block.0.layer.0.SelfAttention"
        biases = weights.take([f"{own}.relative_attention_bias.weight"], n_buckets, n_heads)
        for n, layer in enumerate(part.layer):
            at = f"{side}.block.{n}.layer"
            layer.self_attention.relative_attention_bias = biases
            layer.self_attention.relative_attention_max_distance = np.int32(farthest)
            attentions = [(layer.self_attention, "SelfAttention")]
            if side == "decoder":
                attentions.append((layer.attention, "EncDecAttention"))
            for place, (one, name) in enumerate(attentions):
                one.queries_scale = 1.0
                norm = f"{at}.{place}.layer_norm"
                weights.set_attention(one, f"{at}.{place}.{name}", norm, all_heads)
            last = f"{at}.{len(attentions)}"
            *inner, outer = (f"{last}.DenseReluDense.{one}" for one in ("wi_0", "wi_1", "wo"))
            weights.set_feed_forward(layer.ffn, inner, outer, f"{last}.layer_norm", n_inner)
    return spec, weights


def _marian_positions(n_positions: int, width: int) -> NDArray[np.float32]:
    """Return the sines, then the cosines of each place (Vaswani et al. 2017, section 3.5).

    float32, shape (positions, width).
    """
    n_sines = (width + 1) // 2
    steps = 10000.0 ** (-2 * np.arange(n_sines) / width)
    angles = np.outer(np.arange(n_positions), steps)
    both = [np.sin(angles), np.cos(angles[:, : width - n_sines])]
    return np.concatenate(both, axis=1).astype(np.float32)


def _m2m_positions(n_positions: int, width: int) -> NDArray[np.float32]:
    """Return the same as tensor2tensor has it: other steps, and zeros behind an odd width."""
    half = width // 2
    steps = 10000.0 ** (-np.arange(half) / (half - 1))
    angles = np.outer(np.arange(_M2M_FIRST, n_positions + _M2M_FIRST), steps)
    both = [np.sin(angles), np.cos(angles), np.zeros((n_positions, width % 2))]
    return np.concatenate(both, axis=1).astype(np.float32)
