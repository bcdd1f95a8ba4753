"""The further languages of a session: which are requested, whose models load, which caption.

Everything here runs on the session's thread, but for the loading of a model: that has a thread of
its own, and wakes the session when it has ended. Nothing that fails here ends the session.
"""

import queue
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import SurtitleError, first_line, message_of
from engine.events import Event, FurtherLanguage, LanguageFailed, LanguagesChanged, MakeUp
from engine.messages import Code, Message
from engine.settings import ModelSettings, TranslationSettings
from engine.text.sentences import Sentence, is_strange
from engine.translation.passage import Passage
from engine.translation.targets import Target, Targets

if TYPE_CHECKING:
    from engine.remote.captioner import RemoteCaptioner
    from engine.session.loaded_model import LoadedModel
    from engine.translation.captioner import Captioner

Loaded = tuple[ModelSettings, "LoadedModel | Message"]
"""A model that was to be loaded, and what came of it."""


class Languages:
    """Follow which further languages are requested."""

    def __init__(
        self,
        targets: Targets,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        wake: Callable[[], None],
        own: "LoadedModel | RemoteCaptioner | None",
    ) -> None:
        """Start without a further language.

        Args:
            targets: make the captions.
            wake: lets the session call ``take_loaded``; called on any thread.
            own: the model of the session, or its server; None for a session without either.
        """
        self._targets = targets
        self._translation, self._report, self._wake, self._own = translation, report, wake, own
        self._requested = dict[str, FurtherLanguage]()
        # threads that load models, and whether what each loads is not needed any more
        self._loading = dict[ModelSettings, tuple[threading.Thread, threading.Event]]()
        self._models: dict[ModelSettings, LoadedModel] = {}
        self._loaded = queue.SimpleQueue[Loaded]()
        self._reported: tuple[str, ...] = ()

    def use(self, requested: Iterable[FurtherLanguage], passages: Iterable[Passage]) -> None:
        """Caption in these languages, as soon as their models are there, and in no other."""
        before, self._requested = self._requested, {one.code: one for one in requested}
        for code, language in before.items():
            if self._requested.get(code) != language:
                self._targets.remove(code)
        needed = {one.model for one in self._requested.values()}
        for model in self._models.keys() - needed:
            del self._models[model]
        for model, (_, is_dropped) in self._loading.items():
            (is_dropped.clear if model in needed else is_dropped.set)()
        for code, language in tuple(self._requested.items()):
            if code not in self._targets.ready:
                self._prepare(language, passages)
        self._report_change()

    def owe(self, owed: MakeUp) -> None:
        """Make up for a sentence of before, if it is in the language that is read now."""
        is_foreign = owed.source != self._translation.source_language
        is_unreadable = self._translation.reads_english and is_strange(owed.words)
        if owed.words and not (is_foreign or is_unreadable):
            self._targets.owe(owed.utterance, owed.language, Sentence(owed.words, ended=True))

    def _prepare(self, language: FurtherLanguage, passages: Iterable[Passage]) -> None:
        target, model = self._targets.add(language.code), language.model
        for passage in passages:
            passage.tell(target)
        if model is None or model in self._models:
            self._begin(language)
        elif model not in self._loading:
            is_dropped = threading.Event()
            thread = threading.Thread(
                target=self._load, args=(model, is_dropped), name="surtitle-language", daemon=True
            )
            self._loading[model] = thread, is_dropped
            thread.start()

    def _load(self, model: ModelSettings, is_dropped: threading.Event) -> None:
        found: LoadedModel | Message
        try:
            from engine.session import loaded_model  # noqa: PLC0415  model libraries take seconds

            found = loaded_model.LoadedModel(model, lambda _told: None, is_dropped.is_set)
        except (SurtitleError, OSError) as error:
            found = message_of(error)
        except BaseException as error:  # noqa: BLE001  the top of the thread: any failure is reported
            found = Code.ENGINE_NOT_LOADED(reason=first_line(error))
        self._loaded.put((model, found))
        self._wake()

    def take_loaded(self) -> None:
        """Caption by the models that have loaded; report those that could not."""
        while not self._loaded.empty():
            model, found = self._loaded.get()
            del self._loading[model]
            languages = [one for one in self._requested.values() if one.model == model]
            if isinstance(found, Message):
                for language in languages:
                    self._fail(language.code, found)
            elif languages:
                self._models[model] = found
                for language in languages:
                    self._begin(language)
        self._report_change()

    def _begin(self, language: FurtherLanguage) -> None:
        try:
            captioner = self._captioner(language)
        except (SurtitleError, MemoryError, RuntimeError) as error:
            self._fail(language.code, message_of(error))
        else:
            self._targets.add(language.code).begin(captioner)

    def _captioner(self, language: FurtherLanguage) -> "Captioner":
        return self._model_of(language).make_captioner(self._settings(language.code))

    def _model_of(self, language: FurtherLanguage) -> "LoadedModel | RemoteCaptioner":
        if language.model is not None:
            return self._models[language.model]
        assert self._own is not None, "a session without a model has none to share"
        return self._own

    def _settings(self, code: str) -> TranslationSettings:
        """Return the settings of a language; the glossary is of the session's."""
        return replace(self._translation, target_language=code, glossary=())

    def _fail(self, code: str, message: Message) -> None:
        self._requested.pop(code, None)
        self._targets.remove(code)
        self._report(LanguageFailed(language=code, message=message))

    def _report_change(self) -> None:
        there = tuple(code for code in self._requested if code in self._targets.ready)
        if there != self._reported:
            self._reported = there
            self._report(LanguagesChanged(languages=there))

    def configure(self, translation: TranslationSettings) -> None:
        self._translation = translation

        def configure(target: Target, language: FurtherLanguage) -> None:
            settings = self._settings(language.code)
            target.at_work.configure(self._model_of(language).suited(settings))

        self._change_all(configure)

    def follow_switch(self) -> None:
        """Translate by the session's model as it is now, where a language shares it."""

        def follow(target: Target, language: FurtherLanguage) -> None:
            if language.model is None:
                target.go_on_with(self._captioner(language))

        self._change_all(follow)

    def _change_all(self, change: Callable[[Target, FurtherLanguage], None]) -> None:
        """Change the languages that are ready; do without those of which that fails."""
        for code, target in self._targets.ready.items():
            try:
                change(target, self._requested[code])
            except (SurtitleError, MemoryError, RuntimeError) as error:
                self._fail(code, message_of(error))
        self._report_change()

    def advance(self) -> Event | None:
        """Translate until an event; return None if there is no more to do."""
        self._report_change()  # one may have failed
        for target in self._targets.ready.values():
            target.keep_pace(target.backlog_words, self._translation.catch_up_words)
        return self._targets.advance()

    def close(self) -> None:
        """Drop all languages, and wait for the models that load."""
        for code in self._requested:
            self._targets.remove(code)
        loads = tuple(self._loading.values())
        for _, is_dropped in loads:
            is_dropped.set()
        for thread, _ in loads:
            thread.join()
