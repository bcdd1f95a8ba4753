"""Tiny random networks of every architecture the engine runs, over the tiny tokenizer."""

import functools

import torch
from transformers import (
    FalconConfig,
    FalconForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from engine.runtime.causal_model import CausalModel, likeliest
from engine.runtime.torch.attention import Attention, take_over_alibi
from engine.runtime.torch.torch_loader import TorchWeights
from engine.runtime.torch.torch_store import TorchStore
from tests.support.fakes import tiny_weights
from training.trainer.stream import Example, pad
from training.trainer.tokenizer import END_OF_WRITE, save_tokenizer

N_IDS = 384
_SHAPE = {
    "vocab_size": N_IDS,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "initializer_range": 0.3,
    "tie_word_embeddings": False,
}
_FALCON = {
    "vocab_size": N_IDS,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "initializer_range": 0.3,
}
WINDOW = 8
"""Positions the sliding layers see: fewer than a sentence has."""

_SMALL_HEADS = {"num_attention_heads": 4}
_ALIBI = {"alibi": True, "multi_query": False}
_NETWORKS = {
    "llama": (LlamaForCausalLM, LlamaConfig, _SHAPE),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config, _SHAPE),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config, _SHAPE | {"head_dim": 32}),
    "mistral": (MistralForCausalLM, MistralConfig, _SHAPE | {"sliding_window": None}),
    "mistral-sliding": (MistralForCausalLM, MistralConfig, _SHAPE | {"sliding_window": WINDOW}),
    "gemma2": (
        Gemma2ForCausalLM,
        Gemma2Config,
        _SHAPE | {"head_dim": 32, "sliding_window": WINDOW, "query_pre_attn_scalar": 32},
    ),
    "gemma3": (
        Gemma3ForCausalLM,
        Gemma3TextConfig,
        _SHAPE
        | {
            "head_dim": 32,
            "sliding_window": WINDOW,
            "query_pre_attn_scalar": 32,
            "num_key_value_heads": 1,
            "tie_word_embeddings": True,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
                "full_attention": {"rope_type": "default", "rope_theta": 1_000_000.0},
            },
        },
    ),
    "falcon": (FalconForCausalLM, FalconConfig, _FALCON | _SMALL_HEADS),
    "falcon-alibi": (
        FalconForCausalLM,
        FalconConfig,
        _FALCON | _SMALL_HEADS | _ALIBI | {"parallel_attn": False},
    ),
    "falcon-alibi-6-heads": (
        FalconForCausalLM,
        FalconConfig,
        _FALCON | _ALIBI | {"num_attention_heads": 6, "hidden_size": 96},
    ),
}
ARCHITECTURES = tuple(_NETWORKS)
ALIBI = tuple(name for name in ARCHITECTURES if "alibi" in name)
ROUNDED = ("gemma2", "gemma3")
"""Compute norms and softmax in float32 whatever the precision of the rest."""


def stock_network(architecture, dtype=torch.float64, **sizes):
    """A network as transformers makes it."""
    torch.manual_seed(1)
    model, config, shape = _NETWORKS[architecture]
    return model(config(**shape | sizes)).to(dtype).eval()


@functools.cache
def tiny_network(architecture, dtype=torch.float64):
    """A network as the engine runs it."""
    network = stock_network(architecture, dtype)
    take_over_alibi(network)
    return network


def weights_of(architecture):
    """Tokenizer and card of the tiny model around another network."""
    tiny = tiny_weights()
    return TorchWeights(
        network=tiny_network(architecture), tokenizer=tiny.tokenizer, card=tiny.card
    )


def save_network(folder, architecture):
    """A network as a model folder, with tokenizer and card of the tiny model."""
    tiny = tiny_weights()
    stock_network(architecture, torch.float32).save_pretrained(folder)
    save_tokenizer(tiny.tokenizer, tiny.card, folder)
    return folder


def masked_pass(network, rows, *, ranked):
    """Logits of a sample in one pass."""
    return masked_output(network, rows, ranked=ranked).logits[0]


def masked_output(network, rows, *, ranked):
    """What the network says of a sample in one pass, with the outputs of its layers."""
    batch = pad([Example(rows, ends_writes=False)])
    with torch.inference_mode():
        return network(
            input_ids=batch.ids,
            position_ids=batch.places.encoded,
            attention_mask=batch.bias(Attention.of(network), ranked=ranked),
            use_cache=False,
            output_hidden_states=True,
        )


class TerseModel(CausalModel):
    """Ends every second write, and does not round what it is asked for to float32."""

    def __init__(self, weights, capacity=2048):
        super().__init__(TorchStore(weights.network, 1, capacity))
        (end,) = weights.tokenizer.convert_tokens_to_ids([END_OF_WRITE])
        self.choose = lambda logits: id_ if (id_ := likeliest(logits)) % 2 else end

    def logits(self):
        return self._newest.logits.numpy()

    def states(self):
        return self._newest.states.numpy()
