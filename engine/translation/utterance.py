"""One utterance: its words, its rows, and the target tokens chosen for it so far."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from engine.layout.registry import make_planner
from engine.layout.rows import Row
from engine.policy import Action, Policy, Progress, hurried
from engine.settings import LayoutSettings
from engine.text.detokenizer import Detokenizer
from engine.text.prompt import Prompt
from engine.text.sentences import cut_full_stops
from engine.translation.captioned import n_same
from engine.translation.own_words import TermWriter
from engine.translation.repetition import is_loop

if TYPE_CHECKING:
    from engine.translation.constraints import Constraints
    from engine.translation.own_words import OwnWords

_MAX_GROWTH, _MAX_EXTRA = 2, 16
"""A write of more tokens than growth x source tokens + extra is a loop and is ended."""

Unit = tuple[int, ...]
"""Tokens that arrive together: a source word, or the end-of-source marker."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A word that goes into the caption untranslated, see ``engine.text.foreign_words``.

    Attributes:
        text: of the word.
        n_units: units of the source before it.
        n_words: translated words of the source before it.
    """

    text: str
    n_units: int
    n_words: int


@dataclass(frozen=True, slots=True)
class Arrived:
    """The source of an utterance as the model reads it.

    Attributes:
        units: its tokens, markers left out; a long word may be several units.
        full_stop: tokens before the end-of-source marker that stand in no word. The caption then
            leaves the full stop out that it would end in.
        passed: words that the model does not read.
        end_alone: the end of the source is a unit of its own, also if the last word is not read.
    """

    units: Sequence[Unit]
    full_stop: Unit = ()
    passed: tuple[Passed, ...] = ()
    end_alone: bool = False


@dataclass(frozen=True, slots=True)
class _WriteEnd:
    """How far source and target were when the last write ended."""

    n_read: int = 0
    n_chosen: int = 0


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far the target was when a unit was read."""

    n_chosen: int
    write_end: _WriteEnd
    word_complete: bool
    exhausted: bool
    write_probability: float | None


class Utterance:
    """Owner of all that belongs to one utterance, but for its rows in the cache.

    ``source`` may change at any time; what depended on a changed word is forgotten then.
    """

    def __init__(
        self,
        number: int,
        prompt: Prompt,
        policy: Policy,
        layout: LayoutSettings,
        decoder: Tokenizer,
        *,
        cuts_loops: bool = True,
    ) -> None:
        self.number = number
        self.prompt = prompt
        self.policy = policy
        self.words: tuple[str, ...] = ()
        self.ended = False
        self.finished = False  # translated to its end
        self.word_complete = False  # wait-k: the newest target word is known to be whole
        self.write_probability: float | None = None  # adaptive: after the newest word; None: unseen
        self.caption = ""
        suppressed = prompt.suppressed(ends_writes=policy.ends_writes)
        self.suppressed = tuple(sorted(suppressed))  # markers that are not chosen
        self._cuts_loops = cuts_loops
        self.constraints: Constraints | None = None
        self.own_words: OwnWords | None = None  # of the terms of a glossary
        self._layout = layout
        self.planner = make_planner(prompt.headers, layout)
        self._decoder = decoder
        self._detokenizer = Detokenizer(decoder)
        self._terms = TermWriter()
        self._units: list[Unit] = []  # read and waiting
        self._marks: list[_Mark] = []
        self._chosen: list[int] = []
        self._begun: list[int] = []  # words that each chosen token begins
        self._log_probabilities: list[float] = []  # of the chosen tokens, in nats
        self.log_probability = 0.0  # of the token that is chosen next
        self._write_end = _WriteEnd()
        self._exhausted = False
        self._full_stop: Unit = ()
        self._held = ""  # full stops that would be the caption's end
        self._passed: tuple[Passed, ...] = ()
        self._n_word_units = 0  # those before an end that is a unit of its own
        self._inserted: list[int] = []  # for those in the caption: tokens chosen before

    @property
    def n_read(self) -> int:
        """Units read."""
        return self.planner.n_words

    @property
    def n_chosen(self) -> int:
        """Target tokens chosen, end-of-write among them."""
        return len(self._chosen)

    @property
    def mean_log_probability(self) -> float | None:
        """How likely the model found the caption's tokens, in nats; None where it wrote none."""
        pairs = zip(self._chosen, self._log_probabilities, strict=True)
        values = [value for id_, value in pairs if id_ not in self.prompt.markers]
        return sum(values) / len(values) if values else None

    @property
    def runs_away(self) -> bool:
        """Tell whether the open write has gone on for longer than any translation would."""
        return is_runaway(len(self._chosen) - self._write_end.n_chosen, self.n_source_tokens)

    @property
    def n_source_tokens(self) -> int:
        """Source tokens that were read since the last write ended."""
        return sum(map(len, self._units[self._write_end.n_read : self.n_read]))

    def loops_with(self, id_: int) -> bool:
        """Tell whether the target would begin to loop if this token came next."""
        if not self._cuts_loops or id_ in self.prompt.markers:
            return False
        return is_loop([*self._target(), id_], self._read_ids())

    def constrained(self, id_: int, logits: NDArray[np.float32]) -> int:
        """Return the token to write in place of the one the model proposes, often the same.

        Args:
            id_: the model's proposal.
            logits: shape (V,); -inf for ids that may not be chosen.
        """
        if self.constraints is None:
            return id_
        return self.constraints.choose(
            id_, logits, self._read_text(), self._written(), self._target()
        )

    def completes_number(self, id_: int) -> bool:
        """Tell whether the caption stops inside a number that this token goes on with."""
        return self.constraints is not None and self.constraints.completes_number(
            id_, self._read_text(), self._written()
        )

    def _written(self) -> str:
        """Return the caption with what is held back of it."""
        return self.caption + self._held + self._terms.held

    def _read_text(self) -> str:
        """Return the text of the source as far as it was read."""
        return self._decoder.decode(self._read_ids(), skip_special_tokens=True)

    def _read_ids(self) -> list[int]:
        """Return the tokens of the source as far as it was read."""
        return [one for unit in self._units[: self.n_read] for one in unit]

    def _target(self) -> list[int]:
        """Return the chosen tokens without markers."""
        return [one for one in self._chosen if one not in self.prompt.markers]

    @property
    def source_ended(self) -> bool:
        """Tell whether everything was read, the marker too."""
        return self.ended and self.n_read == len(self._units)

    @property
    def can_read(self) -> bool:
        """Tell whether a unit waits to be read."""
        return self.n_read < len(self._units)

    def next_action(self, haste: int = 1) -> Action:
        """Ask the policy, with steps that are ``haste`` times as large."""
        return hurried(self.policy, haste).next_action(
            Progress(
                n_read=self.n_read,
                n_written=sum(self._begun),
                n_read_at_write_end=self._write_end.n_read,
                exhausted=self._exhausted,
                source_ended=self.source_ended,
                write_probability=self.write_probability,
            )
        )

    def set_source(self, words: Sequence[str], arrived: Arrived, *, ended: bool) -> int | None:
        """Replace the source by these words; forget what depended on a word that changed.

        Args:
            words: the text.
            arrived: what the model reads of it.
            ended: no word follows. The end-of-source marker then comes with the last word, or alone
                where that word was read before the end was known, or ``arrived`` says so.

        Returns:
            how many rows of this utterance are still valid, or None where none was lost.
        """
        self.words, self.ended, self._full_stop = tuple(words), ended, arrived.full_stop
        read, units = self._units[: self.n_read], arrived.units
        end = (*arrived.full_stop, self.prompt.end_of_source)
        is_empty = not units and bool(arrived.passed)  # nothing is there to be translated
        ends = ended and not is_empty
        wanted = with_end(units, read, end, alone=arrived.end_alone) if ends else list(units)
        same = n_same(read, wanted)
        passed, self._passed = self._passed, arrived.passed
        n_kept = n_same(passed[: len(self._inserted)], self._passed)
        if n_kept < len(self._inserted):
            same = max(min(same, passed[n_kept].n_units, self.n_read - 1), 0)
            lost = True
        else:
            lost = same < self.n_read
        self._units, self._n_word_units = wanted, len(units)
        if not lost:
            self.finished = self.finished and self.n_read > 0  # one that was skipped counts again
            return None
        if same < max(self.planner.n_evicted_words, self.n_read == 0):
            return self._begin_anew()
        return self._rewind(same)

    def read(self) -> None:
        """Read the next unit."""
        unit = self._units[self.n_read]
        self._marks.append(
            _Mark(
                len(self._chosen),
                self._write_end,
                self.word_complete,
                self._exhausted,
                self.write_probability,
            )
        )
        self.planner.read(unit)
        self.word_complete = self._exhausted = False
        self.write_probability = None

    def choose(self, id_: int, *, n_begun: int, asked: bool = True) -> str:
        """Take the token that the last write predicted; return the text that became certain.

        Args:
            id_: the token.
            n_begun: words that it begins; the first token with a text begins one in any case.
            asked: whether the model chose it; else no row has it as its label.
        """
        self.planner.choose(id_, asked=asked)
        self._chosen.append(id_)
        self._log_probabilities.append(self.log_probability)
        self.word_complete = False
        if id_ in self.prompt.markers:
            self._begun.append(0)
            self._write_end = _WriteEnd(self.n_read, len(self._chosen))
            self.finished = self.source_ended
            text = self._detokenizer.flush() if self.finished else ""
            text = self._with_terms(text, self.n_read, ends_word=True, is_last=self.finished)
        else:
            fed = self._detokenizer.feed(id_)
            n_begun = n_begun or int(bool(fed) and not any(self._begun))
            text = (self._insert(sum(self._begun)) if n_begun else "") + fed
            text = self._with_terms(text, self.n_read)
            self._begun.append(n_begun)
        if self._full_stop and self.source_ended:
            text, self._held = cut_full_stops(self._held + text)
            if self.finished and len(self._held) > 1:  # an ellipsis
                text += self._held
        self.caption += text
        return text + self.pass_rest() if self.finished else text

    def _with_terms(
        self, text: str, n_read: int, *, ends_word: bool = False, is_last: bool = False
    ) -> str:
        """Return the text to show for a text of the model, when so many units were read."""
        if self.own_words is None:
            return text
        ids = [one for unit in self._units[:n_read] for one in unit]
        heard = self.own_words.heard(self._decoder.decode(ids, skip_special_tokens=True))
        shown = self._terms.feed(text, heard, ends_word=ends_word)
        return shown + self._terms.flush(heard) if is_last else shown

    def pass_rest(self) -> str:
        """Put the words that are not translated at the caption's end; return what was added."""
        rest = [one.text for one in self._passed[len(self._inserted) :]]
        self._inserted += [len(self._chosen)] * len(rest)
        text = " ".join(([""] if self.caption and rest else []) + rest)
        self.caption += text
        return text

    @property
    def is_untranslatable(self) -> bool:
        """Tell whether an ended source has words to be passed on, and no other."""
        return self.ended and not self._units and bool(self._passed)

    def _insert(self, n_words: int) -> str:
        """Return the words that stand before the next one of the caption, and note them."""
        texts = []
        for one in self._passed[len(self._inserted) :]:
            is_followed = one.n_units < min(self.n_read, self._n_word_units)
            if one.n_words > n_words or not is_followed:
                break  # what nothing follows stands at the end of the caption
            texts.append(one.text)
        self._inserted += [len(self._chosen) - 1] * len(texts)
        return self._beside_caption(texts, begins=n_words == 0)

    @staticmethod
    def _beside_caption(texts: Sequence[str], *, begins: bool) -> str:
        """Part words by blanks; the caption's first word brings none with it."""
        return "".join(f"{text} " if begins else f" {text}" for text in texts)

    def exhaust(self) -> None:
        """Note that the target has nothing to add before more source is read."""
        self._exhausted = self.word_complete = True

    def fed_rows(self) -> list[Row]:
        """Copy the rows that were fed, in arrival order."""
        return list(self.planner.rows[: self.planner.n_fed])

    def _begin_anew(self) -> int:
        """Forget everything: what a changed word stood among is no longer cached."""
        self.planner = make_planner(self.prompt.headers, self._layout)
        self._marks.clear()
        self._chosen.clear()
        self._begun.clear()
        self._log_probabilities.clear()
        self._write_end = _WriteEnd()
        self.word_complete = self._exhausted = self.finished = False
        self.write_probability = None
        self._detokenizer = Detokenizer(self._decoder)
        self._terms = TermWriter()
        self._inserted.clear()
        self.caption = self._held = ""
        return 0

    def _rewind(self, unit: int) -> int:
        mark = self._marks[unit]
        del self._marks[unit:]
        del self._chosen[mark.n_chosen :]
        del self._begun[mark.n_chosen :]
        del self._log_probabilities[mark.n_chosen :]
        self._write_end = mark.write_end
        # what made the policy READ stands again: nothing is asked before the next word is read
        self.word_complete, self._exhausted = mark.word_complete, mark.exhausted
        self.write_probability = mark.write_probability
        self.finished = False
        self._held = ""
        self._detokenizer = Detokenizer(self._decoder)
        self._terms = TermWriter()
        self._inserted = [n for n in self._inserted if n < mark.n_chosen]
        self.caption = ""
        for n, id_ in enumerate(self._chosen):
            here = [p.text for p, at in zip(self._passed, self._inserted, strict=False) if at == n]
            text = self._beside_caption(here, begins=not self._written())
            is_marker = id_ in self.prompt.markers
            text += "" if is_marker else self._detokenizer.feed(id_)
            n_read = bisect_right(self._marks, n, key=lambda mark: mark.n_chosen)
            self.caption += self._with_terms(text, n_read, ends_word=is_marker)
        return self.planner.rewind(unit)


def is_runaway(n_chosen: int, n_source: int) -> bool:
    """Tell whether a write is longer than any translation of so many source tokens would be."""
    return n_chosen > runaway_length(n_source)


def runaway_length(n_source: int) -> int:
    """Return how long a translation of so many source tokens may be at most."""
    return _MAX_GROWTH * n_source + _MAX_EXTRA


def with_end(units: Sequence[Unit], read: Sequence[Unit], end: Unit, *, alone: bool) -> list[Unit]:
    """Put what ends the source behind the last unit, or alone; always so where all were read.

    It is empty for a model that has no end-of-source marker, where no full stop is missing.
    """
    if not end:
        return list(units)
    if alone or not units or list(read[: len(units)]) == list(units):
        return [*units, end]
    return [*units[:-1], (*units[-1], *end)]
