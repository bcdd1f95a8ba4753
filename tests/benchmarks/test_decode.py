import pytest
import torch
from transformers import AutoModelForCausalLM, Gemma2Config, LlamaConfig

from benchmarks.random_models import random_network, shapes, weight_bytes
from engine.runtime.torch.linear_layers import is_quantised

SMALL = {
    "vocab_size": 384,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
CONFIGS = [LlamaConfig(**SMALL), Gemma2Config(**SMALL, head_dim=32)]
CPU = torch.device("cpu")


@pytest.mark.parametrize("quantise", ["none", "nf4"])
@pytest.mark.parametrize("config", CONFIGS, ids=["llama", "gemma2"])
def test_a_random_network_is_whole_and_computes_numbers(config, quantise):
    network = random_network(config, CPU, quantise=quantise, dtype=torch.float32)
    assert not any(one.is_meta for one in [*network.parameters(), *network.buffers()])
    packed = [path for path, layer in network.named_modules() if is_quantised(layer)]
    assert len(packed) == (0 if quantise == "none" else 2 * 7)
    logits = network(torch.tensor([[1, 2, 3]])).logits
    assert torch.isfinite(logits).all()
    assert logits.std() > 0


def test_a_table_that_is_only_looked_up_is_not_read_by_a_decode_step():
    llama, gemma = (
        random_network(config, CPU, quantise="none", dtype=torch.float32) for config in CONFIGS
    )
    table = 4 * 384 * 64
    assert weight_bytes(llama) == 4 * llama.num_parameters() - table
    assert weight_bytes(gemma) == 4 * gemma.num_parameters()


def test_the_shapes_have_as_many_parameters_as_the_models_they_are_of():
    billions = {}
    for name, config in shapes().items():
        with torch.device("meta"):
            billions[name] = AutoModelForCausalLM.from_config(config).num_parameters() / 1e9
    expected = {"Llama-3.1-8B": 8.03, "Qwen2.5-7B": 7.62, "gemma-2-2b": 2.61}
    assert billions == pytest.approx(expected, abs=0.01)
