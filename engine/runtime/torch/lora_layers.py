"""Apply a LoRA adapter to the layers of a network, and replace it by another.

The product of the factors is added to whole weights, so it costs nothing at run time. Packed
weights stay unchanged, since packing the sum would lose what was learned: the factors run beside
the layer, as in training (QLoRA). Either way the result depends on base and factors alone, never on
earlier adapters: the same to the bit as a fresh load.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from engine.errors import AdapterError
from engine.messages import Code
from engine.models.tensor_file import Array
from engine.runtime.torch.lora_factors import Factors
from engine.runtime.torch.quantisation import is_quantised

if TYPE_CHECKING:
    from torch.utils.hooks import RemovableHandle


@dataclass(frozen=True, slots=True)
class _Beside:
    """Factors that run beside a packed layer, in its type and on its device."""

    down: Tensor  # (rank, inputs)
    up: Tensor  # (outputs, rank)
    scale: float


class TorchAdaptedLayers:
    """The layers of one network that take factors.

    Invariant: after ``put`` the network computes the result of its base and those factors.
    """

    def __init__(self, network: nn.Module, *, keep_base: bool) -> None:
        """Take a network without an adapter.

        Args:
            network: its layers are changed in place.
            keep_base: keep the base's weights of each changed layer, as another ``put`` needs them;
                costs their memory once. Packed weights are never changed.
        """
        self._network = network
        self._keep_base = keep_base
        self._base = dict[str, Tensor]()  # base weights of layers that were ever changed
        self._hooks: list[RemovableHandle] = []
        self._now: Mapping[str, Factors] = {}

    @torch.no_grad()
    def put(self, factors: Mapping[str, Factors]) -> None:
        """Apply these factors instead of the current ones; none for the bare base.

        Raises:
            AdapterError: they do not fit the network, which is then restored.
            RuntimeError: out of memory; likewise.
        """
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
