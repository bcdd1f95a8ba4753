"""A session without a model: its captions are the source words. It imports no model library."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from engine.commands import Clear, Command, Configure, EndPassage, FeedWords, Flush, SetWords
from engine.errors import first_line
from engine.events import Event, Failed, Flushed, Ready, Refused
from engine.messages import Code
from engine.session.command_queue import CommandQueue
from engine.session.passages import Passages
from engine.settings import TranslationSettings
from engine.translation.captioned import Captioned, Captioner, Change, n_same
from engine.translation.passage import Passage

_log = logging.getLogger(__name__)


class SourceSession:
    """Has the verbs and events of ``engine.session.session.Session``."""

    def __init__(self, translation: TranslationSettings, report: Callable[[Event], None]) -> None:
        self._captioner = SourceCaptioner(translation)
        self._report = report
        self._commands = CommandQueue()
        self._passages = Passages(self._begin_passage)
        self._finishing, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="surtitle-captions", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, patience_s: float = 0.0) -> None:
        """End the thread, after the waiting commands or after ``patience_s``; wait for it."""
        for event, seconds in ((self._finishing, patience_s), (self._stopping, None)):
            event.set()
            self._commands.put(None)  # wakes it
            if self._thread.is_alive() and seconds != 0:
                self._thread.join(seconds)

    def send(self, command: Command) -> None:
        """Queue a command; ``Refused`` is reported if too many words wait already."""
        self._commands.put(command)

    @property
    def backlog_words(self) -> int:
        """The words that wait as commands; there are no others."""
        return self._commands.n_words

    def _run(self) -> None:
        try:
            self._report(Ready(model="", languages={}, load_s=0.0))
            while not self._stopping.is_set():
                if self._finishing.is_set() and self._commands.is_empty:
                    return
                self._obey(self._commands.take())
        except BaseException as error:  # noqa: BLE001  the top of the thread: any failure is reported
            _log.exception("the captions stopped")
            self._report(Failed(message=Code.ENGINE_STOPPED(reason=first_line(error))))

    def _obey(self, command: Command | None) -> None:
        match command:
            case Configure(translation):
                self._captioner.configure(translation)
            case SetWords() | FeedWords() | EndPassage() | Clear() as words:
                for event in self._passages.change(words):
                    self._report(event)
        n_refused = self._commands.take_refused()
        if n_refused:
            message = Code.WORDS_REFUSED(n_words=n_refused, most=self._commands.max_words)
            self._report(Refused(message=message))
        self._caption()
        if isinstance(command, Flush):
            self._report(Flushed(number=command.number))

    def _caption(self) -> None:
        for passage in self._passages:
            while (change := passage.advance()) is not None:
                self._report(change)
            if passage.is_settled and not self._passages.takes_words(passage):
                self._passages.forget(passage)

    def _begin_passage(self, lane: str) -> Passage:
        captioner = cast("Captioner[Captioned]", self._captioner)  # given what it opened
        return Passage(captioner, lane, reads_any_script=True)


class SourceUtterance:
    """An utterance whose caption is its source."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.words: tuple[str, ...] = ()
        self.ended = self.finished = False
        self.caption = ""

    @property
    def n_read(self) -> int:
        """The words in the caption."""
        return len(self.caption.split())


class SourceCaptioner:
    """Captions each utterance with its own words, so in their language."""

    def __init__(self, settings: TranslationSettings) -> None:
        self.configure(settings)
        self._n_utterances = 0

    def configure(self, settings: TranslationSettings) -> None:
        """Use these settings for utterances that are opened from now on."""
        self.settings = replace(settings, target_language=settings.source_language)

    def open(self) -> SourceUtterance:
        """Open an utterance."""
        self._n_utterances += 1
        return SourceUtterance(self._n_utterances)

    def set_source(
        self,
        utterance: SourceUtterance,
        words: Sequence[str],
        *,
        ended: bool,
        full_stop: str = "",  # noqa: ARG002  a translator needs them
        end_alone: bool = False,  # noqa: ARG002
    ) -> bool:
        """Set the words of an utterance; return whether its caption was cut back."""
        utterance.words, utterance.ended, utterance.finished = tuple(words), ended, False
        kept = n_same(utterance.caption, " ".join(words))
        is_cut = kept < len(utterance.caption)
        utterance.caption = utterance.caption[:kept]
        return is_cut

    def advance(self, utterance: SourceUtterance) -> Change | None:
        """Write the rest of the words; None if there is none."""
        utterance.finished = utterance.ended
        kept, source = len(utterance.caption), " ".join(utterance.words)
        if kept == len(source):
            return None
        utterance.caption = source
        return Change(kept=kept, text=source[kept:], n_read=len(utterance.words))

    def confidence(self, _utterance: SourceUtterance) -> None:
        """Return nothing: the source is not translated."""

    def give_up(self, utterance: SourceUtterance) -> None:
        """Leave an utterance as it is."""
        utterance.finished = True
