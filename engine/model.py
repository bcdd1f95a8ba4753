"""Weights, tokenizer and slot cache: rows in, the next id out.

Works over unmodified transformers models: positions and masks are always explicit, because
libraries build their causal mask from cache order, which is wrong here.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerFast
from transformers.utils import logging as transformers_logging

from engine.adapter import Adapter, model_card, usable_adapter, verify_adapter
from engine.attention import Attention, take_over_alibi, turn_keys
from engine.cache import SlotCache
from engine.card import ModelCard
from engine.cost import Arithmetic, peak_memory_bytes
from engine.errors import AdapterError, ModelError
from engine.fingerprint import read_fingerprint
from engine.layout import Row
from engine.planner import Eviction
from engine.settings import ModelSettings

_SMALL = 200_000_000
"""Parameters up to which a CPU computes in float32, which every CPU does fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A loaded model with what belongs to it.

    Attributes:
        network: the transformers model, in evaluation mode.
        tokenizer: its tokenizer.
        card: what its folder says of itself, or its adapter, where it has one that says so.
    """

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    card: ModelCard

    @property
    def n_parameters(self) -> int:
        """Parameters of the network."""
        return self.network.num_parameters()

    @property
    def decoder(self) -> Tokenizer:
        """The tokenizer's own engine, which decodes piece by piece."""
        return self.tokenizer.backend_tokenizer


def load_weights(settings: ModelSettings) -> Weights:
    """Load a model folder, and an adapter onto it where one is named.

    Only safetensors are read, nothing is fetched, and no code of the folder is run.

    Raises:
        ModelError: folder, adapter or device cannot be used.
    """
    device = pick_device(settings.device)
    adapter = _judged_adapter(settings)
    card = model_card(settings.directory, adapter)
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(
            settings.directory, local_files_only=True
        )
        network = _load_network(settings.directory)
    except Exception as error:
        reason = _first_line(error)
        msg = f"the model in {settings.directory} cannot be loaded: {reason}; choose another folder"
        raise ModelError(msg) from error
    if device.type == "cpu" and network.num_parameters() <= _SMALL:
        network.to(dtype=torch.float32)  # type: ignore[call-arg]
    if adapter is not None:
        network = _with_adapter(network, adapter)
    network.to(device=device)  # type: ignore[call-arg]
    network.eval()  # type: ignore[no-untyped-call]
    take_over_alibi(network)
    return Weights(network=network, tokenizer=tokenizer, card=card)


def _load_network(directory: Path) -> PreTrainedModel:
    """Load weights; what a file lacks is refused, where the library puts random numbers."""
    loaded = AutoModelForCausalLM.from_pretrained(
        directory,
        local_files_only=True,
        use_safetensors=True,
        dtype="auto",
        output_loading_info=True,
    )
    network, found = cast("tuple[PreTrainedModel, dict[str, set[str]]]", loaded)
    missing = sorted(found["missing_keys"])
    if missing:
        msg = f"its weights lack {missing[0]}"
        raise ValueError(msg)
    return network


def pick_device(name: str) -> torch.device:
    """Turn ``auto``, ``cpu`` or ``cuda`` into a device.

    Raises:
        ModelError: CUDA was asked for and there is none.
    """
    if name == "cuda" and not torch.cuda.is_available():
        msg = "the device cuda was asked for and torch finds none: use --device cpu or auto"
        raise ModelError(msg)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def _judged_adapter(settings: ModelSettings) -> Adapter | None:
    """Judge the adapter before any library sees it.

    Raises:
        ModelError: it cannot be used on this model.
    """
    if settings.adapter is None:
        return None
    adapter = usable_adapter(settings.adapter, read_fingerprint(settings.directory))
    verify_adapter(adapter)
    return adapter


def _with_adapter(network: PreTrainedModel, adapter: Adapter) -> PreTrainedModel:
    """Merge a LoRA adapter into the weights.

    peft gets the settings as we understood them, and never reads its own from the folder.
    """
    assert adapter.lora is not None
    lora = adapter.lora
    try:
        from peft import LoraConfig, PeftModel  # noqa: PLC0415  takes seconds, and few need it
    except ImportError as error:
        msg = "adapters need peft: install it with pip install 'surtitle[adapters]'"
        raise ModelError(msg) from error
    try:
        config = LoraConfig(
            r=lora.rank,
            lora_alpha=lora.alpha,  # type: ignore[arg-type]  # fractions are scaled as well
            target_modules=sorted(lora.targets),
            layers_to_transform=None if lora.layers is None else sorted(lora.layers),
            use_rslora=lora.rank_stabilised,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # peft 0.21 uses an old name
            adapted = PeftModel.from_pretrained(
                network, str(adapter.folder), config=config, local_files_only=True
            )
        return cast("PreTrainedModel", adapted.merge_and_unload(safe_merge=True))
    except Exception as error:
        reason = _first_line(error)
        msg = (
            f"the adapter in {adapter.folder} does not fit the model: {reason}; "
            "choose another adapter"
        )
        raise AdapterError(msg) from error


def _first_line(error: Exception) -> str:
    """Take what a library says at first; some say nothing but the kind of error."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class SlotModel:
    """One conversation with a model: feed rows, get the next id, truncate.

    Counts what it computes: ``tokens_fed``, ``forwards`` and ``flops`` never go down.
    """

    def __init__(self, network: PreTrainedModel, capacity: int) -> None:
        self._network = network
        self._cache = SlotCache(network.config, capacity, network.dtype, network.device)
        self._attention = Attention.of(network)
        self._arithmetic = Arithmetic.of(network)
        self.ranked = False  # ALiBi counts visible keys: see ``Attention.bias``
        self.tokens_fed = 0
        self.forwards = 0
        self.flops = 0
        self.last_flops = 0  # of the newest forward pass

    @property
    def n_rows(self) -> int:
        """Rows in the cache."""
        return self._cache.n_rows

    @property
    def capacity(self) -> int:
        """Rows the cache has room for."""
        return self._cache.capacity

    @property
    def peak_memory_bytes(self) -> int:
        """The most memory held so far, see ``engine.cost``."""
        return peak_memory_bytes(self._network.device)

    def truncate(self, n_rows: int) -> None:
        """Keep the first ``n_rows`` rows in arrival order."""
        self._cache.truncate(n_rows)

    @property
    def max_positions(self) -> int:
        """Positions the network was trained for."""
        config = self._network.config
        return int(getattr(config, "max_position_embeddings", None) or self.capacity)

    @torch.inference_mode()
    def evict(self, gone: Eviction) -> None:
        """Forget rows in the middle of the cache and let the later ones move up."""
        turn = partial(turn_keys, self._network)
        self._cache.evict(gone.start, gone.stop, gone.distance, turn)

    @torch.inference_mode()
    def feed(self, rows: Sequence[Row]) -> Tensor:
        """Compute rows in one forward pass and keep them.

        Returns:
            logits of the last row, shape (V,).

        Raises:
            CacheFullError: the cache has no room for them.
        """
        cache = self._cache
        cache.begin(rows)
        places = cache.new_places  # (1, Q)
        ids = torch.tensor([[row.id for row in rows]], device=self._network.device)
        logits: Tensor = self._network(
            input_ids=ids,
            position_ids=places.encoded,
            attention_mask=self._attention.bias(places, cache.all_places, ranked=self.ranked),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits
        cache.commit()
        self.tokens_fed += len(rows)
        self.forwards += 1
        self.last_flops = self._arithmetic.flops(len(rows), cache.n_rows)
        self.flops += self.last_flops
        return logits[0, -1]

    @torch.inference_mode()
    def next_id(self, rows: Sequence[Row], suppressed: Tensor) -> int:
        """Feed rows and choose the likeliest next id among those that are not suppressed.

        Args:
            rows: as for ``feed``.
            suppressed: int64, ids that may not be chosen.
        """
        logits = self.feed(rows)
        logits[suppressed] = -torch.inf
        return int(logits.argmax())
