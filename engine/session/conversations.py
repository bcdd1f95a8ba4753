"""Translate for many desktops by one model, on one thread: all that waits is computed together.

A session has a lane of the cache while it is open. One that was quiet for a while gives its lane to
a new one; a client that asks it something later opens it again, and its sentence is computed again.
"""

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from engine.errors import SurtitleError, first_line, is_failure, message_of
from engine.events import n_same
from engine.messages import Code
from engine.metrics.event_log import EventLog
from engine.remote.wire import Answer, Asked, Failure, Opened, Opening, Settled
from engine.runtime.causal_model import Asking, CausalModel, Together
from engine.session.loaded_model import LoadedModel
from engine.settings import TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.captioner import Change
from engine.translation.conversation import Conversation
from engine.translation.feed import translate_unseen
from engine.translation.translated import Translated

_log = logging.getLogger(__name__)

IDLE_S = 60.0
"""A session that was quiet for so long may lose its lane."""

_MOST_UTTERANCES = 64
"""Sentences of a session that can still change; a desktop edits no more."""

_OPENINGS, _ORDERS = 4, 16
"""That wait, for each session that can be open; who asks for more is refused, and asks again."""

Lives = Callable[[], bool]
"""Whether who asked still waits for the answer; for any thread."""

Key = tuple[str, str]
"""Who asks, and the name of its session: nobody asks in the session of another."""

_FIGURES = ("sentences", "words", "failed", "passes", "pass_sessions")


@dataclass(slots=True)
class _Order:
    asked: Asked
    report: Callable[[Answer], None]
    lives: Lives


@dataclass(slots=True, eq=False)
class _Session:
    lane: int
    system: Conversation
    opened: Opened
    used_s: float
    utterances: OrderedDict[int, Translated] = field(default_factory=OrderedDict)
    next: _Order | None = None


class Conversations:
    """Call ``start``, then the verbs from any thread, at last ``stop``.

    Reports come on the thread that translates, which must not be held up. At most ``n_most``
    sessions are open at once. ``figures`` count the work done so far: passes of the network, and
    the sessions that all of them served, of the rest what their names say; for any thread.
    """

    def __init__(
        self,
        model: LoadedModel,
        n_most: int,
        *,
        idle_s: float = IDLE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make the cache.

        Raises:
            RuntimeError: there is no memory for it.
        """
        self.n_most = n_most
        self.figures = dict.fromkeys(_FIGURES, 0)
        self._model, self._idle_s, self._clock = model, idle_s, clock
        self._store = model.new_store(n_most)
        self._together = None if self._store is None else Together(self._store)
        self._free = list(range(n_most))[::-1]  # the lowest last, so that lanes in use are together
        self._sessions = dict[Key, _Session]()
        self._orders = deque[Callable[[], None]]()
        self._openings = deque[Callable[[], None]]()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="surtitle-engine", daemon=True)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive() and not self._stopping

    @property
    def has_stopped(self) -> bool:
        return not self._thread.is_alive()

    @property
    def n_sessions(self) -> int:
        return len(self._sessions)

    @property
    def n_in_use(self) -> int:
        """Sessions that were used lately."""
        now_s = self._clock()
        return sum(now_s - one.used_s < IDLE_S for one in self._sessions.copy().values())

    @property
    def n_waiting(self) -> int:
        return 0 if self._together is None else self._together.n_asked

    def start(self) -> None:
        self._warm_up()
        self._thread.start()

    def stop(self, patience_s: float = 0.0) -> None:
        """Take no more requests, answer those that came for so long, then stop."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(patience_s)

    def is_open(self, key: Key) -> bool:
        return key in self._sessions

    def open(
        self,
        who: str,
        opening: Opening,
        report: Callable[[Opened | Failure], None],
        lives: Lives = lambda: True,
    ) -> None:
        """Open a session; one that is open keeps its settings."""
        order = partial(self._open, (who, opening.session), opening, report, lives)
        if not self._order(self._openings, _OPENINGS, order):
            report(Failure(Code.SERVER_BUSY()))

    def ask(
        self,
        who: str,
        asked: Asked,
        report: Callable[[Answer], None],
        lives: Lives = lambda: True,
    ) -> None:
        """Translate a sentence; the last report is no ``Change``.

        A session answers one request after the other. Of those that wait, only the newest is
        answered: the client that sent the others has gone. Once ``lives`` returns False, nothing
        more is computed and the last report does not come.
        """
        order = _Order(asked, report, lives)
        if not self._order(self._orders, _ORDERS, partial(self._take, (who, asked.session), order)):
            report(Failure(Code.SERVER_BUSY()))

    def leave(self, who: str, session: str) -> None:
        """Close a session as soon as it is at rest."""
        self._order(self._orders, _ORDERS, partial(self._leave, (who, session)))

    def _order(
        self, orders: deque[Callable[[], None]], most: int, order: Callable[[], None]
    ) -> bool:
        """Queue a request; return False, and queue nothing, if too many wait."""
        with self._changed:
            if len(orders) >= most * self.n_most:
                return False
            orders.append(order)
            self._changed.notify()
            return True

    # on the thread that translates

    def _run(self) -> None:
        try:
            while self._obey_orders():
                together = self._together
                if together is not None and together.n_asked:
                    self.figures["passes"] += 1
                    self.figures["pass_sessions"] += together.n_asked
                    together.compute()
                    self._begin_next()
        except BaseException:  # the top of the thread: a reader of the health sees it
            _log.exception("the engine stopped")
            raise

    def _obey_orders(self) -> bool:
        """Carry out all requests, wait for one if there is nothing to do; return False at the end.

        Of openings only one, since they take longest, and its client waits for a pass.
        """
        with self._changed:
            while not (self._orders or self._openings or self.n_waiting or self._stopping):
                self._changed.wait()
            orders = list(self._orders)
            self._orders.clear()
            if self._openings:
                orders.append(self._openings.popleft())
        for order in orders:
            order()
        return bool(orders or self.n_waiting or not self._stopping)

    def _warm_up(self) -> None:
        card = self._model.weights.card
        settings = TranslationSettings(target_language=next(iter(card.languages)))
        if card.sources:
            settings = replace(settings, source_language=card.sources[0])
        system = self._model.make_system(settings, EventLog(), self._new_model(0))
        translate_unseen(system, "Hello.")
        system.forget()

    def _new_model(self, lane: int) -> CausalModel | None:
        if self._store is None:
            return None
        self._store.book.truncate(lane, 0)
        return CausalModel(self._store, lane)

    def _open(
        self,
        key: Key,
        opening: Opening,
        report: Callable[[Opened | Failure], None],
        lives: Lives,
    ) -> None:
        if not lives():
            return
        session = self._sessions.get(key)
        if session is not None:
            session.used_s = self._clock()
            report(session.opened)
            return
        if not self._free:
            self._close_quiet()
        if not self._free or self._stopping:
            report(Failure(Code.SERVER_STOPPING() if self._stopping else Code.SERVER_FULL()))
            return
        model, lane = self._model, self._free.pop()
        if opening.takes_any_language and opening.target not in model.languages:
            opening = replace(opening, target=next(iter(model.languages)))
        try:
            settings = opening.settings
            system = model.make_system(settings, EventLog(), self._new_model(lane))
            notices = model.resolved(settings).notices
        except (SurtitleError, ValueError, MemoryError, RuntimeError) as error:
            self._free.append(lane)
            report(Failure(message_of(error)))
            return
        opened = Opened(
            model=model.weights.card.name,
            languages=model.languages,
            target=settings.target_language,
            makes_drafts=model.makes_drafts,
            context_rows=system.context_rows,
            notices=(*model.notes, *notices),
        )
        self._sessions[key] = _Session(lane, system, opened, self._clock())
        report(opened)

    def _close_quiet(self) -> None:
        quiet = min(self._sessions.items(), key=lambda item: item[1].used_s)
        if self._clock() - quiet[1].used_s >= self._idle_s and not self._is_busy(quiet[1]):
            self._close(quiet[0])

    def _close(self, key: Key) -> None:
        session = self._sessions.pop(key)
        session.system.forget()
        self._free.append(session.lane)
        self._free.sort(reverse=True)

    def _leave(self, key: Key) -> None:
        session = self._sessions.get(key)
        if session is not None and not self._is_busy(session):
            self._close(key)

    def _is_busy(self, session: _Session) -> bool:
        return self._together is not None and self._together.is_busy(session.lane)

    def _take(self, key: Key, order: _Order) -> None:
        if not order.lives():
            return
        session = self._sessions.get(key)
        if session is None:
            order.report(Failure(Code.SERVER_BUSY()))
            return
        session.used_s = self._clock()
        if session.next is not None:
            session.next.report(Failure(Code.SERVER_BUSY()))
        session.next = order
        if not self._is_busy(session):
            self._begin(session)

    def _begin_next(self) -> None:
        for session in self._sessions.values():
            if session.next is not None and not self._is_busy(session):
                self._begin(session)

    def _begin(self, session: _Session) -> None:
        order, session.next = session.next, None
        assert order is not None
        work = self._work(session, order)
        if self._together is None:
            session.system.model.run(work)
        else:
            self._together.begin(session.lane, work)

    def _work(self, session: _Session, order: _Order) -> Asking[None]:
        """Translate a sentence; its errors do not end the work of others."""
        try:
            yield from self._translate(session, order)
        except BaseException as error:
            if not is_failure(error):
                raise
            if not isinstance(error, SurtitleError):
                _log.warning("a sentence was given up: %s", type(error).__name__)
            self._give_up(session, order.asked.number)
            reason = Code.SERVER_SENTENCE_GIVEN_UP(reason=first_line(error))
            order.report(Failure(reason))
            self.figures["failed"] += 1
        session.used_s = self._clock()

    def _translate(self, session: _Session, order: _Order) -> Asking[None]:
        asked, system = order.asked, session.system
        utterance = self._utterance(session, asked.number)
        n_known = len(utterance.words)
        system.haste = asked.haste
        words, same = asked.sentence.words, n_same(utterance.words, asked.sentence.words)
        for n_words in asked.arrivals:  # several where a session was opened again
            if same < n_words < len(words):
                utterance.set_source(Sentence(words[:n_words], ended=False))
        utterance.set_source(asked.sentence)
        self.figures["words"] += max(0, len(utterance.words) - n_known)
        kept = n_same(asked.caption, utterance.caption)
        if kept < max(len(asked.caption), len(utterance.caption)):
            order.report(Change(kept, utterance.caption[kept:], utterance.n_words_read))
        while (change := (yield from utterance.steps())) is not None:
            order.report(change)
            if not order.lives():
                return
        finished = utterance.finished
        confidence = utterance.confidence if finished else None
        settled = Settled(n_read=utterance.n_words_read, finished=finished, confidence=confidence)
        order.report(settled)
        self.figures["sentences"] += 1

    def _utterance(self, session: _Session, number: int) -> Translated:
        known = session.utterances
        if number not in known:
            while len(known) >= _MOST_UTTERANCES:
                known.popitem(last=False)
            known[number] = session.system.open()
        return known[number]

    def _give_up(self, session: _Session, number: int) -> None:
        """Forget an utterance that could not be computed, and the rows of its lane."""
        utterance = session.utterances.pop(number, None)
        if utterance is not None:
            utterance.give_up()
