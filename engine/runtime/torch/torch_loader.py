"""Load a model folder onto a device by torch.

Only safetensors are read, nothing is fetched, and no code of a folder is run: folders that name
code are refused before a library sees them (``engine.runtime.guarded_loading``). The memory is
estimated first; if ``auto`` was requested and the best plan does not fit, the next one is used and
the report notes it.
"""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Self

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from engine.errors import ModelError
from engine.files import ByteCount
from engine.messages import Code, Message
from engine.models.fingerprint import Fingerprint, known_fingerprint
from engine.models.memory_footprint import Footprint, read_footprint
from engine.models.model_card import ModelCard
from engine.models.policy_head import PolicyHead
from engine.runtime.causal_model import CausalModel
from engine.runtime.cpu_benchmark import multiplies_packed
from engine.runtime.device import compute_dtype, give_memory_back, share_processor
from engine.runtime.guarded_loading import load_tokenizer, pretrained_network
from engine.runtime.load_plan import SMALL, LoadPlan, fitting, load_plans
from engine.runtime.torch.attention import take_over_alibi
from engine.runtime.torch.lora_factors import Factors
from engine.runtime.torch.lora_layers import TorchAdaptedLayers
from engine.runtime.torch.quantisation import (
    QUANTISED_HERE,
    fuse_layers,
    quantisation_config,
    quantise_layers,
    unfuse_layers,
)
from engine.runtime.torch.torch_store import TorchStore, slot_model
from engine.runtime.weights import LoadReport
from engine.settings import ModelSettings
from engine.untrusted.model_folder import MAX_CONFIG_BYTES
from engine.untrusted.strict_json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchWeights:
    """A model that torch computes, see ``engine.runtime.weights.Weights``.

    Attributes:
        network: the transformers model, in evaluation mode.
    """

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    card: ModelCard
    base: Fingerprint | None = None
    report: LoadReport = field(default_factory=LoadReport)
    head: PolicyHead | None = None

    @property
    def n_parameters(self) -> int:
        """Parameters of the network."""
        return self.network.num_parameters()

    @property
    def width(self) -> int:
        """Numbers in a state of a row."""
        width: int = self.network.config.hidden_size
        return width

    @property
    def decoder(self) -> Tokenizer:
        """The tokenizer of the ``tokenizers`` library, which decodes piece by piece."""
        return self.tokenizer.backend_tokenizer

    def with_card(self, card: ModelCard, head: PolicyHead | None = None) -> Self:
        """Return the same weights with another card, and with the head that it names."""
        return replace(self, card=card, head=head)

    def with_note(self, note: Message) -> Self:
        """Return the same weights with a further note on how they were loaded."""
        return replace(self, report=replace(self.report, notes=(*self.report.notes, note)))

    def new_model(self, capacity: int) -> CausalModel:
        """Make a conversation with the network, of ``capacity`` rows."""
        return slot_model(self.network, capacity)

    def new_store(self, n_lanes: int, capacity: int) -> TorchStore:
        """Make conversations that compute together, of ``capacity`` rows each."""
        return TorchStore(self.network, n_lanes, capacity)

    def adapted_layers(self, *, keep_base: bool) -> TorchAdaptedLayers:
        """Return the layers that take adapters; ``keep_base`` if more than one ``put`` comes."""
        return TorchAdaptedLayers(self.network, keep_base=keep_base)

    def share_processor(self) -> None:
        """Leave cores of the processor to other programs, if the model is small."""
        share_processor(self.n_parameters)

    def give_memory_back(self) -> None:
        """Release the memory that torch caches, after an allocation failed."""
        give_memory_back(self.network.device)


def load_torch(
    settings: ModelSettings, card: ModelCard, factors: Mapping[str, Factors] | None = None
) -> TorchWeights:
    """Load a model folder with this card, and with the factors of an adapter if there is one.

    Raises:
        AdapterError: the factors do not fit.
        ModelError: folder or device cannot be used, or there is too little memory.
    """
    folder = settings.directory
    tokenizer = load_tokenizer(folder)
    footprint = read_footprint(folder)
    plans = load_plans(settings, footprint)
    fit = fitting(folder, plans, settings, footprint)
    network, report = _load_first(folder, plans, fit, footprint)
    network.eval()  # type: ignore[no-untyped-call]
    if factors:
        TorchAdaptedLayers(network, keep_base=False).put(factors)
    return TorchWeights(
        network=network,
        tokenizer=tokenizer,
        card=card,
        base=None if factors else known_fingerprint(folder),
        report=report,
    )


def load_network(
    folder: Path, *, quantise: str, device: torch.device, dtype: torch.dtype | None
) -> PreTrainedModel:
    """Load the weights of a folder, whole or packed.

    Args:
        folder: with config.json and safetensors.
        quantise: ``none``, ``nf4`` or ``int8``.
        device: of the network.
        dtype: of whole or unpacked weights; None: as they are stored.

    Raises:
        ModelError: they cannot be loaded, or bitsandbytes is missing.
        torch.OutOfMemoryError: they do not fit on the device.
    """
    itself = _quantised_by_library(folder, quantise)
    network = pretrained_network(
        folder,
        dtype=dtype,
        packing=quantisation_config(quantise, dtype or torch.bfloat16) if itself else None,
        device=device,
    )
    if quantise != "none" and not itself:
        quantise_layers(network, quantise)
    unfuse_layers(network)
    network.to(device=device)  # type: ignore[call-arg]
    take_over_alibi(network)
    return network


def _load_first(
    folder: Path, plans: Sequence[LoadPlan], fit: Sequence[LoadPlan], footprint: Footprint
) -> tuple[PreTrainedModel, LoadReport]:
    """Load by the first plan that succeeds; note why earlier ones were skipped."""
    reasons = [plan.shortage for plan in plans[: plans.index(fit[0])]]
    for plan in fit:
        packed = _multiplies_packed(plan, footprint)
        try:
            network = load_network(
                folder,
                quantise=plan.quantise,
                device=plan.device,
                dtype=torch.bfloat16 if packed else _dtype(plan, footprint),
            )
            n_packed = fuse_layers(network) if packed else 0
        except (torch.OutOfMemoryError, MemoryError):
            give_memory_back(plan.device)
            reasons.append(Code.RAN_OUT(shortage=plan.shortage))
            continue
        size = ByteCount(plan.needed_bytes)
        notes = []
        if reasons:
            notes.append(Code.LOADED_OTHERWISE(reasons=_joined(reasons), kept=plan.kept, size=size))
        if n_packed:
            notes.append(Code.MULTIPLIED_PACKED())
        return network, LoadReport(
            quantise=plan.quantise,
            needed_bytes=plan.needed_bytes,
            notes=tuple(notes),
            n_packed=n_packed,
        )
    raise ModelError(Code.TOO_LARGE(folder=str(folder), reasons=_joined(reasons)))


def _joined(reasons: Sequence[Message]) -> Message:
    """Join at least one reason into one."""
    return reduce(lambda joined, reason: Code.AND_IT(reasons=joined, reason=reason), reasons)


def _multiplies_packed(plan: LoadPlan, footprint: Footprint) -> bool:
    """Return whether to multiply 4 bits packed; small models are fast without."""
    on_cpu, large = plan.device.type == "cpu", footprint.n_parameters > SMALL
    return plan.quantise == "nf4" and on_cpu and large and multiplies_packed()


def _dtype(plan: LoadPlan, footprint: Footprint) -> torch.dtype | None:
    if plan.dtype is not None:
        return plan.dtype
    if plan.device.type == "cpu" and footprint.n_parameters <= SMALL:
        return torch.float32
    return None if plan.quantise == "none" else compute_dtype(plan.device)


def _quantised_by_library(folder: Path, quantise: str) -> bool:
    """Return whether transformers packs the weights while it reads them, which saves memory."""
    if quantise == "none":
        return False
    quantisation_config(quantise, torch.float32)  # report a missing library before loading
    try:
        config = JsonObject.read(folder / "config.json", MAX_CONFIG_BYTES)
        known = config.text("model_type") not in QUANTISED_HERE
    except (OSError, ValueError):  # reported by the library
        known = True
    return known and importlib.util.find_spec("accelerate") is not None
