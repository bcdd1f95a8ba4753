"""Connects the window with the engine's thread; no other file names ``engine.session``.

Commands are sent at once, or wait here while the model loads, after a failure and during a pause.
Events arrive on the worker's thread and are emitted on the GUI thread. Typed words have the lane
without a name; heard words have the lane of their source.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeGuard

from PySide6.QtCore import QCoreApplication, QObject, Signal, Slot

from app.config.preferences import APART, CORRECTED, FILE
from app.session.event_queue import EventQueue
from app.session.unfinished_words import TypedLine, append, unfinished
from engine.events import (
    TYPED,
    Clear,
    Command,
    Configure,
    EndPassage,
    Event,
    Failed,
    FedWord,
    FeedWords,
    Flush,
    Flushed,
    FurtherLanguage,
    HeardCommand,
    MakeUp,
    Ready,
    SetWords,
    Skip,
    UseLanguages,
    UtteranceEnded,
    WordCommand,
    n_words,
)
from engine.messages import Code
from engine.session.session import Session
from engine.settings import ModelSettings, ServerSettings, TranslationSettings
from engine.utterances import Utterance, UtteranceTracker

_log = logging.getLogger(__name__)

Report = Callable[[Event], None]


Engine = ModelSettings | ServerSettings
"""What translates: a model of this computer, or another computer."""

MakeSession = Callable[[Engine | None, TranslationSettings, Report], Session]
"""Makes a session, without a model one that translates nothing.

Called on a thread of its own, since it may take seconds.
"""


class EngineBridge(QObject):
    """Own the session, from its start to its end.

    Signals:
        event_came(Event): an event of the session, emitted in the GUI thread.
        utterance_changed(Event, Utterance): an event about an utterance, and its new state.
        apart_changed(Event, Utterance): the same of one in a lane of ``APART``, of which nothing
            else here tells.
        waiting_changed(tuple of (str, tuple of FedWord)): lane and words of each row that waits for
            the model or the end of a pause.
        paused_changed(bool): a pause has begun or ended.
        next_came(Event): an event of a session that is prepared: its progress, or its failure.
        taking_over(): another session replaces the one before, which has ended.
        turn_ended(): the events of a turn of the loop have been emitted.

    Attributes:
        utterances: follows this session and those before.

    Invariant: every word, typed or heard, reaches every session until the utterance that it is in
    has ended; only ``Clear`` drops words.
    """

    event_came = Signal(object)
    utterance_changed = Signal(object, object)
    apart_changed = Signal(object, object)
    waiting_changed = Signal(tuple)
    paused_changed = Signal(bool)
    next_came = Signal(object)
    taking_over = Signal()
    turn_ended = Signal()
    _sent_or_kept = Signal()
    _answered = Signal(object)

    def __init__(
        self,
        make: MakeSession = Session,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self.utterances = UtteranceTracker()
        self._make = make
        self._clock = clock
        self._run: _Run | None = None
        self._run_number = self._n_runs = 0
        self._next: _Run | None = None  # loads while the other one goes on
        self._next_number = 0
        self._dropped: threading.Thread | None = None  # ends a run and those dropped before it
        self._paused = False
        self._line = TypedLine()
        self._n_corrected = 0  # words
        self._lock = threading.RLock()  # guards what follows: listeners send on their own threads
        self._session: Session | None = None  # once it is ready
        self._waiting: list[Command] = []
        self._sent: list[Command] = []  # with words that the session has not finished
        self._further: tuple[FurtherLanguage, ...] = ()
        self._newest_typed = 0  # number of the newest typed word that the session has
        self._told: tuple[tuple[str, tuple[FedWord, ...]], ...] = ()
        self._events = EventQueue(self)
        self._events.came.connect(self._take)
        self._events.turn_ended.connect(self.turn_ended)
        # Slots that are methods of this object run in the GUI thread, whichever thread emits.
        self._sent_or_kept.connect(self._tell_waiting)
        self._answered.connect(self.take)

    def start(self, model: Engine | None, translation: TranslationSettings) -> None:
        """Start a session, replacing a previous one; without a model nothing is translated."""
        self.drop_next()
        self._end()
        self._begin_again()
        self._n_runs += 1
        self._run_number = self._n_runs
        self._run = self._new_run(self._run_number, model, translation)

    def prepare(self, model: Engine, translation: TranslationSettings) -> None:
        """Load another session while the present one goes on; it takes over once it is ready."""
        self.drop_next()
        self._n_runs += 1
        self._next_number = self._n_runs
        self._next = self._new_run(self._next_number, model, translation)

    def drop_next(self) -> None:
        """Prepare no other session any more; what is being loaded ends by itself."""
        if self._next is not None:
            self._dropped = threading.Thread(target=self._next.stop, name="surtitle-dropped")
            self._dropped.start()
        self._next = None

    def _new_run(
        self, number: int, model: Engine | None, translation: TranslationSettings
    ) -> "_Run":
        dropped = self._dropped

        def make(report: Report) -> Session:
            if dropped is not None:  # at most two models are in memory, and one fetch in a folder
                dropped.join()
            return self._make(model, translation, report)

        return _Run(make, lambda event: self._hand_up(number, event), translation.policy)

    def stop(self) -> None:
        """End the session, also one that is prepared, and wait for their threads."""
        self.drop_next()
        if self._dropped is not None:
            self._dropped.join()
        self._end()

    def _end(self) -> None:
        with self._lock:
            self._session = None
        if self._run is not None:
            self._run.stop()
        self._run = None

    def _begin_again(self) -> None:
        """Let the next session go on: what the one before did not finish waits for it."""
        self.taking_over.emit()
        with self._lock:
            for command in self._waiting:
                append(self._sent, command)
            self._waiting = unfinished(self._sent, self.utterances.ended)
            self._sent, self._newest_typed = [], 0
            self._line.go_on(self._waiting)
        self.utterances.restart()
        self._tell_waiting()

    def finish(self, patience_s: float) -> None:
        """End the session when it has translated everything, or after ``patience_s``."""
        if self._run is not None and self._session is not None:
            self._run.stop(patience_s)
            QCoreApplication.sendPostedEvents(self._events)  # what it reported until then
            self._events.take_all()
        self.stop()

    @property
    def is_running(self) -> bool:
        """Whether there is a session, loading or ready."""
        return self._run is not None

    @property
    def has_waiting_words(self) -> bool:
        """Whether words wait for a session that may become ready."""
        with self._lock:
            is_word = any(isinstance(one, WordCommand) for one in self._waiting)
        return is_word and self._run is not None

    @property
    def backlog_words(self) -> int:
        """Heard words that wait, and words that the session has not read; for any thread."""
        with self._lock:
            n_waiting = sum(n_words(one) for one in self._waiting if isinstance(one, FeedWords))
            return n_waiting + (0 if self._session is None else self._session.backlog_words)

    @property
    def uncaptioned_since_s(self) -> tuple[float | None, float | None]:
        """When the oldest heard word without a caption was said, and the oldest that is held up.

        Those of the newest utterance of a lane may wait for later words, as their policy requires;
        those before them, and those that no session has taken yet, are held up by computing.
        """
        captioned, newest = set[tuple[str, int]](), dict[str, Utterance]()
        for one in self.utterances.open:
            newest[one.lane] = one
            captioned |= {(one.lane, word.number) for word in one.words[: len(one.captioned_at_s)]}
        may_wait = {(lane, word.number) for lane, one in newest.items() for word in one.words}
        with self._lock:
            heard = [one for one in (*self._sent, *self._waiting) if _is_live(one)]
        left = [
            ((one.lane, word.number), word.spoken_at_s)
            for one in heard
            for word in one.words
            if word.spoken_at_s is not None and (one.lane, word.number) not in captioned
        ]
        held_up = (said_s for name, said_s in left if name not in may_wait)
        return min((said_s for _, said_s in left), default=None), min(held_up, default=None)

    @property
    def is_in_turn(self) -> bool:
        """Whether ``turn_ended`` follows the event that is emitted now."""
        return self._events.is_in_turn

    def type_words(self, texts: Sequence[str]) -> None:
        self.send(self._line.change(texts, self._clock()))

    def correct(self, texts: Sequence[str]) -> frozenset[int]:
        """Send the words of a corrected row; return their numbers in the lane ``CORRECTED``."""
        first, now_s = self._n_corrected + 1, self._clock()
        self._n_corrected += len(texts)
        words = [
            FedWord(text, number=number, committed_at_s=now_s)
            for number, text in enumerate(texts, start=first)
        ]
        self._keep(FeedWords(tuple(words), CORRECTED))
        self.send(EndPassage(CORRECTED))
        return frozenset(word.number for word in words)

    def type_lines(self, lines: Sequence[Sequence[str]]) -> None:
        """Send the words of lines that are complete, the one that was begun first.

        All at once: the session's thread begins with the first, and each step of this one waits
        for it some milliseconds.
        """
        for texts in lines:
            self._keep(self._line.change(texts, self._clock()))
            self._keep(EndPassage(TYPED))
        self._send_waiting()

    def send(self, command: Command) -> None:
        """Send a command, as soon as the session is ready and no pause holds it back.

        Commands of a listener may come from any thread.
        """
        if isinstance(command, Clear):
            self._clear()
            return
        if isinstance(command, Skip):
            with self._lock:
                if self._session is not None:  # else what waits is kept for the one that loads
                    self._session.send(command)
            return
        if isinstance(command, Configure):
            self.utterances.policy = command.translation.policy
        self._keep(command)
        self._send_waiting()

    def _keep(self, command: Command) -> None:
        if command == EndPassage(TYPED):
            self._line.end()
        with self._lock:
            replaces = bool(self._waiting) and isinstance(command, type(self._waiting[-1]))
            if replaces and isinstance(command, SetWords | Configure):
                self._waiting.pop()  # keeps what waits as short as what was typed
            self._waiting.append(command)

    def caption_also(self, further: Sequence[FurtherLanguage]) -> None:
        """Caption in these further languages, by this session and those after it."""
        if tuple(further) == self._further:
            return
        with self._lock:
            self._further = tuple(further)
            self.utterances.want(one.code for one in further)
            if self._session is not None:
                self._session.send(UseLanguages(self._further))
        self._send_owed()

    def _clear(self) -> None:
        """Drop all passages but those of a file, whose session goes on."""
        self._line.end()
        with self._lock:
            self._waiting = [one for one in self._waiting if _stays(one)]
            self._sent = [one for one in self._sent if _stays(one)]
            session = self._session
            if session is not None:
                session.send(Clear(spares=FILE))
        self.utterances.clear(session_too=session is not None, spares=FILE)
        self._send_owed()
        self._send_waiting()

    def _send_owed(self) -> None:
        """Let the session compute captions in further languages that are missing from before."""
        for one in self.utterances.owing_of_before:
            words = tuple(word.text for word in one.words)
            for language in one.owed:
                owed = MakeUp(one.number, language, one.languages[0], words)
                if self._session is not None:
                    self._session.send(owed)

    def _hand_up(self, run_number: int, event: Event) -> None:
        """Receive an event on the worker's thread."""
        self._events.put(run_number, event)

    @property
    def is_paused(self) -> bool:
        """Whether typed words and choices are held back."""
        return self._paused

    def pause(self, *, paused: bool) -> None:
        """Hold back typed words and choices, or send them.

        Heard words go on: nothing is recorded in a pause, so they were spoken before it.
        """
        if paused != self._paused:
            self._paused = paused
            self._send_waiting()
            self.paused_changed.emit(paused)

    @Slot(int, object)
    def _take(self, run_number: int, event: Event) -> None:
        if self._next is not None and run_number == self._next_number:
            if not isinstance(event, Ready):
                self._take_next(event)
                return
            self._take_over()
        if run_number != self._run_number or self._run is None:
            return  # the last words of a session that was replaced
        if isinstance(event, Failed):
            self._end()
        self.take(event)
        if isinstance(event, Ready):
            self.utterances.policy = self._run.policy
            with self._lock:
                self._session = self._run.session
                if self._session is not None and self._further:
                    self._session.send(UseLanguages(self._further))
            self._send_owed()
            self._send_waiting()

    def _take_next(self, event: Event) -> None:
        """Hand on an event of the session that is prepared; the one in use knows nothing of it."""
        if isinstance(event, Failed):
            self.drop_next()
        self.next_came.emit(event)

    def _take_over(self) -> None:
        run, self._next = self._next, None
        self._end()
        self._begin_again()
        self._run, self._run_number = run, self._next_number

    @Slot(object)
    def take(self, event: Event) -> None:
        """Follow an event of the session, and emit it."""
        utterance = self.utterances.take(event, self._clock())
        if utterance is not None:
            if isinstance(event, UtteranceEnded):
                with self._lock:
                    self._sent = unfinished(self._sent, self.utterances.ended)
            is_apart = utterance.lane in APART
            (self.apart_changed if is_apart else self.utterance_changed).emit(event, utterance)
        elif isinstance(event, Flushed):
            with self._lock:
                self._sent = [one for one in self._sent if one != Flush(event.number)]
        self.event_came.emit(event)

    def _send_waiting(self) -> None:
        """Send what waits and may be sent, in its order; called on any thread."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            for command in waiting:
                if isinstance(command, Flush) and not any(
                    isinstance(one, FeedWords) for one in (*self._sent, *self._waiting)
                ):
                    self._answered.emit(Flushed(number=command.number))
                    continue
                if self._session is None or (self._paused and not _was_heard(command)):
                    self._waiting.append(command)
                    continue
                self._session.send(command)
                if isinstance(command, SetWords):
                    numbers = (word.number for word in command.words)
                    self._newest_typed = max(self._newest_typed, *numbers, 0)
                if isinstance(command, SetWords | HeardCommand):
                    append(self._sent, command)
            has_news = bool(self._waiting or self._told)
        if has_news:
            self._sent_or_kept.emit()

    @Slot()
    def _tell_waiting(self) -> None:
        rows = list[tuple[str, tuple[FedWord, ...]]]()
        with self._lock:
            typed: tuple[FedWord, ...] = ()  # of a line that may not be finished
            for command in self._waiting:
                match command:
                    case SetWords(words=words):
                        typed = tuple(one for one in words if one.number > self._newest_typed)
                    case EndPassage(lane=""):
                        rows.append((TYPED, typed))
                        typed = ()
                    case FeedWords(words=heard, lane=lane) if lane not in APART:
                        rows.append((lane, heard))
        told = tuple((lane, words) for lane, words in rows if words)
        if told != self._told:
            self._told = told
            self.waiting_changed.emit(told)


def _is_live(command: Command) -> TypeGuard[FeedWords]:
    return isinstance(command, FeedWords) and command.lane not in APART


def _stays(command: Command) -> bool:
    """Return whether a command has to do with a file, or with no words."""
    return not isinstance(command, WordCommand) or (
        isinstance(command, FeedWords | EndPassage) and command.lane == FILE
    )


def _was_heard(command: Command) -> bool:
    """Return whether a listener sent a command; a pause holds none of those back."""
    is_end = isinstance(command, EndPassage) and command.lane != TYPED
    return is_end or isinstance(command, FeedWords | Flush)


class _Run:
    """One session from its import to its end. ``report`` is called on threads of its own."""

    def __init__(self, make: Callable[[Report], Session], report: Report, policy: str) -> None:
        self.session: Session | None = None
        self.policy = policy  # that it begins with
        self._make = make
        self._report = report
        self._lock = threading.Lock()
        self._stopped = False
        self._loader = threading.Thread(target=self._load, name="surtitle-loader")
        self._loader.start()

    def stop(self, patience_s: float = 0.0) -> None:
        """Wait until its threads have ended; they may translate for ``patience_s``."""
        with self._lock:
            self._stopped = True
        self._loader.join()
        if self.session is not None:
            self.session.stop(patience_s)

    def _load(self) -> None:
        try:
            session = self._make(self._report)
        except Exception as error:  # noqa: BLE001  the top of this thread
            _log.warning("the engine could not be loaded", exc_info=True)
            self._report(Failed(message=Code.ENGINE_NOT_LOADED(reason=str(error))))
            return
        with self._lock:
            if not self._stopped:
                self.session = session
                session.start()
