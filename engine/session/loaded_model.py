"""The model of a session: found or fetched, loaded, with switchable adapters.

A switch of adapters moves no gigabytes: whole weights are recomputed from the base's weights and
the factors, packed ones get other factors beside them (``engine.runtime.torch``). Cached rows
belong to the adapter that computed them, so a session continues with another translator.

Everything here runs on the thread that translates: there are no threads or locks.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import AdapterError, ModelError, SurtitleError
from engine.events import AdapterChanged, Event, LoadProgress, Ready
from engine.files import ByteCount
from engine.hub.download import Fetching, fetch_model
from engine.layout.rows import Row
from engine.messages import Code, Message
from engine.metrics.event_log import EventLog
from engine.models.adapters.adapter import Adapter, usable_adapter, verify_adapter
from engine.models.model_card import ModelCard
from engine.models.resolve import Resolved, resolve
from engine.runtime.causal_model import AnyModel, Store
from engine.runtime.ctranslate2.encoder_decoder_loader import EncoderDecoderWeights
from engine.runtime.loader import AnyWeights, load_weights, usable
from engine.runtime.processor import free_memory_bytes
from engine.runtime.weights import Factors, Weights, read_factors
from engine.session.serving import Local, Serving
from engine.settings import ModelSettings, TranslationSettings
from engine.text.prompt import word_ids
from engine.translation.conversation import Conversation
from engine.translation.factory import make_system
from engine.translation.feed import translate_unseen
from engine.translation.slot_translator import Translator
from engine.translation.spoken import passage_of, warm_up
from engine.untrusted.faults import detail_of
from engine.untrusted.plain_files import is_download

Report = Callable[[LoadProgress], None]

_PROBE = "This is a test."
_PROBE_ROWS = 1024


@dataclass(frozen=True, slots=True)
class _Loaded:
    """An adapter that passed its probe."""

    card: ModelCard
    factors: Mapping[str, Factors]


class AdapterSwitcher:
    """Adapters of one base, at most one of them in use; after a failure the same one stays in use.

    Weights come from ``load_weights`` without an adapter.
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
        return tuple(self._loaded)

    @property
    def used(self) -> str | None:
        return self._used

    def load(self, folder: Path) -> str:
        """Inspect and read an adapter, translate a sentence by it as a probe, and return its name.

        After the probe the adapter in use is restored.
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
        """Apply a loaded adapter, or None for the bare base; return weights with its card."""
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
        """Apply a candidate, translate, and restore the adapter in use, even after a failure."""
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
    """Translate one sentence like captions, then check that the logits are finite."""
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


class LoadedModel:
    """Weights and the adapters loaded for them; after a failure the same ones stay in use.

    ``notes`` are for people, about how the model was loaded.
    """

    def __init__(
        self, settings: ModelSettings, report: Report, cancelled: Callable[[], bool] = lambda: False
    ) -> None:
        """Find or fetch a model, load it, and apply its adapter.

        Args:
            settings: as for ``load_weights``; the model may have a name on the hub.
            report: receives the progress.
            cancelled: called during a fetch.

        Raises:
            ModelError: it cannot be found, fetched, loaded or adapted.
            FetchCancelledError: ``cancelled`` returned True.
        """
        self._settings = settings = _located(settings, report, cancelled)
        if settings.is_second:
            check_room(settings.directory, free_memory_bytes())
        report(LoadProgress(message=Code.LOADING(), fraction=0.2))
        if settings.adapter is not None:
            usable(settings.adapter, settings.directory)  # before the wait

        def progress(name: str, part: float) -> None:
            message = Code.CONVERTING(name=name, done=part)
            report(LoadProgress(message=message, fraction=0.2 + 0.6 * part))

        self._switcher: AdapterSwitcher | None = None
        self.weights: AnyWeights = load_weights(
            replace(settings, adapter=None), progress, cancelled
        )
        self.notes = self.weights.report.notes
        if settings.adapter is not None:
            name, doubts = self.load_adapter(settings.adapter)
            self.use_adapter(name)
            self.notes = (*self.weights.report.notes, *doubts)

    @property
    def languages(self) -> dict[str, str]:
        """Names of the target languages by code."""
        return {code: one.name for code, one in self.weights.card.languages.items()}

    @property
    def makes_drafts(self) -> bool:
        """Whether all words are translated again and again, instead of by slots."""
        return resolve(self.weights.card, self._settings.system).makes_drafts

    @property
    def adapters(self) -> tuple[str, ...]:
        return () if self._switcher is None else self._switcher.names

    @property
    def used(self) -> str | None:
        return None if self._switcher is None else self._switcher.used

    @property
    def adapters_changed(self) -> AdapterChanged:
        return AdapterChanged(
            names=self.adapters,
            used=self.used,
            languages=self.languages,
            makes_drafts=self.makes_drafts,
        )

    def make_system(
        self, translation: TranslationSettings, log: EventLog, model: AnyModel | None = None
    ) -> Conversation:
        capacity, settings = self._settings.capacity, self.suited(translation)
        name = self._settings.system
        return make_system(name, self.weights, settings, capacity=capacity, log=log, model=model)

    def make_captioner(self, translation: TranslationSettings) -> Conversation:
        """Make one for a further language; raise ModelError if the model does not know the pair."""
        card = self.weights.card
        card.check_pair(translation.source_language, translation.target_language)
        return self.make_system(translation, EventLog())

    def new_store(self, n_lanes: int) -> Store | None:
        """Make conversations that compute together; None where each computes for itself."""
        if isinstance(self.weights, EncoderDecoderWeights):
            return None
        return self.weights.new_store(n_lanes, self._settings.capacity)

    def resolved(self, translation: TranslationSettings) -> Resolved:
        """Return how the current weights translate; another policy is used if they cannot follow.

        Raises:
            SurtitleError: the settings are wrong.
        """
        card, system = self.weights.card, self._settings.system
        return resolve(card, system, translation, replaces_policy=True)

    def suited(self, translation: TranslationSettings) -> TranslationSettings:
        return replace(translation, policy=str(self.resolved(translation).policy))

    def load_adapter(self, folder: Path) -> tuple[str, tuple[Message, ...]]:
        """Load another adapter without using it; return its name, and doubts about it."""
        switcher = self._switcher or self._new_switcher()
        name = switcher.load(folder)
        self._switcher = switcher
        return name, _doubts(usable_adapter(folder, self.weights.base))

    def use_adapter(self, name: str | None) -> AnyWeights:
        """Apply a loaded adapter, or none; rows cached before are invalid afterwards."""
        if self._switcher is None and name is None:
            return self.weights
        self._switcher = self._switcher or self._new_switcher()
        self.weights = self._switcher.use(name)
        return self.weights

    def unload_adapter(self, name: str) -> None:
        self._switcher = self._switcher or self._new_switcher()
        self._switcher.unload(name)

    def _new_switcher(self) -> AdapterSwitcher:
        if isinstance(self.weights, EncoderDecoderWeights):
            raise AdapterError(Code.NO_ADAPTERS(model=self.weights.card.name))
        return AdapterSwitcher(self.weights)


def _located(
    settings: ModelSettings, report: Report, cancelled: Callable[[], bool]
) -> ModelSettings:
    """Replace a name on the hub by its folder, fetched if necessary."""
    name = settings.hub_name
    if not name:
        return settings

    def progress(done: int, total: int) -> None:
        message = Code.FETCHING(name=name, done=done / 1e9, total=total / 1e9)
        report(LoadProgress(message=message, fraction=done / max(total, 1)))

    wanted = Fetching(progress=progress, cancelled=cancelled)
    folder = fetch_model(name, settings.directory, wanted, again=settings.mends)
    is_ours = is_download(folder, settings.directory)
    return replace(settings, directory=folder, hub_name="", is_download=is_ours)


def check_room(folder: Path, free_bytes: int | None) -> None:
    """Refuse a model that has no room beside another one.

    Whole weights may take twice their files in memory, and so does a conversion.
    """
    files = [*folder.glob("*.safetensors"), *folder.glob("ctranslate2-*/model.bin")]
    needed = 2 * sum(path.stat().st_size for path in files)
    if free_bytes is not None and needed > free_bytes:
        sizes = {"needed": ByteCount(needed), "free": ByteCount(free_bytes)}
        raise ModelError(Code.NO_ROOM_FOR_TWO(**sizes))


def _doubts(adapter: Adapter) -> tuple[Message, ...]:
    if adapter.reason is None:
        return ()
    return (Code.ADAPTER_UNKNOWN(folder=str(adapter.folder), reason=adapter.reason),)


@contextmanager
def loaded(
    model: ModelSettings,
    translation: TranslationSettings,
    report: Callable[[Event], None],
    log: Path | None,
    cancelled: Callable[[], bool],
    wake: Callable[[], None],
) -> Iterator[Serving]:
    """Load a model to translate by, and log until the end; report how that goes.

    ``wake`` as for ``Languages``.
    """
    with EventLog(log) as event_log:
        start_s = time.monotonic()
        weights = LoadedModel(model, report, cancelled)
        weights.weights.share_processor()
        report(LoadProgress(message=Code.MAKING_CACHE(), fraction=0.8))
        system = weights.make_system(translation, event_log)
        by = Local(weights, system, event_log, passage_of(system))
        serving = Serving(system, translation, report, wake, by)
        warm_up(system)  # so that the first real word is not slow
        system.forget_sentences()
        report(
            Ready(
                model=weights.weights.card.name,
                languages=weights.languages,
                load_s=time.monotonic() - start_s,
                notices=(*weights.notes, *weights.resolved(translation).notices),
                makes_drafts=weights.makes_drafts,
            )
        )
        if weights.used is not None:
            report(weights.adapters_changed)
        serving.report_source()
        yield serving
