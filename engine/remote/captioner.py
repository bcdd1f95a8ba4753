"""Caption by another computer: its model translates, the words stay here until they are captioned.

An utterance here knows its words and what is shown of its caption. Each request names both, so that
a server that knew nothing of them returns the rest: what is shown stays, unless a word changed.
"""

import secrets
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from engine.errors import ServerError, ServerGoneError
from engine.events import Confidence
from engine.messages import Code
from engine.remote.service import Service, SessionUnknownError
from engine.remote.wire import MOST_CAPTION, Answer, Asked, Changed, Failure, Opening, Settled
from engine.settings import TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.captioner import Change, after_arrival
from engine.words import n_same

PATIENCE_S = 5.0
"""Seconds without a server until new sentences are captioned by their own words."""

_LONG_PATIENCE_S = 60.0  # of a text
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 3.0  # between two tries


@dataclass(slots=True, eq=False)
class RemoteUtterance:
    """An utterance that a server captions; see ``engine.translation.captioner.Captioned``.

    Attributes:
        arrivals: words after each group that came together.
        is_settled: its words allow no more.
        is_untranslated: its caption are its own words, since no server answered.
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
    is_untranslated: bool = False

    def set_source(
        self,
        words: Sequence[str],
        *,
        ended: bool,
        full_stop: str = "",  # noqa: ARG002  the server derives both from the words
        end_alone: bool = False,  # noqa: ARG002
    ) -> bool:
        """Set the words; the caption is cut back once the server says so."""
        if self.words == tuple(words) and self.ended == ended:
            return False
        same = n_same(self.words, words)
        self.arrivals = after_arrival(self.arrivals, same, len(words))
        self.words, self.ended = tuple(words), ended
        self.finished = self.is_settled = False
        return False

    def advance(self) -> Change | None:
        """Wait for the next change of the caption; raise ServerError where it was given up."""
        return self.by.advance(self)

    def give_up(self) -> None:
        self.finished = self.is_settled = True


@dataclass(slots=True)
class _Outage:
    """Since when no server answers, and when to try again."""

    since_s: float
    next_s: float
    pause_s: float = _FIRST_PAUSE_S
    reason: ServerGoneError = field(default_factory=ServerGoneError)


class RemoteCaptioner:
    """Caption by the model of a server, see ``engine.translation.captioner.Captioner``.

    Attributes:
        notices: deviations from the settings, for the user.
        has_left: something waits for a server since this was set to False.
        has_waited: is called while a server gives signs of life, and no caption.
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
        self.haste, self.has_left = 1, False
        self.has_waited: Callable[[], None] = lambda: None
        self._service, self._clock = service, clock
        self._n_utterances = 0
        self._stream: Generator[Answer] | None = None  # the answer to the newest request,
        self._asked: RemoteUtterance | None = None  # which was about this one,
        self._asked_words: tuple[tuple[str, ...], bool] = (), False  # with these words;
        self._told = ""  # its caption as far as it came, which may be behind what is shown;
        self._heard_s, self._is_slow = 0.0, False  # when the last came, and that it was long ago
        self._outage: _Outage | None = None
        self.configure(settings)

    @property
    def reads_any_script(self) -> bool:
        return not self.settings.reads_english

    @property
    def server(self) -> str:
        """Its name, for people."""
        return self._service.server

    @property
    def outage(self) -> ServerGoneError | None:
        """Why captions do not come from the server; None where they do, or hardly waited for it.

        New sentences are captioned by their own words, unless it gives signs of life.
        """
        outage = self._outage
        if outage is None:
            return ServerGoneError(Code.SERVER_BUSY()) if self._is_slow else None
        return outage.reason if self._clock() - outage.since_s >= PATIENCE_S else None

    def look(self) -> None:
        """Try again to reach a server that went away, as far as it is time for that."""
        outage = self._outage
        if outage is None or self._clock() < outage.next_s:
            return
        self._let_go()
        try:
            self._service.offer()
        except ServerGoneError as error:
            self._note_outage(error)
        except ServerError:
            self._note_outage(outage.reason)  # the next sentence tells what it refuses
        else:
            self._outage = None

    def configure(self, settings: TranslationSettings) -> None:
        """Use these settings for utterances that are opened from now on.

        Raises:
            ServerError: the server refuses them, and the ones before stay; or it cannot be reached.
        """
        self._let_go()
        opening = Opening(session=secrets.token_urlsafe(16), settings=settings)
        opened = self._service.open(opening)
        self.settings, self._opening = settings, opening
        self.context_rows, self.notices = opened.context_rows, opened.notices

    def open(self) -> RemoteUtterance:
        self._n_utterances += 1
        return RemoteUtterance(self, self._n_utterances, self._opening)

    def advance(self, utterance: RemoteUtterance) -> Change | None:
        """Wait for the next change of a caption; None where the words allow no more.

        None, too, where the rest waits for a server that does not answer: ``has_left`` is set then.

        Raises:
            ServerError: the server gave the sentence up.
        """
        if utterance.is_settled:
            return None
        if utterance.is_untranslated:
            return _own_words(utterance)
        try:
            return self._try(utterance)
        except ServerGoneError:
            if self.outage is None or utterance.caption:
                self.has_left = True
                return None
        utterance.is_untranslated = True
        return _own_words(utterance)

    def _try(self, utterance: RemoteUtterance) -> Change | None:
        """Do as ``advance``, but raise ServerGoneError while no server answers."""
        outage = self._outage
        if outage is not None and self._clock() < outage.next_s:
            raise outage.reason
        try:
            change = self._next_change(utterance)
        except ServerGoneError as error:
            self._let_go()
            self._note_outage(error)
            raise
        except ServerError:
            self._let_go()
            self._is_slow = False
            raise
        self._outage = None
        return change

    def interrupt(self) -> None:
        """Let the wait for a server fail at once; for other threads."""
        self._service.interrupt()

    def close(self) -> None:
        self._let_go()
        if self._outage is None:
            self._service.leave(self._opening.session)
        self._service.close()

    def _next_change(self, utterance: RemoteUtterance) -> Change | None:
        while not utterance.is_settled:
            if self._stream is None or self._asked is not utterance:
                self._begin(utterance)
            assert self._stream is not None
            answer = next(self._stream)
            self._heard_s, self._is_slow = self._clock(), False
            if isinstance(answer, Changed):
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
            sentence=Sentence(utterance.words, ended=utterance.ended),
            arrivals=utterance.arrivals,
            caption=utterance.caption,
            haste=self.haste,
        )
        self._told, self._heard_s = utterance.caption, self._clock()
        self._asked, self._asked_words = utterance, (utterance.words, utterance.ended)
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

    def _note_wait(self) -> None:
        self._is_slow = self._clock() - self._heard_s >= PATIENCE_S
        self.has_waited()

    def _let_go(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = self._asked = None

    def _note_outage(self, error: ServerGoneError) -> None:
        now_s, outage = self._clock(), self._outage
        if outage is None:
            since_s = self._heard_s if self._is_slow else now_s
            outage = self._outage = _Outage(since_s=since_s, next_s=now_s)
        self._is_slow = False
        outage.reason, outage.next_s = error, now_s + outage.pause_s
        outage.pause_s = min(2 * outage.pause_s, _LONGEST_PAUSE_S)


class PatientCaptioner(RemoteCaptioner):
    """Wait for a server that does not answer: a text can wait, and wants no other language."""

    def __init__(self, service: Service, settings: TranslationSettings) -> None:
        try:
            super().__init__(service, settings)
        except ServerGoneError as error:
            raise service.unreachable(error) from error

    def advance(self, utterance: RemoteUtterance) -> Change | None:
        """Raise ServerError, too, where the server did not answer for a long time."""
        while not utterance.is_settled:
            try:
                return self._try(utterance)
            except ServerGoneError as error:
                outage = self._outage
                if outage is None or self._clock() - outage.since_s >= _LONG_PATIENCE_S:
                    raise self._service.unreachable(error) from error
                time.sleep(_FIRST_PAUSE_S)
        return None


def _own_words(utterance: RemoteUtterance) -> Change | None:
    before, utterance.caption = utterance.caption, " ".join(utterance.words)
    kept = n_same(before, utterance.caption)
    utterance.is_settled, utterance.finished = True, utterance.ended
    utterance.n_words_read = len(utterance.words)
    if before == utterance.caption:
        return None
    return Change(kept=kept, text=utterance.caption[kept:], n_read=utterance.n_words_read)
