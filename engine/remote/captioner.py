"""Caption by another computer: its model translates, the words stay here until they are captioned.

An utterance here knows its words and what is shown of its caption. Each request names both, so that
a server that knew nothing of them returns the rest: what is shown stays, unless a word changed.
"""

import secrets
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from engine.errors import ServerError, ServerGoneError
from engine.events import Confidence, n_same
from engine.messages import Code, Message
from engine.remote.service import Service, SessionUnknownError
from engine.remote.wire import (
    MOST_CAPTION,
    Answer,
    Asked,
    Failure,
    Opening,
    Settled,
    opening,
)
from engine.settings import TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.captioner import Change, after_arrival

_LONG_WAIT_S = 5.0  # without an answer is reported
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 3.0  # between two tries


@dataclass(slots=True, eq=False)
class RemoteUtterance:
    """An utterance that a server captions; see ``engine.translation.captioner.Captioned``.

    Attributes:
        arrivals: words after each group that came together.
        is_settled: its words allow no more.
    """

    by: "RemoteCaptioner"
    number: int
    opening: Opening
    words: tuple[str, ...] = ()
    arrivals: tuple[int, ...] = ()
    ended: bool = False
    caption: str = ""
    n_words_read: int = 0
    finished: bool = False
    confidence: Confidence | None = None
    is_settled: bool = True

    def set_source(self, sentence: Sentence) -> bool:
        """Set the words; the caption is cut back once the server says so."""
        words = sentence.words
        if self.words == words and self.ended == sentence.ended:
            return False
        self.arrivals = after_arrival(self.arrivals, n_same(self.words, words), len(words))
        self.words, self.ended = words, sentence.ended
        self.finished = self.is_settled = False
        return False

    def advance(self) -> Change | None:
        """Wait for the next change of the caption; raise ServerError where it was given up."""
        return self.by.advance(self)

    def give_up(self) -> None:
        self.finished = self.is_settled = True


class RemoteCaptioner:
    """Caption by the model of a server, see ``engine.translation.captioner.Captioner``.

    Attributes:
        opened: what the server said to the settings.
        notify: is called with what a person should know: that a server is waited for long, once,
            and how other settings are deviated from.
    """

    def __init__(
        self,
        service: Service,
        settings: TranslationSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open a session.

        Raises:
            ServerError: the server refuses the settings, or cannot be reached.
        """
        self.haste = 1
        self.notify: Callable[[Message], None] = lambda _message: None
        self._service, self._clock = service, clock
        self._interrupted = threading.Event()
        self._others = list[RemoteCaptioner]()  # of further languages
        self._is_gone = self._is_notified = False
        self._since_s = 0.0  # a change is waited for
        self._n_utterances = 0
        self._stream: Generator[Answer] | None = None  # the answer to the newest request,
        self._asked: RemoteUtterance | None = None  # which was about this one,
        self._asked_words: tuple[tuple[str, ...], bool] = (), False  # with these words;
        self._told = ""  # its caption as far as it came, which may be behind what is shown
        self.configure(settings, takes_any_language=service.settings.takes_any_language)

    @property
    def reads_any_script(self) -> bool:
        return not self.settings.reads_english

    def configure(self, settings: TranslationSettings, *, takes_any_language: bool = False) -> None:
        """Use these settings for utterances that are opened from now on.

        ``takes_any_language``: the server may choose another where it does not know the target.

        Raises:
            ServerError: the server refuses them, and the ones before stay; or it cannot be reached.
        """
        self._let_go()
        asked = opening(secrets.token_urlsafe(16), settings, takes_any_language=takes_any_language)
        try:
            self.opened = self._service.open(asked)
        except ServerGoneError as error:
            raise self._service.unreachable(error) from error
        target = self.opened.target if takes_any_language else settings.target_language
        self.settings = replace(settings, target_language=target)
        self._opening, self.context_rows = replace(asked, target=target), self.opened.context_rows
        for notice in self.opened.notices:
            self.notify(notice)

    def open(self) -> RemoteUtterance:
        self._n_utterances += 1
        return RemoteUtterance(self, self._n_utterances, self._opening)

    def make_captioner(self, settings: TranslationSettings) -> "RemoteCaptioner":
        """Make one for a further language, by a session of its own; errors as for the first."""
        server = replace(self._service.settings, takes_any_language=False)
        other = type(self)(type(self._service)(server), settings, self._clock)
        other.notify = self.notify
        self._others = [one for one in (*self._others, other) if not one._is_gone]
        return other

    def suited(self, settings: TranslationSettings) -> TranslationSettings:
        return settings

    def advance(self, utterance: RemoteUtterance) -> Change | None:
        """Wait for the next change of a caption; None where the words allow no more.

        Raises:
            ServerGoneError: no server answers for as long as one is waited for.
            ServerError: the server gave the sentence up.
        """
        self._since_s, pause_s = self._clock(), _FIRST_PAUSE_S
        while not utterance.is_settled:
            try:
                change = self._next_change(utterance)
            except ServerGoneError as error:
                self._let_go()
                is_over = self._waited_s >= self._service.settings.patience_s
                if not is_over:
                    self._note_wait(error.message)
                if is_over or self._interrupted.wait(pause_s):
                    self._is_gone = True
                    raise self._service.unreachable(error) from error
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            except ServerError:
                self._let_go()
                raise
            else:
                self._is_notified &= self._waited_s >= _LONG_WAIT_S
                return change
        return None

    @property
    def _waited_s(self) -> float:
        return self._clock() - self._since_s

    def _note_wait(self, reason: Message | None = None) -> None:
        """Report that the server does not answer, or gives signs of life and no caption."""
        if self._waited_s >= _LONG_WAIT_S and not self._is_notified:
            self._is_notified = True
            reason = reason or Code.SERVER_BUSY()
            self.notify(Code.SERVER_GONE(server=self._service.server, reason=reason))

    def interrupt(self) -> None:
        """Let every wait for the server fail at once; for other threads."""
        for one in (self, *self._others):
            one._interrupted.set()
            one._service.interrupt()

    def close(self) -> None:
        self._let_go()
        if not self._is_gone:
            self._is_gone = True
            self._service.leave(self._opening.session)
        self._service.close()

    def _next_change(self, utterance: RemoteUtterance) -> Change | None:
        while not utterance.is_settled:
            if self._stream is None or self._asked is not utterance:
                self._begin(utterance)
            assert self._stream is not None
            answer = next(self._stream)
            if isinstance(answer, Change):
                self._told = self._told[: answer.kept] + answer.text
                if len(self._told) > MOST_CAPTION:
                    detail = f"a caption is longer than {MOST_CAPTION} characters"
                    raise ServerError(Code.SERVER_MISUNDERSTOOD(detail=detail))
                if not utterance.caption.startswith(self._told):
                    return self._show(utterance, answer.n_read)
                continue  # a server that knew nothing of the caption comes to where it stands
            self._stream = None
            if self._take_last(utterance, answer) and utterance.caption != self._told:
                return self._show(utterance, utterance.n_words_read)
        return None

    def _show(self, utterance: RemoteUtterance, n_read: int) -> Change:
        kept = n_same(utterance.caption, self._told)
        utterance.caption, utterance.n_words_read = self._told, n_read
        return Change(kept=kept, text=self._told[kept:], n_read=n_read)

    def _take_last(self, utterance: RemoteUtterance, answer: Settled | Failure) -> bool:
        is_news = self._asked_words == (utterance.words, utterance.ended)
        if not is_news:
            return False  # there are more words by now
        if isinstance(answer, Failure):
            raise ServerError(answer.message)
        if utterance.ended and not answer.finished:
            detail = "a sentence has ended, and its caption has not"
            raise ServerError(Code.SERVER_MISUNDERSTOOD(detail=detail))
        utterance.is_settled, utterance.finished = True, answer.finished
        utterance.n_words_read, utterance.confidence = answer.n_read, answer.confidence
        return True

    def _begin(self, utterance: RemoteUtterance) -> None:
        """Ask for the rest of a caption; what is still to come about another one is dropped."""
        self._let_go()
        asked = Asked(
            session=utterance.opening.session,
            number=utterance.number,
            words=utterance.words,
            ended=utterance.ended,
            arrivals=utterance.arrivals,
            caption=utterance.caption,
            haste=self.haste,
        )
        self._told, self._asked = utterance.caption, utterance
        self._asked_words = utterance.words, utterance.ended
        self._stream = self._answers(asked, utterance.opening)

    def _answers(self, asked: Asked, opening: Opening) -> Generator[Answer]:
        try:
            yield from self._service.ask(asked, self._note_wait)
        except SessionUnknownError:
            self._service.open(opening)
            try:
                yield from self._service.ask(asked, self._note_wait)
            except SessionUnknownError as error:  # what is before the servers mixes sessions up
                raise ServerGoneError(Code.SERVER_BUSY()) from error

    def _let_go(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = self._asked = None
