"""Test the count of operations against operations that are counted one by one."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForCausalLM, FalconConfig, Gemma2Config, LlamaConfig, Qwen2Config

from engine.runtime.causal_model import Arithmetic

SIZES = {
    "vocab_size": 128,
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
}
CONFIGS = [
    LlamaConfig(**SIZES, intermediate_size=96, num_key_value_heads=2, tie_word_embeddings=False),
    LlamaConfig(**SIZES, intermediate_size=96, num_key_value_heads=4, tie_word_embeddings=True),
    Qwen2Config(**SIZES, intermediate_size=96, num_key_value_heads=1, tie_word_embeddings=True),
    Gemma2Config(**SIZES, intermediate_size=96, num_key_value_heads=2, head_dim=32),
    FalconConfig(**SIZES, new_decoder_architecture=False, multi_query=True),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: type(config).__name__)
@pytest.mark.parametrize("n_rows", [1, 300])
def test_the_count_is_what_torch_counts(config, n_rows):
    config._attn_implementation = "eager"
    network = AutoModelForCausalLM.from_config(config).eval()
    ids = torch.randint(0, 128, (1, n_rows))
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        network(input_ids=ids)
    # torch counts matrix products only: what is added or normalised is a hundredth of them
    assert Arithmetic.of(network).flops(n_rows, n_rows) == pytest.approx(
        counter.get_total_flops(), rel=0.03
    )


def test_rows_already_cached_cost_attention_only():
    cost = Arithmetic(parameters=1000, per_sight=8)
    assert cost.flops(1, 1) == 2008
    assert cost.flops(1, 101) - cost.flops(1, 1) == 800
    assert cost.flops(3, 10) == 3 * cost.flops(1, 10)
