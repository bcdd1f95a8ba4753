"""Linear layers: quantised to 4 and 8 bits by bitsandbytes, and changed by a LoRA adapter.

Output layer and embeddings stay whole.

NF4 with double quantisation: Dettmers et al. 2023 (QLoRA, https://arxiv.org/abs/2305.14314),
section 3. int8: Dettmers et al. 2022 (LLM.int8(), https://arxiv.org/abs/2208.07339).

On a processor, layers of 4 bits are unpacked for each product: correct for every shape, with
gradients, and the same on every processor. On one with instructions for bfloat16, bitsandbytes
would multiply them packed, by a kernel that takes some shapes only and has no gradient.

The product of an adapter's factors is added to whole weights, so it costs nothing at run time.
Packed weights stay unchanged, since packing the sum would lose what was learned: the factors run
beside the layer, as in training (QLoRA). Either way the result depends on base and factors alone,
never on earlier adapters: the same to the bit as a fresh load.
"""

import importlib
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeGuard, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from transformers import BitsAndBytesConfig

from engine.errors import AdapterError, ModelError
from engine.messages import Code
from engine.models.tensor_file import Array
from engine.runtime.weights import Factors

if TYPE_CHECKING:
    from torch.utils.hooks import RemovableHandle


_BITS = {"nf4": "4 bits", "int8": "8 bits"}
_FUSES = "support_avx512bf16_for_cpu"
"""Attribute of a layer of bitsandbytes: it may multiply packed weights."""

_OUTLIER = 6.0  # inputs above it are multiplied whole in int8, as the paper has it

NEVER_PACKED = ("falcon",)
"""Architectures with their own class of linear layers, which transformers leaves whole."""


def quantisation_config(quantise: str, compute: torch.dtype) -> BitsAndBytesConfig:
    """Return the setting of ``nf4`` or ``int8``, unpacked to ``compute``, for transformers."""
    _require(quantise)
    if quantise == "int8":
        return BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=_OUTLIER)  # type: ignore[no-untyped-call]
    return BitsAndBytesConfig(  # type: ignore[no-untyped-call]
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=compute,
    )


def unfuse_layers(network: nn.Module) -> None:
    """Unpack layers of 4 bits for each product; by default bitsandbytes chooses by processor.

    Call it before the network computes anything: weights once arranged for the other kernel remain
    so.
    """
    for layer in network.modules():
        if _is_in_4_bits(layer):
            setattr(layer, _FUSES, False)


def _is_in_4_bits(layer: nn.Module) -> TypeGuard[nn.Linear]:
    return is_quantised(layer) and hasattr(layer, _FUSES)


def is_quantised(layer: nn.Module) -> bool:
    """Return whether this is a linear layer of 4 or 8 bits, packed or to be packed."""
    return isinstance(layer, nn.Linear) and type(layer).__module__.startswith("bitsandbytes.")


def _require(quantise: str) -> None:
    try:
        importlib.import_module("accelerate")  # by which transformers packs what it reads
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


@dataclass(frozen=True, slots=True)
class _Beside:
    """Factors that run beside a packed layer, in its type and on its device."""

    down: Tensor  # (rank, inputs)
    up: Tensor  # (outputs, rank)
    scale: float


class TorchAdaptedLayers:
    """The layers of one network that take factors, in place."""

    def __init__(self, network: nn.Module, *, keep_base: bool) -> None:
        """Take a network without an adapter.

        With ``keep_base`` the base's weights of each changed layer are kept, as another ``put``
        needs them; that costs their memory once. Packed weights are never changed.
        """
        self._network = network
        self._keep_base = keep_base
        self._base = dict[str, Tensor]()  # base weights of layers that were ever changed
        self._hooks: list[RemovableHandle] = []
        self._now: Mapping[str, Factors] = {}

    @torch.no_grad()
    def put(self, factors: Mapping[str, Factors]) -> None:
        before = self._now
        try:
            self._put(factors)
        except (AdapterError, RuntimeError):
            if self._keep_base:
                self._put(before)
            raise
        self._now = factors

    def _put(self, factors: Mapping[str, Factors]) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        for path in [path for path in self._base if path not in factors]:
            self._weight(path).copy_(self._base[path])
        for path, pair in factors.items():
            layer = self._layer(path, pair)
            if is_quantised(layer):
                like = next(iter(self._network.parameters()))
                moved = _Beside(_tensor(pair.down).to(like), _tensor(pair.up).to(like), pair.scale)
                self._hooks.append(layer.register_forward_hook(partial(_add, moved)))
            else:
                self._merge(path, pair)

    def _merge(self, path: str, pair: Factors) -> None:
        weight = self._weight(path)
        if self._keep_base and path not in self._base:
            self._base[path] = weight.clone()
        merged = _merged(self._base.get(path, weight), pair)
        if not bool(merged.isfinite().all()):
            detail = f"its factors make numbers in {path} that are too large"
            raise AdapterError(Code.ADAPTER_UNFIT(detail=detail))
        weight.copy_(merged)  # in place, for holders of the tensor such as a captured graph

    def _layer(self, path: str, pair: Factors) -> nn.Linear:
        try:
            layer = self._network.get_submodule(path)
        except AttributeError as error:
            detail = f"the model has no layer {path}"
            raise AdapterError(Code.ADAPTER_UNFIT(detail=detail)) from error
        size = (pair.up.shape[0], pair.down.shape[1])
        if not isinstance(layer, nn.Linear) or (layer.out_features, layer.in_features) != size:
            detail = f"the model's layer {path} is of another shape than {list(size)}"
            raise AdapterError(Code.ADAPTER_UNFIT(detail=detail))
        return layer

    def _weight(self, path: str) -> Tensor:
        layer = self._network.get_submodule(path)
        assert isinstance(layer, nn.Linear)
        return layer.weight.data


def _merged(weight: Tensor, pair: Factors) -> Tensor:
    """Add the product in at least float32 and round once; keeps shape and type of the weight."""
    wide = torch.float64 if weight.dtype == torch.float64 else torch.float32
    down, up = (_tensor(each).to(weight.device, wide) for each in (pair.down, pair.up))
    return (weight.to(wide) + pair.scale * (up @ down)).to(weight.dtype)


def _tensor(array: Array) -> Tensor:
    return torch.from_numpy(array.copy())  # torch warns of memory that it may not write


def _add(pair: _Beside, _layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
    """Add the factors' product with the inputs; shape of the output, (..., outputs)."""
    return output + pair.scale * linear(linear(inputs[0], pair.down), pair.up)
