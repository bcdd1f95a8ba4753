"""Names and shapes of the linear layers that an adapter may change, from a fingerprint alone.

Only those inside the decoder's blocks: where embedding and output layer are tied, an adapter on one
would change the other, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.models.fingerprint import Fingerprint

_LLAMA_LIKE = frozenset({"llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3_text"})


@dataclass(frozen=True, slots=True)
class LinearLayers:
    """The linear layers of one block.

    Attributes:
        stem: path of the list of blocks within the network; block 3 is ``STEM.3``.
        shapes: inputs and outputs of each layer, by its path within the block.
    """

    stem: str
    shapes: Mapping[str, tuple[int, int]]


def linear_layers(base: Fingerprint) -> LinearLayers | None:
    """Return the linear layers of a base; None for an unknown architecture."""
    hidden, wide = base.hidden_size, base.feed_forward
    queries, keys = base.heads * base.head_size, base.kv_heads * base.head_size
    if base.architecture in _LLAMA_LIKE:
        return LinearLayers(
            "model.layers",
            {
                "self_attn.q_proj": (hidden, queries),
                "self_attn.k_proj": (hidden, keys),
                "self_attn.v_proj": (hidden, keys),
                "self_attn.o_proj": (queries, hidden),
                "mlp.gate_proj": (hidden, wide),
                "mlp.up_proj": (hidden, wide),
                "mlp.down_proj": (wide, hidden),
            },
        )
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
