"""Adapter folders for tests, written by hand: what peft would save, without importing peft."""

import json
from dataclasses import replace

import torch
from safetensors.torch import save_file

from engine.models.adapters.adapter import AdapterCard, write_adapter_card
from engine.models.fingerprint import Fingerprint, linear_layers
from engine.models.model_card import Language
from training.trainer.tokenizer import END, END_OF_SOURCE, END_OF_WRITE

BASE = Fingerprint(
    architecture="llama", layers=2, hidden_size=64, heads=4, kv_heads=2, head_size=16,
    feed_forward=64, vocabulary=384, tokenizer_sha256="0f" * 32,
)  # fmt: skip
"""The shape of the tiny model of ``tests.support.fakes``, over another tokenizer."""

CONFIG = {
    "peft_type": "LORA",
    "task_type": "CAUSAL_LM",
    "r": 2,
    "lora_alpha": 4,
    "target_modules": ["q_proj", "v_proj"],
    "bias": "none",
    "base_model_name_or_path": "somewhere/tiny",
    "lora_dropout": 0.1,
    "modules_to_save": None,
    "rank_pattern": {},
    "use_dora": False,
    "megatron_core": "megatron.core",
}


def tiny_card(base=BASE, **changes):
    """A card for an adapter of the tiny model."""
    card = AdapterCard(
        name="tiny-en-de",
        base_name="tiny",
        base=base,
        languages={"de": Language(name="German", system="<|de|>")},
        end_of_source=END_OF_SOURCE,
        end_of_write=END_OF_WRITE,
        end_of_target=END,
        slot_length=16,
        policies=("read:3",),
    )
    return replace(card, **changes)


def factors(base=BASE, config=CONFIG, *, dtype=torch.float32, scale=1.0):
    """Random factors for every target, in the base's shapes."""
    generator = torch.Generator().manual_seed(0)
    known = linear_layers(base)
    targets = tuple(config["target_modules"])
    chosen = config.get("layers_to_transform") or range(base.layers)
    tensors = {}
    for layer in chosen:
        for module, (n_in, n_out) in known.shapes.items():
            if module.endswith(targets):
                name = f"base_model.model.{known.stem}.{layer}.{module}.lora_"
                shapes = {"A": (config["r"], n_in), "B": (n_out, config["r"])}
                for factor, shape in shapes.items():
                    numbers = torch.randn(shape, generator=generator) * scale
                    tensors[f"{name}{factor}.weight"] = numbers.to(dtype)
    return tensors


def write_adapter(folder, base=BASE, *, config=None, tensors=None, card=True, **numbers):
    """An adapter folder; ``card`` is True, False or an ``AdapterCard``."""
    folder.mkdir(parents=True, exist_ok=True)
    config = CONFIG | (config or {})
    (folder / "adapter_config.json").write_text(json.dumps(config))
    chosen = factors(base, config, **numbers) if tensors is None else tensors
    save_file(chosen, folder / "adapter_model.safetensors", {"format": "pt"})
    if card:
        write_adapter_card(folder, tiny_card(base) if card is True else card)
    return folder
