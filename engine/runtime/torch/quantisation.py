"""Quantise weights to 4 and 8 bits by bitsandbytes; output layer and embeddings stay whole.

NF4 with double quantisation: Dettmers et al. 2023 (QLoRA, https://arxiv.org/abs/2305.14314),
section 3. int8: Dettmers et al. 2022 (LLM.int8(), https://arxiv.org/abs/2208.07339).

On a processor, layers of 4 bits are unpacked for each product: correct for every shape, with
gradients, and the same on every processor. On one with instructions for bfloat16, bitsandbytes can
also multiply them packed. That kernel computes in bfloat16, takes some shapes only and has no
gradient, so only ``fuse_layers`` enables it.
"""

import importlib
import logging
import sys
from typing import TypeGuard, cast

import torch
from torch import nn
from transformers import BitsAndBytesConfig, PreTrainedModel

from engine.errors import ModelError
from engine.messages import Code

_BITS = {"nf4": "4 bits", "int8": "8 bits"}
_FLAGS = {"nf4": "is_loaded_in_4bit", "int8": "is_loaded_in_8bit"}  # read by transformers and peft
_FUSES = "support_avx512bf16_for_cpu"
"""Attribute of a layer of bitsandbytes: it may multiply packed weights."""

_TILE = 32  # outputs that the kernel computes at a time
_OUTLIER = 6.0  # inputs above it are multiplied whole in int8, as the paper has it

QUANTISED_HERE = ("falcon",)
"""Architectures with their own class of linear layers, which transformers leaves whole."""


def quantisation_config(quantise: str, compute: torch.dtype) -> BitsAndBytesConfig:
    """Return the setting of ``nf4`` or ``int8``, unpacked to ``compute``, for transformers.

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
    """Replace the whole linear layers of the blocks by layers that pack when they are moved.

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
    """Return a layer of 4 or 8 bits with the weights of another; it packs when it is moved."""
    packed = {"nf4": _in_4_bits, "int8": _in_8_bits}[quantise](layer)
    packed.bias = layer.bias
    packed.requires_grad_(requires_grad=False)
    return packed


def unfuse_layers(network: nn.Module) -> None:
    """Unpack layers of 4 bits for each product; by default bitsandbytes chooses by processor.

    Call it before the network computes anything: weights once arranged for the other kernel remain
    so.
    """
    for layer in network.modules():
        if _is_in_4_bits(layer):
            setattr(layer, _FUSES, False)


def fuse_layers(network: nn.Module) -> int:
    """Multiply layers of 4 bits on a processor packed, if processor and shape allow it.

    Their weights are rearranged here, not at the first word; gradients no longer pass through them.

    Args:
        network: its layers were packed to be computed in bfloat16; in evaluation mode afterwards.

    Returns:
        the number of layers that are multiplied packed.
    """
    network.eval()
    layers = [layer for layer in network.modules() if _is_in_4_bits(layer) and _can_fuse(layer)]
    for layer in layers:
        setattr(layer, _FUSES, True)
        with torch.no_grad():  # bitsandbytes arranges them in the first product
            layer(torch.zeros(1, layer.in_features, dtype=torch.bfloat16))
    return len(layers)


def has_fused_product() -> bool:
    """Return whether this processor can multiply weights of 4 bits packed.

    Raises:
        ModelError: bitsandbytes is missing.
    """
    _require("nf4")
    from bitsandbytes import functional  # noqa: PLC0415  optional

    has_kernel = getattr(functional, "has_avx512bf16", None)  # missing in older releases
    return has_kernel is not None and bool(has_kernel())


def _can_fuse(layer: nn.Linear) -> bool:
    """Return whether the kernel takes a layer: whole blocks of inputs, whole tiles of outputs."""
    n_block: int = layer.weight.quant_state.blocksize  # type: ignore[attr-defined]  # Params4bit
    whole = layer.in_features % n_block == 0 and layer.out_features % _TILE == 0
    return whole and has_fused_product()


def _is_in_4_bits(layer: nn.Module) -> TypeGuard[nn.Linear]:
    return is_quantised(layer) and hasattr(layer, _FUSES)


def is_quantised(layer: nn.Module) -> bool:
    """Return whether this is a linear layer of 4 or 8 bits, packed or to be packed."""
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
        raise ModelError(Code.NO_BITSANDBYTES(bits=_BITS[quantise])) from error
    # it warns at every product that int8 rounds its inputs, as int8 must
    logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)


def _import_library() -> None:
    """Import bitsandbytes without code from a hub.

    On processors with instructions for bfloat16 it would let the package ``kernels`` fetch code
    from a hub and run it, or complain on stderr if that package is missing.
    """
    if "bitsandbytes" in sys.modules:
        importlib.import_module("bitsandbytes")  # fails if the import is blocked
        return
    logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)
    modules = cast("dict[str, object]", sys.modules)
    kernels = {name: modules[name] for name in ("kernels",) if name in modules}
    modules["kernels"] = None  # blocks its import
    try:
        importlib.import_module("bitsandbytes")
    finally:
        del modules["kernels"]
        modules |= kernels
