"""LoRA on a base (Hu et al. 2021, https://arxiv.org/abs/2106.09685), by peft.

peft adds the factors to the base's own layers, so the network keeps its class: it trains, decodes
and runs on several processes as any other. Files are saved as peft itself would save them.

"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import PreTrainedModel

from engine.models.adapters.adapter import AdapterCard, write_adapter_card
from engine.models.adapters.lora import CONFIG_FILE, WEIGHTS_FILE
from training.errors import TrainingError, UsageError
from training.settings import LoraSettings
from training.trainer.checkpoint import trained_parameters, whole_tensor

_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def attach_lora(network: PreTrainedModel, settings: LoraSettings, base_name: str) -> LoraSettings:
    """Add float32 factors to a network and freeze all else.

    Returns:
        the settings, with the names of the targets.
    """
    try:
        from peft import LoraConfig, inject_adapter_in_model  # noqa: PLC0415  seconds; few need it
    except ImportError as error:
        msg = "adapters need peft: install it with pip install 'surtitle[finetune]'"
        raise TrainingError(msg) from error
    targets = _targets(network, settings, base_name)
    if settings.rank > network.config.hidden_size:
        msg = f"the rank {settings.rank} is above the base's width: {network.config.hidden_size}"
        raise UsageError(msg)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=list(targets),
    )
    inject_adapter_in_model(config, network)
    for parameter in network.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(torch.float32)
    return replace(settings, targets=targets)


def linear_names(network: PreTrainedModel) -> list[str]:
    """List the linear layers of a network's blocks, each name once.

    The output layer is left out: if it is tied, an adapter on it would change the embedding.
    """
    names = dict[str, None]()
    output = network.get_output_embeddings()  # type: ignore[no-untyped-call]
    for path, module in network.named_modules():
        if isinstance(module, nn.Linear) and module is not output:
            names[path.rpartition(".")[2]] = None
    return list(names)


def _targets(network: PreTrainedModel, settings: LoraSettings, base_name: str) -> tuple[str, ...]:
    known = linear_names(network)
    for target in settings.targets:
        if target not in known:
            msg = f"the base {base_name} has no linear layer {target}: it has {', '.join(known)}"
            raise UsageError(msg)
    return tuple(sorted(settings.targets or known))


def save_adapter(
    folder: Path, factors: Mapping[str, Tensor], settings: LoraSettings, card: AdapterCard
) -> None:
    """Write an adapter into an empty folder and check it against its card.

    Args:
        folder: exists.
        factors: see ``whole_factors``.
        settings: with the names of the targets.
        card: its ``weights_sha256`` is filled in.
    """
    path = folder / WEIGHTS_FILE
    dtype = _DTYPES[settings.stored]
    save_file({name: factor.to(dtype) for name, factor in factors.items()}, path, {"format": "pt"})
    path.chmod(0o644)  # the library makes it private; an adapter is to be shared
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": card.base_name,
        "r": settings.rank,
        "lora_alpha": settings.alpha,
        "lora_dropout": settings.dropout,
        "target_modules": list(settings.targets),
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "modules_to_save": None,
        "use_rslora": False,
    }
    text = json.dumps(config, indent=2) + "\n"
    (folder / CONFIG_FILE).write_text(text, encoding="utf-8")
    write_adapter_card(folder, card)


def whole_factors(network: nn.Module) -> dict[str, Tensor]:
    """Copy the factors under peft's names; all processes must call it."""
    return {
        f"base_model.model.{name.removesuffix('.default.weight')}.weight": whole_tensor(parameter)
        for name, parameter in trained_parameters(network)
    }
