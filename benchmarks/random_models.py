"""Networks of well-known shapes with random weights: they take as long as the real ones.

They are made on the device layer by layer, each packed before the next is made, so a model of 8
billion parameters never needs more than its packed size and one layer.

``save_random_model`` writes one as a folder, with a tokenizer and the chat format of its family::

    python -m benchmarks.random_models Qwen2.5-7B DIR [--small] [--device cuda]
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    LlamaConfig,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
)

from engine.hub.catalogue import bundled_models
from engine.runtime.torch.linear_layers import unfuse_layers

SPREAD = 0.02

_CHAT_FORMATS = {
    "llama": (
        "<|begin_of_text|>",
        ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|reserved_special_token_0|>"),
        "{{ bos_token }}{% for message in messages %}<|start_header_id|>{{ message.role }}"
        "<|end_header_id|>\n\n{{ message.content }}<|eot_id|>{% endfor %}",
    ),
    "qwen2": (
        "<|endoftext|>",
        ("<|im_start|>", "<|im_end|>"),
        "{% for message in messages %}<|im_start|>{{ message.role }}\n"
        "{{ message.content }}<|im_end|>\n{% endfor %}",
    ),
    "gemma2": (
        "<bos>",
        ("<start_of_turn>", "<end_of_turn>", "<unused0>"),
        "{{ bos_token }}{% for message in messages %}{% if message.role == 'system' %}"
        "{{ raise_exception('System role not supported') }}{% endif %}<start_of_turn>"
        "{{ 'model' if message.role == 'assistant' else message.role }}\n"
        "{{ message.content }}<end_of_turn>\n{% endfor %}",
    ),
}
"""By ``model_type``: the token that begins a chat, the other markers, and the chat template."""


def shapes() -> dict[str, PretrainedConfig]:
    """Name the models, with the numbers of their config.json."""
    return {
        "Llama-3.1-8B": LlamaConfig(
            vocab_size=128_256,
            hidden_size=4096,
            intermediate_size=14_336,
            num_hidden_layers=32,
            num_attention_heads=32,
            num_key_value_heads=8,
            max_position_embeddings=131_072,
        ),
        "Qwen2.5-7B": Qwen2Config(
            vocab_size=152_064,
            hidden_size=3584,
            intermediate_size=18_944,
            num_hidden_layers=28,
            num_attention_heads=28,
            num_key_value_heads=4,
            max_position_embeddings=32_768,
        ),
        "gemma-2-2b": Gemma2Config(
            vocab_size=256_000,
            hidden_size=2304,
            intermediate_size=9216,
            num_hidden_layers=26,
            num_attention_heads=8,
            num_key_value_heads=4,
            head_dim=256,
            max_position_embeddings=8192,
        ),
    }


def small(config: PretrainedConfig) -> PretrainedConfig:
    """Return a config of the same architecture that any computer runs at once."""
    changes = {
        "vocab_size": 12_288,  # the words of the bundled model, with markers
        "hidden_size": 64,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": 4096,
    }
    return type(config)(**changes)


def save_random_model(config: PretrainedConfig, folder: Path, device: torch.device) -> None:
    """Write a model folder with random weights in bfloat16.

    Its tokenizer has the words of the bundled model, and the markers and the chat template of the
    family, so recipes for the real model apply to it.
    """
    network = random_network(config, device, quantise="none", dtype=torch.bfloat16)
    network.save_pretrained(folder)
    first, others, template = _CHAT_FORMATS[config.model_type]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(bundled_models()[0] / "tokenizer.json"),
        bos_token=first,
        additional_special_tokens=list(others),
    )
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)


def random_network(
    config: PretrainedConfig, device: torch.device, *, quantise: str, dtype: torch.dtype
) -> PreTrainedModel:
    """Make a network of a shape.

    Args:
        config: the shape.
        device: where to.
        quantise: ``nf4`` or ``int8`` packs the linear layers of the blocks, ``none`` does not.
        dtype: of what is not packed.
    """
    torch.manual_seed(0)
    with torch.device("meta"):
        network = AutoModelForCausalLM.from_config(config, dtype=dtype, trust_remote_code=False)
    output = network.get_output_embeddings()
    for path, layer in list(network.named_modules()):
        if isinstance(layer, nn.Linear) and layer is not output:
            network.set_submodule(path, _linear(layer, device, quantise, dtype))
    decoder = network.get_decoder()
    # its angles are computed, not loaded
    decoder.rotary_emb = type(decoder.rotary_emb)(config).to(device)
    for module in network.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            if parameter.is_meta:
                values = torch.empty(parameter.shape, device=device, dtype=dtype).normal_(0, SPREAD)
                setattr(module, name, nn.Parameter(values, requires_grad=False))
        computed = [name for name, one in module.named_buffers(recurse=False) if one.is_meta]
        for name in computed:
            setattr(module, name, torch.empty_like(getattr(module, name), device=device))
        if computed:
            network._init_weights(module)  # the library fills them in there
    network.tie_weights()
    return network.eval()


def _linear(layer: nn.Linear, device: torch.device, quantise: str, dtype: torch.dtype) -> nn.Linear:
    shape = (layer.in_features, layer.out_features)
    made = nn.Linear(*shape, bias=layer.bias is not None, device=device, dtype=dtype)
    nn.init.normal_(made.weight, 0, SPREAD)
    made.requires_grad_(requires_grad=False)
    return made if quantise == "none" else pack_layer(made, quantise).to(device)


def pack_layer(layer: nn.Linear, quantise: str) -> nn.Linear:
    """Return a layer of 4 or 8 bits with the weights of another; it packs when it is moved."""
    from bitsandbytes import nn as packed  # noqa: PLC0415  optional

    shape = (layer.in_features, layer.out_features, layer.bias is not None)
    if quantise == "nf4":
        how = {"compress_statistics": True, "quant_type": "nf4"}
        made = packed.Linear4bit(*shape, layer.weight.dtype, **how)
        made.weight = packed.Params4bit(layer.weight.data, requires_grad=False, **how)
    else:
        made = packed.Linear8bitLt(*shape, has_fp16_weights=False, threshold=6.0)
        made.weight = packed.Int8Params(
            layer.weight.data, requires_grad=False, has_fp16_weights=False
        )
    made.bias = layer.bias
    made.requires_grad_(requires_grad=False)
    unfuse_layers(made)
    return made


def weight_bytes(network: PreTrainedModel) -> int:
    """Count the bytes of weights that one decode step reads.

    An embedding table that is not also the output layer is only looked up.
    """
    table = network.get_input_embeddings().weight
    tied = network.get_output_embeddings().weight is table
    read = sum(one.numel() * one.element_size() for one in network.parameters())
    return read - (0 if tied else table.numel() * table.element_size())


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write a model folder with random weights.")
    parser.add_argument("shape", choices=shapes())
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--small", action="store_true", help="two narrow layers of it")
    parser.add_argument("--device", default="cpu", metavar="NAME", help="that draws (%(default)s)")
    arguments = parser.parse_args(argv)
    config = shapes()[arguments.shape]
    config = small(config) if arguments.small else config
    save_random_model(config, arguments.folder, torch.device(arguments.device))


if __name__ == "__main__":
    main()
