"""Connects the window with the engine's thread; no other file names ``engine.session``.

Commands are sent at once, or wait here while the model loads, after a failure and during a pause.
Events arrive on the worker's thread and are emitted on the GUI thread. Typed words have the lane
without a name; heard words have the lane of their source.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QObject, Signal, Slot

from app.session.event_queue import EventQueue
from engine.commands import Clear, Command, Configure, EndPassage, FeedWords, SetWords, WordCommand
from engine.events import Event, Failed, Ready
from engine.messages import Code
from engine.session.source_session import SourceSession
from engine.settings import ModelSettings, TranslationSettings
from engine.utterances import TYPED, FedWord, UtteranceTracker

_log = logging.getLogger(__name__)

Report = Callable[[Event], None]


class Session(Protocol):
    """The part of ``engine.session.session.Session`` that the bridge uses."""

    def start(self) -> None:
        """Load the model and serve, on another thread."""

    def stop(self, patience_s: float = 0.0) -> None:
        """End that thread after at most ``patience_s`` of translating what waits."""

    def send(self, command: Command) -> None:
        """Append a command to the queue."""


MakeSession = Callable[[ModelSettings | None, TranslationSettings, Report], Session]
"""Makes a session, without a model one that translates nothing.

Called on a thread of its own, since it may take seconds.
"""


def make_session(
    model: ModelSettings | None, translation: TranslationSettings, report: Report
) -> Session:
    """Return the engine's session, or one whose captions are the source words."""
    if model is None:
        return SourceSession(translation, report)
    from engine.session.session import Session as EngineSession  # noqa: PLC0415  torch takes seconds to import

    return EngineSession(model, translation, report)


class EngineBridge(QObject):
    """Own the session, from its start to its end.

    Signals:
        event_came(Event): an event of the session, emitted in the GUI thread.
        utterance_changed(Event, Utterance): an event about an utterance, and its new state.
        waiting_changed(tuple of (str, str)): lane and text of the words that wait for the model or
            the end of a pause.
        paused_changed(bool): a pause has begun or ended.
        next_came(Event): an event of a session that is prepared: its progress, or its failure.
        taking_over(): another session replaces the one before, which has ended.

    Attributes:
        utterances: follows this session and those before; typed words are fed to it here, heard
            words before ``hear`` gets them.

    Invariant: every passage reaches a ready session, after any failure or pause; only ``Clear``
    drops words.
    """

    event_came = Signal(object)
    utterance_changed = Signal(object, object)
    waiting_changed = Signal(tuple)
    paused_changed = Signal(bool)
    next_came = Signal(object)
    taking_over = Signal()
    _heard = Signal(object, object)

    def __init__(
        self,
        make: MakeSession = make_session,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self.utterances = UtteranceTracker()
        self.utterances.feed(TYPED, ())
        self._make = make
        self._clock = clock
        self._run: _Run | None = None
        self._run_number = self._n_runs = 0
        self._next: _Run | None = None  # loads while the other one goes on
        self._next_number = 0
        self._dropped: list[threading.Thread] = []  # each ends a run that nobody wants any more
        self._ready = False
        self._paused = False
        self._words: tuple[str, ...] = ()  # of the passage that is not finished
        self._sent: tuple[str, ...] = ()  # those the session has of its unfinished passage
        self._waiting: list[Command] = []
        self._n_heard = Counter[str]()  # words of each lane that came through ``hear``
        self._speech = threading.RLock()  # guards the two below
        self._direct: Session | None = None  # that gets at once what is heard
        self._n_coming = 0  # commands from ``hear`` that are not here yet
        self._overhear: Report | None = None
        self._events = EventQueue(self)
        self._events.came.connect(self._take)
        # This object stays in the GUI thread, and the slot is its method: so what a listener emits
        # is queued to here. A plain function as slot would run on the listener's thread.
        self._heard.connect(self._take_heard)

    def start(self, model: ModelSettings | None, translation: TranslationSettings) -> None:
        """Start a session, replacing a previous one; without a model nothing is translated."""
        self.drop_next()
        self._end()
        self.taking_over.emit()
        self._send_heard_again()
        self._n_runs += 1
        self._run_number = self._n_runs
        self._run = self._new_run(self._run_number, model, translation)

    def prepare(self, model: ModelSettings, translation: TranslationSettings) -> None:
        """Load another session while the present one goes on; it takes over once it is ready."""
        self.drop_next()
        self._n_runs += 1
        self._next_number = self._n_runs
        self._next = self._new_run(self._next_number, model, translation)

    def drop_next(self) -> None:
        """Prepare no other session any more; what is being loaded ends by itself."""
        if self._next is not None:
            thread = threading.Thread(target=self._next.stop, name="surtitle-dropped")
            thread.start()
            self._dropped = [one for one in self._dropped if one.is_alive()] + [thread]
        self._next = None

    def _new_run(
        self, number: int, model: ModelSettings | None, translation: TranslationSettings
    ) -> "_Run":
        dropped = tuple(self._dropped)

        def make(report: Report) -> Session:
            for thread in dropped:  # at most two models are in memory, and one fetch in a folder
                thread.join()
            return self._make(model, translation, report)

        return _Run(make, lambda event: self._hand_up(number, event))

    def let_overhear(self, take: Report | None) -> None:
        """Set a callback for all events but failures, called on the session's thread, or None."""
        self._overhear = take

    def stop(self) -> None:
        """End the session, also one that is prepared, and wait for their threads.

        Waiting commands go to the next one, and before them the unfinished passage that it had.
        """
        self.drop_next()
        for thread in self._dropped:
            thread.join()
        self._dropped.clear()
        self._end()

    def _end(self) -> None:
        """End the session that is in use."""
        with self._speech:
            self._direct = None
        if self._run is not None:
            self._run.stop()
        self._run = None
        self._ready = False
        if self._sent:
            self._waiting.insert(0, SetWords(self._sent))
        self._sent = ()

    def finish(self, patience_s: float) -> None:
        """End the session when it has translated everything, or after ``patience_s``."""
        if self._run is not None and self._ready:
            self._run.stop(patience_s)
            for one in (self, self._events):  # what was heard until then, and what it reported
                QCoreApplication.sendPostedEvents(one)
            self._events.take_all()
        self.stop()

    @property
    def is_running(self) -> bool:
        """Whether there is a session, loading or ready."""
        return self._run is not None

    @property
    def has_waiting_words(self) -> bool:
        """Whether words wait for a session that may become ready."""
        is_word = any(isinstance(one, WordCommand) for one in self._waiting)
        return is_word and self._run is not None

    def hear(self, command: FeedWords | EndPassage) -> None:
        """Send heard words to the session; may be called from any thread.

        A ready session gets them at once; else they wait in the GUI thread.
        """
        with self._speech:
            session = self._direct
            self._n_coming += 1
            self._heard.emit(command, session)
            if session is not None:
                session.send(command)

    @Slot(object, object)
    def _take_heard(self, command: FeedWords | EndPassage, session: Session | None) -> None:
        with self._speech:
            self._n_coming -= 1
        if isinstance(command, FeedWords):
            self._n_heard[command.lane] += len(command.words)
        else:
            self.utterances.end_passage(command.lane)
        if session is None or self._run is None or session is not self._run.session:
            self._waiting.append(command)
            self._send_waiting()

    def send(self, command: Command) -> None:
        """Send a command, as soon as the session is ready and no pause holds it back."""
        if isinstance(command, Clear):
            self._clear()
            return
        self._count(command)
        replaces = bool(self._waiting) and isinstance(command, type(self._waiting[-1]))
        if replaces and isinstance(command, SetWords | Configure):
            self._waiting.pop()  # keeps what waits as short as what was typed
        self._waiting.append(command)
        self._send_waiting()

    def _count(self, command: Command) -> None:
        """Feed the words of a command to ``utterances``."""
        match command:
            case SetWords(words):
                now_s = self._clock()
                fresh = words[len(self._words) :]
                self.utterances.feed(TYPED, (FedWord(text=w, committed_at_s=now_s) for w in fresh))
                self.utterances.withdraw(TYPED, max(0, len(self._words) - len(words)))
                self._words = words
            case EndPassage(lane=""):
                self._words = ()

    def _clear(self) -> None:
        """Drop the waiting passages and words.

        Heard words still go to the session, which drops them: the listener expects every word to
        come back.
        """
        self._words = ()
        self.utterances.withdraw(TYPED)
        self.utterances.clear()
        waiting, self._waiting = self._waiting, []
        heard = [command for command in waiting if isinstance(command, FeedWords)]
        if heard:
            self._waiting += [*heard, Clear()]
        self._waiting += [one for one in waiting if not isinstance(one, WordCommand)]
        if self._ready and self._run is not None and self._run.session is not None:
            self._run.session.send(Clear())
            self._sent = ()
        self._tell_waiting()

    def take_reported(self) -> None:
        """Emit at once what the session had reported before what arrived just now."""
        self._events.take_all()

    def _hand_up(self, run_number: int, event: Event) -> None:
        """Receive an event on the worker's thread."""
        self._events.put(run_number, event)
        overhear = self._overhear
        is_used = run_number == self._run_number
        if overhear is not None and is_used and not isinstance(event, Failed):
            overhear(event)

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
            self._ready = True
            self._send_waiting()

    def _take_next(self, event: Event) -> None:
        """Hand on an event of the session that is prepared; the one in use knows nothing of it."""
        if isinstance(event, Failed):
            self.drop_next()
        self.next_came.emit(event)

    def _take_over(self) -> None:
        """Let the session that was prepared replace the one before."""
        run, self._next = self._next, None
        self._end()
        self.taking_over.emit()
        self._send_heard_again()
        self._run, self._run_number = run, self._next_number

    def take(self, event: Event) -> None:
        """Follow an event of the session, and emit it."""
        utterance = self.utterances.take(event, self._clock())
        if utterance is not None:
            self.utterance_changed.emit(event, utterance)
        self.event_came.emit(event)

    def _send_heard_again(self) -> None:
        """Queue the heard words without a complete translation for the next session."""
        self.utterances.restart()
        again = list[Command]()
        for lane in self.utterances.lanes:
            n_unsent = self.utterances.n_fed(lane) - self._n_heard[lane]  # on their way here
            for command in self._waiting:
                if isinstance(command, FeedWords) and command.lane == lane:
                    n_unsent += len(command.words)
            for words, is_ended in self.utterances.unplaced(lane, n_unsent):
                again += [FeedWords(words, lane), *([EndPassage(lane)] if is_ended else [])]
        self._waiting[:0] = again
        self._tell_waiting()

    def _send_waiting(self) -> None:
        session = None if self._run is None else self._run.session
        if self._ready and session is not None:
            waiting, self._waiting = self._waiting, []
            for command in waiting:
                if self._paused and not _was_heard(command):
                    self._waiting.append(command)
                    continue
                session.send(command)
                self._sent = _words_after(command, self._sent)
            with self._speech:
                if not self._n_coming:  # else what comes now would overtake that
                    self._direct = session
        self._tell_waiting()

    def _tell_waiting(self) -> None:
        texts = list[tuple[str, str]]()
        sent = words = self._sent
        for command in self._waiting:
            match command:
                case EndPassage(lane=""):
                    is_longer = words[: len(sent)] == sent
                    texts.append(("", " ".join(words[len(sent) :] if is_longer else words)))
                    sent = ()
                case Clear():
                    texts.clear()
                case FeedWords(words=heard, lane=lane):
                    texts.append((lane, " ".join(heard)))
            words = _words_after(command, words)
        self.waiting_changed.emit(tuple((lane, text) for lane, text in texts if text))


def _was_heard(command: Command) -> bool:
    """Return whether a pause does not hold back a command: heard words, and their removal."""
    return isinstance(command, FeedWords | Clear) or (
        isinstance(command, EndPassage) and bool(command.lane)
    )


def _words_after(command: Command, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the typed words of the unfinished passage after a command."""
    match command:
        case SetWords():
            return command.words
        case EndPassage(lane=""):
            return ()
        case _:
            return words


class _Run:
    """One session from its import to its end. ``report`` is called on threads of its own."""

    def __init__(self, make: Callable[[Report], Session], report: Report) -> None:
        self.session: Session | None = None
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
