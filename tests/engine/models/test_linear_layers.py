import json
import random
from dataclasses import replace

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from engine.models.fingerprint import linear_layers, read_fingerprint

ARCHITECTURES = ("llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3_text", "falcon")


def random_config(architecture, rng):
    """A random shape with shared key heads, as the library would save it."""
    kv_heads = rng.choice([1, 2, 4])
    heads = kv_heads * rng.choice([1, 2, 3])
    sizes = {
        "vocab_size": 32,
        "hidden_size": heads * rng.choice([8, 16]),
        "num_hidden_layers": rng.randint(1, 3),
        "num_attention_heads": heads,
    }
    if architecture == "falcon":
        return sizes | {
            "num_kv_heads": rng.choice([None, kv_heads]),
            "new_decoder_architecture": rng.random() < 0.5,
            "multi_query": rng.random() < 0.5,
            "ffn_hidden_size": rng.choice([None, 40]),
        }
    sizes |= {"num_key_value_heads": kv_heads, "intermediate_size": rng.choice([24, 40])}
    if architecture in {"qwen3", "gemma2", "gemma3_text"} or rng.random() < 0.3:
        sizes |= {"head_dim": rng.choice([8, 32])}
    return sizes


def saved(folder, architecture, rng):
    """A random network; its folder has what a fingerprint is read from."""
    config = AutoConfig.for_model(architecture, **random_config(architecture, rng))
    config.save_pretrained(folder)
    (folder / "tokenizer.json").write_text("{}")
    with torch.device("meta"):  # shapes without numbers
        return AutoModelForCausalLM.from_config(config)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_names_and_shapes_are_those_of_the_real_network(architecture, tmp_path):
    rng = random.Random(architecture)
    for _ in range(12):
        network = saved(tmp_path, architecture, rng)
        base = read_fingerprint(tmp_path)
        found = linear_layers(base)
        expected = {
            name: (module.in_features, module.out_features)
            for name, module in network.named_modules()
            if isinstance(module, torch.nn.Linear) and name != "lm_head"
        }
        assert expected == {
            f"{found.stem}.{layer}.{name}": shape
            for layer in range(base.layers)
            for name, shape in found.shapes.items()
        }, json.loads((tmp_path / "config.json").read_text())


def test_an_architecture_that_is_not_known_has_no_layers_here(tmp_path):
    saved(tmp_path, "llama", random.Random(0))
    assert linear_layers(replace(read_fingerprint(tmp_path), architecture="gpt9")) is None
