"""A loaded model, whichever library computes it, and how it was loaded."""

from dataclasses import dataclass
from typing import Protocol, Self

from tokenizers import Tokenizer as Backend

from engine.messages import Message
from engine.models.fingerprint import Fingerprint
from engine.models.model_card import ModelCard
from engine.models.policy_head import PolicyHead
from engine.runtime.causal_model import CausalModel, Store
from engine.runtime.torch.lora_factors import AdaptedLayers
from engine.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """How a model was loaded.

    Attributes:
        quantise: ``none``, ``nf4`` or ``int8``.
        needed_bytes: the estimate.
        notes: deviations from the request, and their reasons.
        n_packed: layers of 4 bits that are multiplied packed; the others are unpacked each time.
    """

    quantise: str = "none"
    needed_bytes: int = 0
    notes: tuple[Message, ...] = ()
    n_packed: int = 0


class Weights(Protocol):
    """A loaded model: its network, its tokenizer and its card."""

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer."""

    @property
    def card(self) -> ModelCard:
        """The card of its adapter, else of its folder."""

    @property
    def base(self) -> Fingerprint | None:
        """Its fingerprint; None if it takes no adapter (``engine.session.adapter_switcher``)."""

    @property
    def report(self) -> LoadReport:
        """How it was loaded."""

    @property
    def n_parameters(self) -> int:
        """Parameters of the network."""

    @property
    def decoder(self) -> Backend:
        """The tokenizer of the ``tokenizers`` library, which decodes piece by piece."""

    @property
    def width(self) -> int:
        """Numbers in a state of a row, see ``CausalModel.states``."""

    @property
    def head(self) -> PolicyHead | None:
        """The policy head that the card names; None if it names none."""

    def with_card(self, card: ModelCard, head: PolicyHead | None = None) -> Self:
        """Return the same weights with another card, and with the head that it names."""

    def new_model(self, capacity: int) -> CausalModel:
        """Make a conversation with the network, of ``capacity`` rows."""

    def new_store(self, n_lanes: int, capacity: int) -> Store:
        """Make conversations that compute together, of ``capacity`` rows each."""

    def adapted_layers(self, *, keep_base: bool) -> AdaptedLayers:
        """Return the layers that take adapters; ``keep_base`` if more than one ``put`` comes."""

    def share_processor(self) -> None:
        """Leave cores of the processor to other programs, if the model is small."""

    def give_memory_back(self) -> None:
        """Release memory that is held and not used, after an allocation failed."""
