"""Words in, captions out: policy, planner and model meet here only.

In slots every token is fed exactly once. Rows that an edit made invalid are truncated; a wait-k
probe, and a look after which an adaptive policy reads on, are taken back and counted apart; only
going back to an earlier utterance computes rows again, which is counted too.
"""

import math
from collections.abc import Sequence
from typing import cast

from engine.events import Confidence
from engine.layout.rows import Row
from engine.metrics.event_log import EventLog
from engine.policy import Action
from engine.runtime.causal_model import (
    AnyModel,
    Asking,
    CausalModel,
    log_probability,
    probability_of_others,
)
from engine.runtime.weights import Weights
from engine.settings import TranslationSettings
from engine.translation.base import AnySystem, Conversation, OnConversation
from engine.translation.captioned import Change
from engine.translation.log_events import log_cut, log_end, log_fed
from engine.translation.utterance import Utterance

_FULL = 0.9
"""Share of the positions a model was trained for, and of the cache, at which phases are evicted."""


class Translator(OnConversation[Utterance]):
    """Translate utterances with one model and one cache.

    The rows of the system prompt stay cached; the rest of the cache belongs to one utterance at a
    time, so memory does not grow.
    """

    def __init__(
        self,
        weights: Weights,
        settings: TranslationSettings,
        *,
        capacity: int = 2048,
        log: EventLog | None = None,
        model: AnyModel | None = None,
    ) -> None:
        """See ``Conversation``."""
        super().__init__(
            Conversation("slots", weights, settings, capacity=capacity, log=log, model=model)
        )
        self._log = self.conversation.log
        self._head = weights.head  # says when to write
        self._cached: Utterance | None = None  # whose rows the cache holds

    @property
    def model(self) -> CausalModel:
        """The network."""
        return cast("CausalModel", self.conversation.model)

    def open(self) -> Utterance:
        """Open an utterance with the current settings."""
        return Utterance(self.conversation, self.own_words())

    def _beside(self, settings: TranslationSettings, capacity: int) -> AnySystem:
        weights = cast("Weights", self.conversation.weights)
        return cast("AnySystem", Translator(weights, settings, capacity=capacity))

    def _keep(self, utterance: Utterance, n_rows: int) -> None:
        if self._cached is utterance:
            self.model.truncate(n_rows)

    def steps(self, utterance: Utterance) -> Asking[Change | None]:
        """See ``System.steps``."""
        if utterance.ended and utterance.source.is_untranslatable and not utterance.finished:
            return self._pass_all(utterance)
        change: Change | None = None
        while change is None and not utterance.finished:
            action = utterance.next_action(self.conversation.haste)
            if action is Action.WRITE:
                change = yield from self._write(utterance)
            elif action is Action.LOOK:
                change = yield from self._look(utterance)
            elif self._word_may_go_on(utterance):
                change = yield from self._probe(utterance)
            elif utterance.can_read:
                utterance.read()
                self._log.write("read", utterance=utterance.number, n_read=utterance.n_read)
            else:
                return None
        return change

    def _pass_all(self, utterance: Utterance) -> Change | None:
        """End an utterance that has nothing for the model, with its words as its caption."""
        kept = len(utterance.caption)
        text = utterance.pass_rest()
        utterance.finished = True
        self._log.write("committed", utterance=utterance.number, text=text, n_read=0)
        log_end(self._log, self.model, self.counters, utterance.number)
        return Change(kept, text, 0) if text else None

    def confidence(self, utterance: Utterance) -> Confidence | None:
        """Return how sure the model is of a caption; None for a model that was not calibrated."""
        calibration = self.conversation.weights.card.calibration
        mean = utterance.mean_log_probability
        return None if calibration is None or mean is None else calibration.confidence(mean)

    def give_up(self, utterance: Utterance) -> None:
        """Leave an utterance as it is after it could not be computed, and empty the cache."""
        utterance.finished = True
        self._cached = None
        self.conversation.forget()

    def _word_may_go_on(self, utterance: Utterance) -> bool:
        """Return whether wait-k must still learn if its newest target word is whole."""
        return not (
            utterance.policy.ends_writes
            or utterance.state.word_complete
            or utterance.n_chosen == 0
            or utterance.runs_away
        )

    def _probe(self, utterance: Utterance) -> Asking[Change | None]:
        """Feed the newest target token to see whether its word goes on; take it back if not."""
        id_ = yield from self._predict(utterance)
        if self.conversation.words_begun[id_] or id_ == utterance.prompt.end_of_target:
            self._take_back(utterance)
            utterance.state.word_complete = True
        elif utterance.loops_with(id_):
            log_cut(self._log, self.counters, utterance.number, loops=True)
            self._take_back(utterance)
            utterance.exhaust()
        else:
            return self._choose(utterance, id_)
        return None

    def _look(self, utterance: Utterance) -> Asking[Change | None]:
        """Ask the model whether it would write.

        Its first token costs no further pass then, but in layouts that ask the source.
        """
        id_: int | None = None
        if utterance.planner.end_of_read is None:
            id_ = yield from self._predict(utterance, looks=True)
        else:
            yield from self._ask_source(utterance)
        likely = self._write_probability(utterance)
        utterance.state.write_probability = likely
        action = utterance.next_action(self.conversation.haste)
        self._log.write(
            "decided",
            utterance=utterance.number,
            n_read=utterance.n_read,
            write_probability=likely,
            action=action.value,
        )
        if action is Action.WRITE:
            return (yield from self._write(utterance, id_))
        self._take_back(utterance)
        return None

    def _ask_source(self, utterance: Utterance) -> Asking[None]:
        """Feed the source that was read, if there is any new, in a pass of its own."""
        yield from self._attach(utterance)
        rows = utterance.planner.look()
        if rows:
            yield from self._feed(utterance, rows, (), keep_states=self._head is not None)

    def _write_probability(self, utterance: Utterance) -> float:
        """Return how likely a write is, after a look.

        By the head of the model, from the newest source row or the row that is asked; without one
        it is as likely as any token but end-of-write, or as the end of the read in layouts that ask
        the source. After an edit the source row may have been fed without a look, while there was a
        backlog: then more is read.
        """
        end_of_read, index = utterance.planner.end_of_read, utterance.planner.newest_source
        if self._head is None and end_of_read is None:
            return probability_of_others(self.model.logits(), utterance.prompt.end_of_write)
        if self._head is not None and self._head.reads_target and end_of_read is None:
            return self._head.probability(self.model.states()[-1])
        if index is None:
            return 0.0
        if self._head is None:
            return math.exp(log_probability(self.model.logits(), cast("int", end_of_read)))
        return self._head.probability(self.model.states()[index])

    def _write(self, utterance: Utterance, id_: int | None = None) -> Asking[Change | None]:
        """Take the next token, which a look may have predicted, unless the write must end here."""
        if id_ is None:
            id_ = yield from self._predict(utterance)
        loops = utterance.loops_with(id_)
        forced = utterance.is_cut_before(id_, loops=loops)
        if forced:
            log_cut(self._log, self.counters, utterance.number, loops=loops)
            id_ = self._terminator(utterance)
        if id_ == utterance.prompt.end_of_target and not (
            utterance.source_ended or utterance.policy.ends_writes
        ):
            self._take_back(utterance)
            utterance.exhaust()
        else:
            return self._choose(utterance, id_, asked=not forced)
        return None

    def _choose(self, utterance: Utterance, id_: int, *, asked: bool = True) -> Change | None:
        kept, n_begun = len(utterance.caption), self.conversation.words_begun[id_]
        text = utterance.choose(id_, n_begun=n_begun, asked=asked)
        number, n_read = utterance.number, utterance.n_read
        self._log.write("written", utterance=number, id=id_, n_read=n_read)
        if text:
            self._log.write("committed", utterance=number, text=text, n_read=n_read)
        if utterance.finished:
            mean = utterance.mean_log_probability or 0.0
            log_end(self._log, self.model, self.counters, number, mean_log_probability=mean)
        return Change(kept, text, utterance.n_words_read) if text else None

    def _take_back(self, utterance: Utterance) -> None:
        n_fed = utterance.planner.n_fed
        self.model.truncate(utterance.planner.take_back())
        n_rows = n_fed - utterance.planner.n_fed
        self.counters.probes += n_rows
        self._log.write("probe", utterance=utterance.number, n_rows=n_rows)

    def _predict(self, utterance: Utterance, *, looks: bool = False) -> Asking[int]:
        """Feed what the planner has ready; return the next id."""
        yield from self._attach(utterance)
        planner = utterance.planner
        n_again = planner.n_again
        rows = planner.look() if looks else planner.write()
        if n_again:  # a layout that recomputes
            self.model.truncate(planner.n_fed - len(rows))
            self.counters.tokens_recomputed += n_again
        keep_states = looks and self._head is not None
        proposed = yield from self._feed(
            utterance, rows, utterance.suppressed, keep_states=keep_states, n_again=n_again
        )
        logits = self.model.logits()
        id_ = utterance.constrained(proposed, logits)
        utterance.log_probability = log_probability(logits, id_)
        return id_

    def _feed(
        self,
        utterance: Utterance,
        rows: Sequence[Row],
        suppressed: Sequence[int],
        *,
        keep_states: bool,
        n_again: int = 0,
    ) -> Asking[int]:
        """Compute rows of an utterance and note that they are cached; return the likeliest id."""
        id_ = yield from self.model.ask_id(rows, suppressed, keep_states=keep_states)
        self.conversation.cached_system = utterance.prompt.headers.system
        log_fed(self._log, self.model, utterance.number, rows, n_again=n_again)
        self._make_room(utterance)
        return id_

    def _make_room(self, utterance: Utterance) -> None:
        """Forget the oldest phases of an utterance that nears the end of positions or of the cache.

        Down to half, so that it happens seldom: every time the cached keys are turned and rounded.
        """
        planner, model = utterance.planner, self.model
        if not self._is_fuller(utterance, _FULL):
            return
        while self._is_fuller(utterance, _FULL / 2):
            gone = planner.evict()
            if gone is None:
                return
            model.evict(gone)
            n_rows = gone.stop - gone.start
            number, distance = utterance.number, gone.distance
            self._log.write("evicted", utterance=number, n_rows=n_rows, distance=distance)

    def _is_fuller(self, utterance: Utterance, share: float) -> bool:
        model = self.model
        return (
            utterance.planner.extent > share * model.max_positions
            or model.n_rows > share * model.capacity
        )

    def _attach(self, utterance: Utterance) -> Asking[None]:
        """Make the cache hold this utterance's rows, behind the system prompt's."""
        if self._cached is utterance:
            return
        self._cached = utterance
        n_system = self.conversation.keep_system(utterance.prompt.headers)
        if utterance.planner.n_fed == 0:
            utterance.planner.skip(n_system)
            return
        again = utterance.fed_rows()[n_system:]
        if again:
            yield from self.model.ask(again)
            self.counters.tokens_recomputed += len(again)
            log_fed(self._log, self.model, utterance.number, again, n_again=len(again))

    def _terminator(self, utterance: Utterance) -> int:
        prompt = utterance.prompt
        return prompt.end_of_write if utterance.policy.ends_writes else prompt.end_of_target
