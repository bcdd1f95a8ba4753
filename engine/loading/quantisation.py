"""Weights of 4 and 8 bits, by bitsandbytes; the output layer and the embeddings stay whole.

NF4 with double quantisation: Dettmers et al. 2023 (QLoRA, https://arxiv.org/abs/2305.14314),
section 3. int8: Dettmers et al. 2022 (LLM.int8(), https://arxiv.org/abs/2208.07339).

On a processor, layers of 4 bits are unpacked for each product: right for every shape, with
gradients, and alike on every processor. Where it has instructions for bfloat16, bitsandbytes can
also multiply them packed. That kernel computes in bfloat16, takes some shapes only and has no
gradient, so it is used where ``fuse_layers`` asks for it, and nowhere else.
"""

import importlib
import logging
import sys
from typing import TypeGuard, cast

import torch
from torch import nn
from transformers import BitsAndBytesConfig, PreTrainedModel

from engine.errors import ModelError

_BITS = {"nf4": "4 bits", "int8": "8 bits"}
_FLAGS = {"nf4": "is_loaded_in_4bit", "int8": "is_loaded_in_8bit"}  # transformers and peft look
_FUSES = "support_avx512bf16_for_cpu"
"""Of a layer of bitsandbytes: it may multiply packed weights."""

_TILE = 32  # outputs that the kernel computes at a time
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


def unfuse_layers(network: nn.Module) -> None:
    """Let layers of 4 bits be unpacked for each product; bitsandbytes itself chooses by processor.

    Must come before the network computes anything: what was once arranged for the other kernel
    stays so.
    """
    for layer in network.modules():
        if _is_in_4_bits(layer):
            setattr(layer, _FUSES, False)


def fuse_layers(network: nn.Module) -> int:
    """Let layers of 4 bits on a processor be multiplied packed, where processor and shape allow it.

    Weights are arranged anew, here and not at the first word. No gradient passes through such a
    layer any more.

    Args:
        network: whose layers were packed to be computed in bfloat16; in evaluation mode afterwards.

    Returns:
        how many layers are multiplied so now.
    """
    network.eval()
    layers = [layer for layer in network.modules() if _is_in_4_bits(layer) and _can_fuse(layer)]
    for layer in layers:
        setattr(layer, _FUSES, True)
        with torch.no_grad():  # bitsandbytes arranges them in the first product
            layer(torch.zeros(1, layer.in_features, dtype=torch.bfloat16))
    return len(layers)


def has_fused_product() -> bool:
    """Tell whether this processor can multiply weights of 4 bits packed.

    Raises:
        ModelError: bitsandbytes is missing.
    """
    _require("nf4")
    from bitsandbytes import functional  # noqa: PLC0415  optional

    asked = getattr(functional, "has_avx512bf16", None)  # older releases have no such kernel
    return asked is not None and bool(asked())


def _can_fuse(layer: nn.Linear) -> bool:
    """Tell whether the kernel takes a layer: whole blocks of inputs, whole tiles of outputs."""
    n_block: int = layer.weight.quant_state.blocksize  # type: ignore[attr-defined]  # Params4bit
    whole = layer.in_features % n_block == 0 and layer.out_features % _TILE == 0
    return whole and has_fused_product()


def _is_in_4_bits(layer: nn.Module) -> TypeGuard[nn.Linear]:
    return is_quantised(layer) and hasattr(layer, _FUSES)


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
    unfuse_layers(new)
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
        _import_library()
    except ImportError as error:
        msg = (
            f"a model in {_BITS[quantise]} needs bitsandbytes: install it with "
            "pip install 'surtitle[quantise]', or use --quantize none"
        )
        raise ModelError(msg) from error
    # it warns at every product that int8 rounds its inputs: that is what int8 is
    logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)


def _import_library() -> None:
    """Import bitsandbytes as it was installed.

    On processors with instructions for bfloat16 it would have the package ``kernels`` fetch code
    from a hub and run it, where that package is here, and else would say on stderr that it is not.
    """
    if "bitsandbytes" in sys.modules:
        importlib.import_module("bitsandbytes")  # fails where somebody blocked it
        return
    logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)
    modules = cast("dict[str, object]", sys.modules)
    kernels = {name: modules[name] for name in ("kernels",) if name in modules}
    modules["kernels"] = None  # an import finds nothing then
    try:
        importlib.import_module("bitsandbytes")
    finally:
        del modules["kernels"]
        modules |= kernels
