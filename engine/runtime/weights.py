"""A loaded model, whichever library computes it, and how it was loaded."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from tokenizers import Tokenizer as Backend

from engine.errors import AdapterError
from engine.messages import Code, Message
from engine.models.adapters.adapter import Adapter
from engine.models.adapters.lora import WEIGHTS_FILE
from engine.models.fingerprint import Fingerprint
from engine.models.model_card import ModelCard
from engine.models.tensor_file import Array, parse_tensors, read_tensor_file
from engine.runtime.causal_model import CausalModel, Store
from engine.text.tokenizer import Tokenizer
from engine.untrusted.faults import Fault, fault_of

_PREFIX, _DOWN, _UP = "base_model.model.", ".lora_A.weight", ".lora_B.weight"


@dataclass(frozen=True, slots=True)
class Factors:
    """The addition to one layer: ``scale * up @ down``."""

    down: Array  # (rank, inputs)
    up: Array  # (outputs, rank)
    scale: float


class AdaptedLayers(Protocol):
    """The layers of one network that take factors.

    Invariant: after ``put`` the network computes the result of its base and those factors.
    """

    def put(self, factors: Mapping[str, Factors]) -> None:
        """Apply these factors instead of the current ones; none for the bare base.

        Raises:
            AdapterError: they do not fit the network, which is then restored.
            MemoryError, RuntimeError: out of memory; likewise.
        """


def read_factors(adapter: Adapter) -> dict[str, Factors]:
    """Read the factors of a usable and verified adapter, by the path of their layer.

    Raises:
        AdapterError: they cannot be read, or are not finite.
    """
    lora, weights = adapter.lora, adapter.weights
    assert lora is not None
    assert weights is not None
    scale = lora.alpha / (math.sqrt(lora.rank) if lora.rank_stabilised else lora.rank)
    try:
        tensors = parse_tensors(read_tensor_file(adapter.folder / WEIGHTS_FILE, weights.n_bytes))
    except (OSError, ValueError) as error:  # the file was sound when it was inspected
        raise _unusable(adapter, fault_of(error, WEIGHTS_FILE)) from error
    if not all(bool(np.isfinite(tensor).all()) for tensor in tensors.values()):
        detail = f"{WEIGHTS_FILE} holds numbers that are none (NaN) or infinite"
        raise _unusable(adapter, Fault.DAMAGED(detail=detail))
    paths = [name.removesuffix(_DOWN) for name in tensors if name.endswith(_DOWN)]
    return {
        path.removeprefix(_PREFIX): Factors(tensors[path + _DOWN], tensors[path + _UP], scale)
        for path in paths
    }


def _unusable(adapter: Adapter, reason: Message) -> AdapterError:
    return AdapterError(Code.ADAPTER_UNUSABLE(folder=str(adapter.folder), reason=reason))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """How a model was loaded.

    Attributes:
        quantise: ``none``, ``nf4`` or ``int8``.
        notes: deviations from the request, and their reasons.
    """

    quantise: str = "none"
    needed_bytes: int = 0
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights(ABC):
    """A loaded model: its network, its tokenizer and its card.

    Attributes:
        card: of its adapter, else of its folder.
        base: its fingerprint; None if it takes no adapter (``engine.session.loaded_model``).
        report: how it was loaded.
        card_folder: the folder of the card; None for a network that is in none yet.
    """

    tokenizer: Tokenizer
    card: ModelCard
    base: Fingerprint | None = None
    report: LoadReport = field(default_factory=LoadReport)
    card_folder: Path | None = None

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Parameters of the network."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Numbers in a state of a row, see ``CausalModel.states``."""

    @property
    def decoder(self) -> Backend:
        """The tokenizer of the ``tokenizers`` library, which decodes piece by piece."""
        return self.tokenizer.backend_tokenizer

    def with_card(self, card: ModelCard) -> Self:
        return replace(self, card=card)

    @abstractmethod
    def new_model(self, capacity: int) -> CausalModel:
        """Make a conversation with the network, of ``capacity`` rows."""

    @abstractmethod
    def new_store(self, n_lanes: int, capacity: int) -> Store:
        """Make conversations that compute together, of ``capacity`` rows each."""

    @abstractmethod
    def adapted_layers(self, *, keep_base: bool) -> AdaptedLayers:
        """Return the layers that take adapters; ``keep_base`` if more than one ``put`` comes."""

    def share_processor(self) -> None:  # noqa: B027  nothing to do for most libraries
        """Leave cores of the processor to other programs, if the model is small."""

    def give_memory_back(self) -> None:  # noqa: B027  as above
        """Release memory that is held and not used, after an allocation failed."""
