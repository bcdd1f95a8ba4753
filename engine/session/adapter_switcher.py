"""Load several adapters on one base, and switch between utterances.

A switch moves no gigabytes: whole weights are recomputed from the base's weights and the factors,
packed ones get other factors beside them (``engine.runtime.torch.linear_layers``). Cached rows
belong
to the adapter that computed them, so a session continues with a new ``Translator``:

    switcher = AdapterSwitcher(weights)           # on the worker thread, like everything here
    name = switcher.load(folder)                  # between two utterances; the captions wait for it
    translator = Translator(switcher.use(name), settings, capacity=capacity, log=log)

There are no threads or locks here: the thread that translates also loads and switches.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import AdapterError, SurtitleError
from engine.layout.rows import Row
from engine.messages import Code, Message
from engine.models.adapters.adapter import Adapter, usable_adapter, verify_adapter
from engine.models.model_card import ModelCard
from engine.runtime.weights import Factors, Weights, read_factors
from engine.settings import TranslationSettings
from engine.text.prompt import word_ids
from engine.translation.feed import translate_unseen
from engine.translation.slot_translator import Translator
from engine.untrusted.faults import detail_of

_PROBE = "This is a test."
_PROBE_ROWS = 1024


@dataclass(frozen=True, slots=True)
class _Loaded:
    """An adapter that passed its probe."""

    card: ModelCard
    factors: Mapping[str, Factors]


class AdapterSwitcher:
    """Adapters of one base, at most one of them in use; after a failure the same one stays in use.

    Weights come from ``load_base``, or from ``load_weights`` without an adapter.
    """

    def __init__(self, weights: Weights) -> None:
        """Take a base; raise AdapterError if an adapter is merged into it, or it is not known."""
        if weights.base is None:
            raise AdapterError(Code.NOT_SWITCHABLE(model=weights.card.name))
        self._weights = weights
        self._layers = weights.adapted_layers(keep_base=True)
        self._loaded = dict[str, _Loaded]()
        self._used: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The loaded adapters, in the order of loading."""
        return tuple(self._loaded)

    @property
    def used(self) -> str | None:
        """The adapter in use, or None for the bare base."""
        return self._used

    def load(self, folder: Path) -> str:
        """Inspect and read an adapter, translate a sentence by it as a probe, and return its name.

        After the probe the adapter in use is restored.

        Raises:
            AdapterError: it cannot be used, or one of its name is loaded.
        """
        adapter = usable_adapter(folder, self._weights.base)
        verify_adapter(adapter)
        if adapter.name in self._loaded:
            raise AdapterError(Code.ADAPTER_LOADED(name=adapter.name))
        card = adapter.card.model_card() if adapter.card else self._weights.card
        candidate = _Loaded(card, read_factors(adapter))
        self._try(candidate, adapter)
        self._loaded[adapter.name] = candidate
        return adapter.name

    def use(self, name: str | None) -> Weights:
        """Apply a loaded adapter, or None for the bare base; return weights with its card.

        Raises:
            AdapterError: no adapter of that name is loaded, or there is no memory for it.
        """
        loaded = None if name is None else self._find(name)
        try:
            self._layers.put({} if loaded is None else loaded.factors)
        except (MemoryError, RuntimeError) as error:
            self._weights.give_memory_back()
            detail = detail_of(error)
            message = Code.CANNOT_SWITCH(name=str(name), detail=detail, stays=self._stays)
            raise AdapterError(message) from error
        self._used = name
        if loaded is None:
            return self._weights
        return self._weights.with_card(loaded.card)

    def unload(self, name: str) -> None:
        """Unload an adapter; raise AdapterError if it is not loaded, or in use."""
        self._find(name)
        if name == self._used:
            raise AdapterError(Code.ADAPTER_IN_USE(name=name))
        del self._loaded[name]

    @property
    def _stays(self) -> Message:
        return Code.ADAPTER_STAYS(name=self._used) if self._used else Code.BASE_STAYS()

    def _find(self, name: str) -> _Loaded:
        if name in self._loaded:
            return self._loaded[name]
        if not self._loaded:
            raise AdapterError(Code.NO_ADAPTER_LOADED(name=name))
        raise AdapterError(Code.ADAPTER_NOT_LOADED(name=name, known=", ".join(self._loaded)))

    def _try(self, candidate: _Loaded, adapter: Adapter) -> None:
        """Apply a candidate, translate, and restore the adapter in use, even after a failure.

        Raises:
            AdapterError: it does not fit, or its logits are not finite.
        """
        before = {} if self._used is None else self._loaded[self._used].factors
        try:
            self._layers.put(candidate.factors)
            _probe(self._weights.with_card(candidate.card))
        except (SurtitleError, MemoryError, RuntimeError) as error:
            self._weights.give_memory_back()
            folder, detail = str(adapter.folder), detail_of(error)
            message = Code.PROBE_FAILED(folder=folder, detail=detail, stays=self._stays)
            raise AdapterError(message) from error
        finally:
            self._layers.put(before)


def _probe(weights: Weights) -> None:
    """Translate one sentence like captions, then check that the logits are finite.

    Raises:
        SurtitleError: the card does not fit the tokenizer, or the logits are not finite.
        MemoryError, RuntimeError: it cannot be computed.
    """
    card = weights.card
    settings = TranslationSettings(
        target_language=next(iter(card.languages)),
        policy=card.policies[0] if card.policies else "offline",
    )
    translator = Translator(weights, settings, capacity=_PROBE_ROWS)
    translate_unseen(translator, _PROBE)
    translator.model.truncate(0)
    ids = word_ids(weights.tokenizer, _PROBE)
    rows = [Row(id_, position, time=0) for position, id_ in enumerate(ids)]
    if not all(map(math.isfinite, translator.model.feed(rows).tolist())):
        detail = "it makes the model say what is no number"
        raise AdapterError(Code.ADAPTER_UNFIT(detail=detail))
