"""Weights of 4 and 8 bits, by bitsandbytes; the output layer and the embeddings stay whole.

NF4 with double quantisation: Dettmers et al. 2023 (QLoRA, https://arxiv.org/abs/2305.14314),
section 3. int8: Dettmers et al. 2022 (LLM.int8(), https://arxiv.org/abs/2208.07339).
"""

import importlib
import logging

import torch
from torch import nn
from transformers import BitsAndBytesConfig, PreTrainedModel

from engine.errors import ModelError

_BITS = {"nf4": "4 bits", "int8": "8 bits"}
_FLAGS = {"nf4": "is_loaded_in_4bit", "int8": "is_loaded_in_8bit"}  # transformers and peft look
_OUTLIER = 6.0  # inputs above it are multiplied whole in int8, as the paper has it

QUANTISED_HERE = ("falcon",)
"""Architectures whose linear layers are a class of their own, which transformers leaves whole."""


def quantisation_config(quantise: str, compute: torch.dtype) -> BitsAndBytesConfig:
    """Say how weights are kept, for ``from_pretrained``.

    Args:
        quantise: ``nf4`` or ``int8``.
        compute: what they are unpacked to.

    Raises:
        ModelError: bitsandbytes is missing.
    """
    _require(quantise)
    if quantise == "int8":
        return BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=_OUTLIER)  # type: ignore[no-untyped-call]
    return BitsAndBytesConfig(  # type: ignore[no-untyped-call]
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=compute,
    )


def quantise_layers(network: PreTrainedModel, quantise: str) -> None:
    """Replace what is still whole of the blocks' linear layers; they pack when they are moved.

    Raises:
        ModelError: bitsandbytes is missing.
    """
    _require(quantise)
    output = network.get_output_embeddings()  # type: ignore[no-untyped-call]
    for path, layer in list(network.named_modules()):
        if isinstance(layer, nn.Linear) and not is_quantised(layer) and layer is not output:
            network.set_submodule(path, pack_layer(layer, quantise))
    setattr(network, _FLAGS[quantise], True)


def pack_layer(layer: nn.Linear, quantise: str) -> nn.Linear:
    """Put a layer of 4 or 8 bits around the weights of another; it packs when it is moved."""
    packed = {"nf4": _in_4_bits, "int8": _in_8_bits}[quantise](layer)
    packed.bias = layer.bias
    packed.requires_grad_(requires_grad=False)
    return packed


def is_quantised(layer: nn.Module) -> bool:
    """Tell a linear layer of 4 or 8 bits, before or after its weights were packed."""
    return isinstance(layer, nn.Linear) and type(layer).__module__.startswith("bitsandbytes.")


def _in_4_bits(layer: nn.Linear) -> nn.Linear:
    from bitsandbytes.nn.modules import Linear4bit, Params4bit  # noqa: PLC0415  optional

    new = Linear4bit(  # type: ignore[no-untyped-call]
        layer.in_features,
        layer.out_features,
        layer.bias is not None,
        layer.weight.dtype,
        compress_statistics=True,
        quant_type="nf4",
    )
    new.weight = Params4bit(
        layer.weight.data, requires_grad=False, compress_statistics=True, quant_type="nf4"
    )
    return new


def _in_8_bits(layer: nn.Linear) -> nn.Linear:
    from bitsandbytes.nn.modules import Int8Params, Linear8bitLt  # noqa: PLC0415  optional

    new = Linear8bitLt(
        layer.in_features,
        layer.out_features,
        layer.bias is not None,
        has_fp16_weights=False,
        threshold=_OUTLIER,
    )
    new.weight = Int8Params(layer.weight.data, requires_grad=False, has_fp16_weights=False)
    return new


def _require(quantise: str) -> None:
    try:
        importlib.import_module("bitsandbytes")
    except ImportError as error:
        msg = (
            f"a model in {_BITS[quantise]} needs bitsandbytes: install it with "
            "pip install 'surtitle[quantise]', or use --quantize none"
        )
        raise ModelError(msg) from error
    # it warns at every product that int8 rounds its inputs: that is what int8 is
    logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)
