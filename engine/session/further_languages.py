"""The further languages of a session: which are wanted, whose models load, which caption.

Everything here runs on the session's thread, but for the loading of a model: that has a thread of
its own, and wakes the session when it has ended. Nothing that fails here ends the session.
"""

import queue
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.commands import FurtherLanguage, MakeUp
from engine.errors import SurtitleError, first_line, message_of
from engine.events import Event, LanguageFailed, LanguagesChanged
from engine.messages import Code, Message
from engine.metrics.event_log import EventLog
from engine.session.catch_up import CatchUp
from engine.settings import ModelSettings, TranslationSettings
from engine.text.sentences import Sentence, is_strange
from engine.translation.further import Further, FurtherCaptions
from engine.translation.passage import Passage

if TYPE_CHECKING:
    from engine.session.loaded_model import LoadedModel
    from engine.translation.base import AnySystem

Loaded = tuple[ModelSettings, "LoadedModel | Message"]
"""A model that was to be loaded, and what came of it."""


@dataclass(slots=True)
class _Load:
    """A model that loads.

    Attributes:
        thread: it loads on.
        is_dropped: nobody wants it any more.
    """

    thread: threading.Thread | None = None
    is_dropped: bool = False


class FurtherLanguages:
    """Follow what is wanted; ``captions`` has the languages that are there.

    Attributes:
        captions: of the languages, which the passages tell of their utterances.
    """

    def __init__(
        self,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        wake: Callable[[], None] = lambda: None,
        own: "Callable[[], LoadedModel] | None" = None,
    ) -> None:
        """Start without a language.

        Args:
            translation: settings of the session.
            report: receives the events.
            wake: lets the session call ``take_loaded``; called on any thread.
            own: returns the model of the session; None for a session without one.
        """
        self.captions = Further()
        self._translation, self._report, self._wake, self._own = translation, report, wake, own
        self._wanted = dict[str, FurtherLanguage]()
        self._loading = dict[ModelSettings, _Load]()
        self._models: dict[ModelSettings, LoadedModel] = {}
        self._pace = dict[str, CatchUp]()  # by language
        self._loaded = queue.SimpleQueue[Loaded]()
        self._reported: tuple[str, ...] = ()

    def use(self, wanted: Iterable[FurtherLanguage], passages: Iterable[Passage]) -> None:
        """Caption in these languages, as soon as their models are there, and in no other."""
        before, self._wanted = self._wanted, {one.code: one for one in wanted}
        for code, language in before.items():
            if self._wanted.get(code) != language:
                self.captions.remove(code)
        needed = {one.model for one in self._wanted.values()}
        for model in self._models.keys() - needed:
            del self._models[model]
        for model, load in self._loading.items():
            load.is_dropped = model not in needed
        for code, language in tuple(self._wanted.items()):
            if code not in self.captions.languages:
                self._begin(language, passages)
        self._report_change()

    def owe(self, owed: MakeUp) -> None:
        """Make up for a sentence of before, if it is in the language that is read now."""
        is_foreign = owed.source != self._translation.source_language
        is_unreadable = self._translation.reads_english and is_strange(owed.words)
        if owed.words and not (is_foreign or is_unreadable):
            self.captions.owe(owed.utterance, owed.language, Sentence(owed.words, ended=True))

    def _begin(self, language: FurtherLanguage, passages: Iterable[Passage]) -> None:
        model = language.model
        if model is None or model in self._models:
            self._add(language, passages)
            return
        awaited = self.captions.wait_for(language.code)
        for passage in passages:
            passage.tell(awaited)
        if model not in self._loading:
            load = self._loading[model] = _Load()
            load.thread = threading.Thread(
                target=self._load, args=(model, load), name="surtitle-language", daemon=True
            )
            load.thread.start()

    def _load(self, model: ModelSettings, load: _Load) -> None:
        """Load a model, on a thread of its own."""
        found: LoadedModel | Message
        try:
            from engine.session import loaded_model  # noqa: PLC0415  model libraries take seconds

            found = loaded_model.LoadedModel(model, lambda _told: None, lambda: load.is_dropped)
        except (SurtitleError, OSError) as error:
            found = message_of(error)
        except BaseException as error:  # noqa: BLE001  the top of the thread: any failure is reported
            found = Code.ENGINE_NOT_LOADED(reason=first_line(error))
        self._loaded.put((model, found))
        self._wake()

    def take_loaded(self, passages: Iterable[Passage]) -> None:
        """Caption by the models that have loaded; report those that could not."""
        known = tuple(passages)
        while not self._loaded.empty():
            model, found = self._loaded.get()
            del self._loading[model]
            languages = [one for one in self._wanted.values() if one.model == model]
            if isinstance(found, Message):
                for language in languages:
                    self._fail(language.code, found)
            elif languages:
                self._models[model] = found
                for language in languages:
                    self._add(language, known)
        self._report_change()

    def _add(self, language: FurtherLanguage, passages: Iterable[Passage]) -> None:
        try:
            captions = FurtherCaptions(language.code, self._system(language))
        except (SurtitleError, MemoryError, RuntimeError) as error:
            self._fail(language.code, message_of(error))
            return
        self.captions.add(captions)
        self._pace[language.code] = CatchUp()
        for passage in passages:
            passage.tell(captions)

    def _system(self, language: FurtherLanguage) -> "AnySystem":
        """Return a system of its own for a language.

        Raises:
            SurtitleError: the model does not know it.
            RuntimeError: there is no memory for its cache.
        """
        model = self._model_of(language)
        settings = self._settings(language.code)
        model.weights.card.check_pair(settings.source_language, settings.target_language)
        return model.make_system(settings, EventLog())

    def _model_of(self, language: FurtherLanguage) -> "LoadedModel":
        if language.model is not None:
            return self._models[language.model]
        assert self._own is not None, "a session without a model has none to share"
        return self._own()

    def _settings(self, code: str) -> TranslationSettings:
        """Return the settings of a language; the glossary is of the session's."""
        return replace(self._translation, target_language=code, glossary=())

    def _fail(self, code: str, message: Message) -> None:
        self._wanted.pop(code, None)
        self.captions.remove(code)
        self._report(LanguageFailed(language=code, message=message))

    def _report_change(self) -> None:
        """Report the languages that are there, if they are others."""
        there = tuple(code for code in self._wanted if code in self.captions.languages)
        if there != self._reported:
            self._reported = there
            self._report(LanguagesChanged(languages=there))

    def configure(self, translation: TranslationSettings) -> None:
        """Use other settings for utterances that are opened from now on."""
        self._translation = translation
        for code in self.captions.languages:
            try:
                model = self._model_of(self._wanted[code])
                self.captions[code].system.configure(model.suited(self._settings(code)))
            except SurtitleError as error:
                self._fail(code, error.message)
        self._report_change()

    def follow_switch(self) -> None:
        """Translate by the session's model as it is now, where a language shares it."""
        for code in self.captions.languages:
            language = self._wanted[code]
            if language.model is None:
                try:
                    self.captions[code].go_on_with(self._system(language))
                except (SurtitleError, MemoryError, RuntimeError) as error:
                    self._fail(code, message_of(error))
        self._report_change()

    def advance(self) -> Event | None:
        """Translate until an event; return None if there is no more to do."""
        self._report_change()  # one may have failed
        self._keep_pace()
        return self.captions.advance()

    def _keep_pace(self) -> None:
        """Read larger steps in a language that is behind."""
        for code in self.captions.languages:
            captions, pace = self.captions[code], self._pace[code]
            if pace.update(captions.backlog_words, self._translation.catch_up_words):
                captions.system.conversation.haste = pace.factor

    def close(self) -> None:
        """Want nothing any more, and wait for what loads."""
        loads = list(self._loading.values())
        for load in loads:
            load.is_dropped = True
        for load in loads:
            if load.thread is not None:
                load.thread.join()
