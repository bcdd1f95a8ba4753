"""One utterance in slots: its words, its rows, and the target tokens chosen for it so far."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from engine.events import n_same
from engine.layout.planner import make_planner
from engine.layout.rows import Row
from engine.policy import Action, Progress, hurried
from engine.text.sentences import CAPTION_END, SENTENCE_END, cut_full_stops
from engine.text.tokenizer import Detokenizer
from engine.translation.own_words import TermWriter
from engine.translation.translated import SourceText, Translated, is_runaway

if TYPE_CHECKING:
    from engine.events import Confidence
    from engine.runtime.causal_model import Asking
    from engine.translation.captioner import Change
    from engine.translation.slot_translator import Translator

_MAX_ENDS_REFUSED = 8
"""Ends of a caption that are refused, since its source ends a sentence and it does not."""

_END_MALUS = 3.0
"""Nats by which such an end may be likelier than what is written in its place.

Of 40 captions that would have ended early, those that went on well were below, and those that went
on badly above: a title in quotation marks, a list.
"""


@dataclass(slots=True)
class CaptionText:
    """The target of an utterance, and where its policy stands.

    Attributes:
        text: committed.
        held: full stops that would be its end.
        chosen: tokens, markers among them.
        begun: words that each of them begins.
        log_probabilities: of each, in nats.
        inserted: for each word that is passed on, tokens chosen before it.
        n_read_at_write_end: units read when the last write ended, and ``n_at_write_end`` tokens
            chosen.
        word_complete: wait-k: the newest target word is known to be whole.
        exhausted: the target has nothing to add before more source is read.
        n_ends_refused: ends that came too early.
    """

    text: str = ""
    held: str = ""
    chosen: list[int] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)
    log_probabilities: list[float] = field(default_factory=list)
    inserted: list[int] = field(default_factory=list)
    n_read_at_write_end: int = 0
    n_at_write_end: int = 0
    word_complete: bool = False
    exhausted: bool = False
    n_ends_refused: int = 0

    def copy(self) -> Self:
        return replace(
            self,
            chosen=[*self.chosen],
            begun=[*self.begun],
            log_probabilities=[*self.log_probabilities],
            inserted=[*self.inserted],
        )


class Utterance(Translated):
    """Owner of all that belongs to one utterance, but for its rows in the cache.

    ``log_probability``: of the token that is chosen next, in nats.
    """

    _by: "Translator"

    def __init__(self, now: "Translator") -> None:
        super().__init__(now, ends_writes=now.policy.ends_writes)
        self.log_probability = 0.0
        self._begin_anew()

    def _begin_anew(self) -> int:
        """Forget everything: rows beside a word that changed are no longer cached."""
        self.planner = make_planner(self.prompt.headers, self.layout)
        self.state = CaptionText()
        self._marks: list[tuple[CaptionText, TermWriter]] = []  # when each unit was read
        self.detokenizer, self.terms = Detokenizer(self._decoder), TermWriter()
        self.finished = False
        return 0

    @property
    def caption(self) -> str:
        return self.state.text

    @property
    def n_read(self) -> int:
        return self.planner.n_words

    @property
    def n_chosen(self) -> int:
        """Target tokens chosen, end-of-write among them."""
        return len(self.state.chosen)

    @property
    def mean_log_probability(self) -> float | None:
        """How likely the model found the caption's tokens, in nats; None where it wrote none."""
        pairs = zip(self.state.chosen, self.state.log_probabilities, strict=True)
        values = [value for id_, value in pairs if id_ not in self.prompt.markers]
        return sum(values) / len(values) if values else None

    @property
    def runs_away(self) -> bool:
        return is_runaway(self.n_chosen - self.state.n_at_write_end, self.n_source_tokens)

    @property
    def n_source_tokens(self) -> int:
        """Source tokens that were read since the last write ended."""
        return sum(map(len, self.source.units[self.state.n_read_at_write_end : self.n_read]))

    @property
    def target(self) -> list[int]:
        return [id_ for id_ in self.state.chosen if id_ not in self.prompt.markers]

    def _written(self) -> str:
        return self.state.text + self.state.held + self.terms.held

    def constrained(self, id_: int, logits: NDArray[np.float32]) -> int:
        """Return the token to write, as in every system, but no end that is too early."""
        if self._constraints is not None and id_ in self.prompt.markers and self._ends_early():
            others = logits.copy()
            others[list(self.prompt.markers)] = -np.inf
            other = int(others.argmax())
            if logits[other] > logits[id_] - _END_MALUS:
                self.state.n_ends_refused += 1
                id_, logits = other, others
        return super().constrained(id_, logits)

    def _ends_early(self) -> bool:
        """Return whether the caption would end within a sentence, though its source ends one.

        A model may take the end of a write for the end of all: ``Der Umsatz ist``.
        """
        return (
            self.source_ended
            and self.state.n_ends_refused < _MAX_ENDS_REFUSED
            and SENTENCE_END.search(self._heard()) is not None
            and CAPTION_END.search(self._written()) is None
        )

    @property
    def progress(self) -> Progress:
        return Progress(
            n_read=self.n_read,
            n_written=sum(self.state.begun),
            n_read_at_write_end=self.state.n_read_at_write_end,
            n_waiting=self.n_waiting,
            exhausted=self.state.exhausted,
            source_ended=self.source_ended,
        )

    def next_action(self, haste: int = 1) -> Action:
        """Ask the policy, with steps that are ``haste`` times as large."""
        return hurried(self.policy, haste).next_action(self.progress)

    def steps(self) -> "Asking[Change | None]":
        return self._by.steps(self)

    @property
    def confidence(self) -> "Confidence | None":
        calibration, mean = self._by.weights.card.calibration, self.mean_log_probability
        return None if calibration is None or mean is None else calibration.confidence(mean)

    def take_source(self, source: SourceText) -> int | None:
        before, self.source = self.source, source
        same = n_same(before.units[: self.n_read], source.units)
        n_inserted = len(self.state.inserted)
        n_kept = n_same(before.passed[:n_inserted], source.passed)
        if n_kept < n_inserted:
            same = max(min(same, before.passed[n_kept].n_units, self.n_read - 1), 0)
        elif same == self.n_read:
            self.finished = self.finished and self.n_read > 0  # one that was skipped counts again
            return None
        if same < max(self.planner.n_evicted_words, self.n_read == 0):
            n_rows = self._begin_anew()
        else:
            n_rows = self._rewind(same)
        self._by.keep_rows(self, n_rows)
        return n_rows

    def _rewind(self, n_units: int) -> int:
        """Go back to before a unit was read.

        The policy has chosen READ again: nothing is asked before the next word is read.
        """
        self.state, self.terms = self._marks[n_units]
        del self._marks[n_units:]
        self.finished = False
        self.detokenizer = Detokenizer(self._decoder)
        for id_ in self.target:
            self.detokenizer.feed(id_)
        return self.planner.rewind(n_units)

    def read(self) -> None:
        unit = self.source.units[self.n_read]
        self._marks.append((self.state.copy(), deepcopy(self.terms)))
        self.planner.read(unit)
        self.state.word_complete = self.state.exhausted = False

    def choose(self, id_: int, *, n_begun: int, asked: bool = True) -> str:
        """Take the token that the last write predicted; return the text that became certain.

        Args:
            n_begun: words that it begins; the first token with a text begins one in any case.
            asked: whether the model chose it; else no row has it as its label.
        """
        state = self.state
        self.planner.choose(id_, asked=asked)
        state.chosen.append(id_)
        state.log_probabilities.append(self.log_probability)
        state.word_complete = False
        is_marker = id_ in self.prompt.markers
        if is_marker:
            state.begun.append(0)
            state.n_read_at_write_end, state.n_at_write_end = self.n_read, self.n_chosen
            self.finished = self.source_ended
            text = self.detokenizer.flush() if self.finished else ""
        else:
            fed = self.detokenizer.feed(id_)
            n_begun = n_begun or int(bool(fed) and not any(state.begun))
            text = (self._insert(sum(state.begun)) if n_begun else "") + fed
            state.begun.append(n_begun)
        text = self._with_terms(text, ends_word=is_marker, is_last=self.finished)
        if self.source.full_stop and self.source_ended:
            text, state.held = cut_full_stops(state.held + text)
            if self.finished and len(state.held) > 1:  # an ellipsis
                text += state.held
        state.text += text
        return text + self.pass_rest() if self.finished else text

    def pass_rest(self) -> str:
        """Put the words that are not translated at the caption's end; return what was added."""
        state = self.state
        rest = [one.text for one in self.source.passed[len(state.inserted) :]]
        state.inserted += [self.n_chosen] * len(rest)
        text = " ".join(([""] if state.text and rest else []) + rest)
        state.text += text
        return text

    def _insert(self, n_words: int) -> str:
        """Return the words that stand before the next one of the caption, and note them."""
        texts = []
        for one in self.source.passed[len(self.state.inserted) :]:
            is_followed = one.n_units < min(self.n_read, self.source.n_word_units)
            if one.n_words > n_words or not is_followed:
                break  # what nothing follows stands at the end of the caption
            texts.append(one.text)
        self.state.inserted += [self.n_chosen - 1] * len(texts)
        # the caption's first word brings no blank with it
        return "".join(f" {text}" if n_words else f"{text} " for text in texts)

    def exhaust(self) -> None:
        """Note that the target has nothing to add before more source is read."""
        self.state.exhausted = self.state.word_complete = True

    def fed_rows(self) -> Sequence[Row]:
        """Copy the rows that were fed, in arrival order."""
        return list(self.planner.rows[: self.planner.n_fed])
