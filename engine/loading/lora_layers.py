"""A LoRA adapter on the layers of a network, and another one in its place.

Whole weights take the product of the factors in, so they cost nothing while captions run. Packed
weights stay as they are, since packing the sum again would lose what was learned: the factors work
beside the layer, as they did in training (QLoRA). Either way what a network computes depends on
base and factors alone, never on what sat there before: the same to the bit as a fresh load.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import linear

from engine.adapters.adapter import Adapter
from engine.adapters.lora_weights import WEIGHTS_FILE
from engine.errors import AdapterError
from engine.loading.quantisation import is_quantised

if TYPE_CHECKING:
    from torch.utils.hooks import RemovableHandle

_PREFIX, _DOWN, _UP = "base_model.model.", ".lora_A.weight", ".lora_B.weight"


@dataclass(frozen=True, slots=True)
class Factors:
    """What is added to one layer: ``scale * up @ down``.

    Attributes:
        down: floating, shape (rank, inputs).
        up: floating, shape (outputs, rank).
        scale: of the product.
    """

    down: Tensor
    up: Tensor
    scale: float


def read_factors(adapter: Adapter) -> dict[str, Factors]:
    """Read the factors of an adapter that was judged and verified, by the path of their layer.

    Raises:
        AdapterError: they cannot be read, or are no numbers.
    """
    lora = adapter.lora
    assert lora is not None
    scale = lora.alpha / (math.sqrt(lora.rank) if lora.rank_stabilised else lora.rank)
    try:
        tensors = load_file(adapter.folder / WEIGHTS_FILE)
    except (OSError, SafetensorError) as error:  # it was sound when it was judged
        reason = error.strerror if isinstance(error, OSError) else "it was changed meanwhile"
        msg = f"the adapter in {adapter.folder} cannot be read: {reason}; get it again"
        raise AdapterError(msg) from error
    if not all(bool(tensor.isfinite().all()) for tensor in tensors.values()):
        msg = (
            f"the adapter in {adapter.folder} does not fit the model: its factors hold numbers "
            "that are none (NaN) or infinite; choose another adapter"
        )
        raise AdapterError(msg)
    paths = [name.removesuffix(_DOWN) for name in tensors if name.endswith(_DOWN)]
    return {
        path.removeprefix(_PREFIX): Factors(tensors[path + _DOWN], tensors[path + _UP], scale)
        for path in paths
    }


class AdaptedLayers:
    """The layers of one network that factors may sit on.

    Invariant: after ``put`` the network computes what its base and those factors give.
    """

    def __init__(self, network: nn.Module, *, keep_base: bool) -> None:
        """Take a network on which no adapter sits.

        Args:
            network: its layers are changed in place.
            keep_base: keep the base's own weights of each layer that was changed, which is what
                another ``put`` needs; costs their memory once. Packed weights are never changed.
        """
        self._network = network
        self._keep_base = keep_base
        self._base = dict[str, Tensor]()  # own weights of layers that were changed at some time
        self._hooks: list[RemovableHandle] = []
        self._now: Mapping[str, Factors] = {}

    @torch.no_grad()
    def put(self, factors: Mapping[str, Factors]) -> None:
        """Let these factors, and no others, work from now on; nothing stands for the bare base.

        Raises:
            AdapterError: they do not fit the network, which then is as it was before.
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
                own = _moved(pair, next(iter(self._network.parameters())))
                self._hooks.append(layer.register_forward_hook(partial(_add, own)))
            else:
                self._merge(path, pair)

    def _merge(self, path: str, pair: Factors) -> None:
        weight = self._weight(path)
        if self._keep_base and path not in self._base:
            self._base[path] = weight.clone()
        merged = _merged(self._base.get(path, weight), pair)
        if not bool(merged.isfinite().all()):
            msg = f"its factors make numbers in {path} that are too large; choose another adapter"
            raise AdapterError(msg)
        weight.copy_(merged)  # in place: who holds the tensor, as a captured graph does, sees it

    def _layer(self, path: str, pair: Factors) -> nn.Linear:
        try:
            layer = self._network.get_submodule(path)
        except AttributeError as error:
            msg = f"the model has no layer {path}, which the adapter changes: choose another one"
            raise AdapterError(msg) from error
        size = (pair.up.shape[0], pair.down.shape[1])
        if not isinstance(layer, nn.Linear) or (layer.out_features, layer.in_features) != size:
            msg = f"the model's layer {path} is of another shape than the adapter's: {list(size)}"
            raise AdapterError(msg)
        return layer

    def _weight(self, path: str) -> Tensor:
        layer = self._network.get_submodule(path)
        assert isinstance(layer, nn.Linear)
        return layer.weight.data


def _moved(pair: Factors, like: Tensor) -> Factors:
    return Factors(pair.down.to(like), pair.up.to(like), pair.scale)


def _merged(weight: Tensor, pair: Factors) -> Tensor:
    """Add the product in at least float32 and round once; shape and type of the weight."""
    wide = torch.float64 if weight.dtype == torch.float64 else torch.float32
    down, up = pair.down.to(weight.device, wide), pair.up.to(weight.device, wide)
    return (weight.to(wide) + pair.scale * (up @ down)).to(weight.dtype)


def _add(pair: Factors, _layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
    """Add what the factors make of the inputs; shape of the output, (..., outputs)."""
    return output + pair.scale * linear(linear(inputs[0], pair.down), pair.up)
