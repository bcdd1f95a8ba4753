"""A session that translates by shouting, on a thread of its own like the real one."""

import queue
import threading
from collections.abc import Callable, Sequence

from engine.events import (
    CaptionChanged,
    Clear,
    Cleared,
    Command,
    Configure,
    EndPassage,
    Event,
    Failed,
    FedWord,
    FeedWords,
    Flush,
    Flushed,
    LoadProgress,
    Ready,
    SetWords,
    SourceChanged,
    Statistics,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
    text_of,
)
from engine.messages import Code, Message
from engine.session.session import Session
from engine.settings import ModelSettings, TranslationSettings, UtteranceLimits
from engine.text.sentences import split_sentences

LANGUAGES = {"de": "German", "fr": "French"}


def shout(word: str) -> str:
    return word.upper()


class FakeSession:
    """Open an utterance for each passage; its caption is the shouted source."""

    def __init__(
        self,
        report: Callable[[Event], None],
        *,
        failure: str | Message | None = None,
        translate: Callable[[str], str] = shout,
        may_load: threading.Event | None = None,
        translation: TranslationSettings | None = None,
    ) -> None:
        self._translation = translation or TranslationSettings()
        self.calls: list[Command] = []
        self.report_threads: set[str] = set()
        self._report_to = report
        self._failure = failure
        self._translate = translate
        self._may_load = may_load
        self._commands: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="fake-engine")
        self._utterance = self._typed = 0
        self._is_open = False
        self._caption = ""
        self._n_fed = 0
        self._spoken: dict[str, tuple[int, list[FedWord]]] = {}  # open ones of lanes with a name

    def start(self) -> None:
        self._thread.start()

    def stop(self, _patience_s: float = 0.0) -> None:
        self._commands.put(None)
        if self._may_load is not None:
            self._may_load.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def backlog_words(self) -> int:
        return 0

    def send(self, command: Command) -> None:
        self.calls.append(command)
        self._commands.put(lambda: self._obey(command))

    def fail(self, message: str) -> None:
        self._commands.put(lambda: self._report(Failed(message=Code.AS_SAID(sentence=message))))
        self._commands.put(None)

    def _report(self, event: Event) -> None:
        self.report_threads.add(threading.current_thread().name)
        self._report_to(event)

    def _run(self) -> None:
        self._report(LoadProgress(message=Code.LOADING(), fraction=0.5))
        if self._may_load is not None:
            self._may_load.wait(20)
        if self._failure is not None:
            failure = self._failure
            said = failure if isinstance(failure, Message) else Code.AS_SAID(sentence=failure)
            self._report(Failed(message=said))
            return
        self._report(Ready(model="shouter", languages=LANGUAGES, load_s=0.25))
        while (command := self._commands.get()) is not None:
            command()

    def _obey(self, command: Command) -> None:
        match command:
            case SetWords(words):
                self._set(words)
            case FeedWords(words, lane):
                self._hear(words, lane)
            case EndPassage(lane):
                self._end_lane(lane)
            case Clear(spares):
                self._drop(spares)
                self._report(Cleared())
            case Configure(translation):
                self._translation = translation
            case Flush(number):
                self._report(Flushed(number=number))

    def _hear(self, words: tuple[FedWord, ...], lane: str) -> None:
        texts, start = [word.text for word in words], 0
        for sentence in split_sentences(texts, UtteranceLimits(), finished=False):
            stop = start + len(sentence.words)
            self._feed(words[start:stop], lane)
            start = stop
            if sentence.ended:
                self._end_lane(lane)

    def _set(self, words: tuple[FedWord, ...]) -> None:
        if not self._is_open:
            self._is_open = True
            self._caption = ""
            self._typed, self._utterance = self._utterance, self._utterance + 1
            self._open(self._typed)
        self._report(SourceChanged(utterance=self._typed, words=words))
        caption = self._translate(text_of(words))
        kept = 0
        while kept < min(len(caption), len(self._caption)) and caption[kept] == self._caption[kept]:
            kept += 1
        self._caption = caption
        self._report(
            CaptionChanged(utterance=self._typed, kept=kept, text=caption[kept:], n_read=len(words))
        )
        self._n_fed += len(words)
        self._report(
            Statistics(
                tokens_fed=self._n_fed,
                forwards=self._n_fed,
                tokens_recomputed=0,
                probes=0,
                cached_rows=len(words),
                ms_per_word=12.4,
            )
        )

    def _open(self, number: int, lane: str = "") -> None:
        languages = self._translation.source_language, self._translation.target_language
        self._report(UtteranceOpened(utterance=number, lane=lane, languages=languages))

    def _feed(self, words: tuple[FedWord, ...], lane: str) -> None:
        if lane not in self._spoken:
            self._spoken[lane] = (self._utterance, [])
            self._open(self._utterance, lane)
            self._utterance += 1
        number, said = self._spoken[lane]
        kept = len(self._translate(text_of(said)))
        said += words
        self._report(SourceChanged(utterance=number, words=tuple(said)))
        text = self._translate(text_of(said))[kept:]
        self._report(CaptionChanged(utterance=number, kept=kept, text=text, n_read=len(said)))

    def _end_lane(self, lane: str) -> None:
        if not lane:
            self._end()
        elif lane in self._spoken:
            number, _ = self._spoken.pop(lane)
            self._report(UtteranceEnded(utterance=number))

    def _end(self) -> None:
        if self._is_open:
            self._report(UtteranceEnded(utterance=self._typed))
            self._is_open = False

    def _drop(self, spares: str | None) -> None:
        if self._is_open:
            self._report(UtteranceDropped(utterance=self._typed))
            self._is_open = False
        for lane in [one for one in self._spoken if one != spares]:
            self._report(UtteranceDropped(utterance=self._spoken.pop(lane)[0]))


class FakeEngine:
    """Makes sessions, and keeps them for the test to look at.

    ``failures`` says what the first sessions fail with; those after them load.
    """

    def __init__(
        self,
        *,
        failures: Sequence[str | Message] = (),
        translate: Callable[[str], str] = shout,
        may_load: threading.Event | None = None,
    ) -> None:
        self.sessions: list[FakeSession] = []
        self.translations: list[TranslationSettings] = []
        self.models: list[ModelSettings] = []
        self._failures = list(failures)
        self._translate = translate
        self._may_load = may_load

    def make(
        self,
        model: ModelSettings | None,
        translation: TranslationSettings,
        report: Callable[[Event], None],
    ) -> FakeSession | Session:
        if model is None:
            return Session(None, translation, report)
        failure = self._failures.pop(0) if self._failures else None
        session = FakeSession(
            report,
            failure=failure,
            translate=self._translate,
            may_load=self._may_load,
            translation=translation,
        )
        self.translations.append(translation)
        self.models.append(model)
        self.sessions.append(session)
        return session
