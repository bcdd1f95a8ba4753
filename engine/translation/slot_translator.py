"""Words in, captions out: policy, planner and model meet here only.

In slots every token is fed exactly once. Rows that an edit made invalid are truncated; a wait-k
probe is taken back and counted apart; only going back to an earlier utterance computes rows again,
which is counted too.
"""

from collections.abc import Sequence

from engine.layout.rows import Row
from engine.policy import Action
from engine.runtime.causal_model import Asking, CausalModel, log_probability
from engine.runtime.weights import Weights
from engine.translation.captioner import Change
from engine.translation.conversation import Conversation
from engine.translation.utterance import Utterance

_FULL = 0.9
"""Share of the positions a model was trained for, and of the cache, at which phases are evicted."""


class Translator(Conversation):
    """Translate utterances with one model and one cache.

    The rows of the system prompt stay cached; the rest of the cache belongs to one utterance at a
    time, so memory does not grow.
    """

    system = "slots"
    weights: Weights
    model: CausalModel
    _cached: Utterance | None = None  # whose rows the cache holds
    _keeps_states = False  # of the rows of each pass: a kind of research reads them

    def open(self) -> Utterance:
        return Utterance(self)

    def keep_rows(self, utterance: Utterance, n_rows: int) -> None:
        """Drop what the cache holds of an utterance behind its first rows, if it does."""
        if self._cached is utterance:
            self.model.truncate(n_rows)

    def forget(self) -> None:
        self._cached = None
        super().forget()

    def steps(self, utterance: Utterance) -> Asking[Change | None]:
        if utterance.ended and utterance.source.is_untranslatable and not utterance.finished:
            return self._pass_all(utterance)
        change: Change | None = None
        while change is None and not utterance.finished:
            action = utterance.next_action(self.haste)
            if action is Action.WRITE:
                change = yield from self._write(utterance)
            elif self._word_may_go_on(utterance):
                change = yield from self._probe(utterance)
            elif utterance.can_read:
                utterance.read()
                self.log.write("read", utterance=utterance.number, n_read=utterance.n_read)
            else:
                return None
        return change

    def _pass_all(self, utterance: Utterance) -> Change | None:
        """End an utterance that has nothing for the model, with its words as its caption."""
        kept = len(utterance.caption)
        text = utterance.pass_rest()
        utterance.finished = True
        self.log.write("committed", utterance=utterance.number, text=text, n_read=0)
        self.log_end(utterance.number)
        return Change(kept, text, 0) if text else None

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
        if self.words_begun[id_] or id_ == utterance.prompt.end_of_target:
            self._take_back(utterance)
            utterance.state.word_complete = True
        elif utterance.loops_with(id_):
            self.log_cut(utterance.number, loops=True)
            self._take_back(utterance)
            utterance.exhaust()
        else:
            return self._choose(utterance, id_)
        return None

    def _write(self, utterance: Utterance, id_: int | None = None) -> Asking[Change | None]:
        """Take the next token, which may have been predicted, unless the write must end here."""
        if id_ is None:
            id_ = yield from self._predict(utterance)
        loops = utterance.loops_with(id_)
        forced = utterance.is_cut_before(id_, loops=loops)
        if forced:
            self.log_cut(utterance.number, loops=loops)
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
        kept, n_begun = len(utterance.caption), self.words_begun[id_]
        text = utterance.choose(id_, n_begun=n_begun, asked=asked)
        number, n_read = utterance.number, utterance.n_read
        self.log.write("written", utterance=number, id=id_, n_read=n_read)
        if text:
            self.log.write("committed", utterance=number, text=text, n_read=n_read)
        if utterance.finished:
            self.log_end(number, utterance.mean_log_probability)
        return Change(kept, text, utterance.n_words_read) if text else None

    def _take_back(self, utterance: Utterance, *, keeps_time: bool = False) -> None:
        n_fed = utterance.planner.n_fed
        self.model.truncate(utterance.planner.take_back(keeps_time=keeps_time))
        n_rows = n_fed - utterance.planner.n_fed
        self.counters.probes += n_rows
        self.log.write("probe", utterance=utterance.number, n_rows=n_rows)

    def _predict(self, utterance: Utterance) -> Asking[int]:
        yield from self._attach(utterance)
        planner = utterance.planner
        n_again = planner.n_again
        rows = planner.write()
        if n_again:  # a layout that recomputes
            self.model.truncate(planner.n_fed - len(rows))
            self.counters.tokens_recomputed += n_again
        proposed = yield from self._feed(utterance, rows, utterance.suppressed, n_again=n_again)
        logits = self.model.logits()
        id_ = utterance.constrained(proposed, logits)
        utterance.log_probability = log_probability(logits, id_)
        return id_

    def _feed(
        self, utterance: Utterance, rows: Sequence[Row], suppressed: Sequence[int], n_again: int = 0
    ) -> Asking[int]:
        id_ = yield from self.model.ask_id(rows, suppressed, keep_states=self._keeps_states)
        self.cached_system = utterance.prompt.headers.system
        self.log_fed(utterance.number, rows, n_again=n_again)
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
            self.log.write("evicted", utterance=number, n_rows=n_rows, distance=distance)

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
        n_system = self.keep_system(utterance.prompt.headers)
        if utterance.planner.n_fed == 0:
            utterance.planner.skip(n_system)
            return
        again = utterance.fed_rows()[n_system:]
        if again:
            yield from self.model.ask(again)
            self.counters.tokens_recomputed += len(again)
            self.log_fed(utterance.number, again, n_again=len(again))

    def _terminator(self, utterance: Utterance) -> int:
        prompt = utterance.prompt
        return prompt.end_of_write if utterance.policy.ends_writes else prompt.end_of_target
