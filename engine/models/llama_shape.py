"""The shape of a plain Llama, read from its ``config.json`` without torch.

Plain: rotary positions without scaling, no biases, SiLU, and weights in one safetensors file. That
is what ``surtitle-train pretrain`` makes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.untrusted.faults import Fault, refuse
from engine.untrusted.model_folder import MAX_CONFIG_BYTES
from engine.untrusted.strict_json import JsonObject, shown

WEIGHTS_FILE = "model.safetensors"
EMBEDDING, OUTPUT, LAST_NORM = "model.embed_tokens.weight", "lm_head.weight", "model.norm.weight"

_MOST_LAYERS, _MOST = 1024, 1 << 24
_PLAIN: Mapping[str, tuple[object, ...]] = {
    "model_type": ("llama",),
    "hidden_act": ("silu",),
    "attention_bias": (False, None),
    "mlp_bias": (False, None),
    "quantization_config": (None,),
}
"""The supported values of settings that change what a network computes; the first is default."""
_ROTARY = ("rope_scaling", "rope_parameters")


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaShape:
    """Sizes and constants of a plain Llama.

    Attributes:
        layers: decoder layers.
        hidden: width of the residual stream.
        heads: query heads of a layer.
        kv_heads: key and value heads of a layer.
        head_size: width of one head.
        feed_forward: width of the feed-forward part.
        vocabulary: rows of the embedding table.
        tied: the output layer is the embedding table.
        epsilon: of the norms.
        theta: base of the rotary angles.
        max_positions: that it was trained for.
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

    @property
    def tensors(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all weights by their names in the file."""
        shapes: dict[str, tuple[int, ...]] = {EMBEDDING: (self.vocabulary, self.hidden)}
        for layer in range(self.layers):
            stem = layer_stem(layer)
            shapes |= {f"{stem}.{path}.weight": shape for path, shape in self.linear_layers.items()}
            for norm in ("input_layernorm", "post_attention_layernorm"):
                shapes[f"{stem}.{norm}.weight"] = (self.hidden,)
        shapes[LAST_NORM] = (self.hidden,)
        return shapes if self.tied else shapes | {OUTPUT: (self.vocabulary, self.hidden)}

    @property
    def linear_layers(self) -> dict[str, tuple[int, int]]:
        """The shapes (outputs, inputs) of the linear layers of a block by their paths in it."""
        queries, keys = self.heads * self.head_size, self.kv_heads * self.head_size
        return {
            "self_attn.q_proj": (queries, self.hidden),
            "self_attn.k_proj": (keys, self.hidden),
            "self_attn.v_proj": (keys, self.hidden),
            "self_attn.o_proj": (self.hidden, queries),
            "mlp.gate_proj": (self.feed_forward, self.hidden),
            "mlp.up_proj": (self.feed_forward, self.hidden),
            "mlp.down_proj": (self.hidden, self.feed_forward),
        }

    @property
    def n_parameters(self) -> int:
        """Numbers in all weights; tied ones are counted once."""
        return sum(_product(shape) for shape in self.tensors.values())


def layer_stem(layer: int) -> str:
    """Return the path of a block in the network."""
    return f"model.layers.{layer}"


def read_llama_shape(folder: Path) -> LlamaShape:
    """Read the shape of a model folder.

    Raises:
        OSError: config.json cannot be read.
        ValueError: it is garbled, or describes no plain Llama; the text continues a sentence that
            begins with the file.
    """
    config = JsonObject.read(folder / "config.json", MAX_CONFIG_BYTES)
    config.check_supported(_PLAIN)
    hidden = config.size("hidden_size", most=_MOST)
    heads = config.size("num_attention_heads", most=_MOST)
    kv_heads = config.size("num_key_value_heads", heads, most=_MOST)
    head_size = config.size("head_dim", hidden // heads, most=_MOST)
    if head_size % 2 or heads % kv_heads:
        sizes = f"{head_size} ({heads}/{kv_heads})"
        refuse(Fault.UNSUPPORTED(detail=f"sets 'head_dim' to {sizes}, which is not supported"))
    return LlamaShape(
        layers=config.size("num_hidden_layers", most=_MOST_LAYERS),
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        feed_forward=config.size("intermediate_size", most=_MOST),
        vocabulary=config.size("vocab_size", most=_MOST),
        tied=config.flag("tie_word_embeddings", default=False),
        epsilon=config.number("rms_norm_eps"),
        theta=_theta(config),
        max_positions=config.size("max_position_embeddings", most=_MOST),
    )


def _theta(config: JsonObject) -> float:
    """Return the base of the angles; refuse positions that are scaled.

    As in transformers, the older ``rope_scaling`` stands for ``rope_parameters`` where both are.
    """
    parts = {key: config.inner(key) for key in _ROTARY if config.values.get(key)}
    for key, part in parts.items():
        kind = part.values.get("rope_type", part.values.get("type", "default"))
        if kind != "default" or part.values.get("partial_rotary_factor", 1) != 1:
            detail = f"sets {shown(key)} to {shown(kind)}, which is not supported"
            refuse(Fault.UNSUPPORTED(detail=detail))
    rotary = next(iter(parts.values()), config)
    return (rotary if "rope_theta" in rotary else config).number("rope_theta")


def _product(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total
