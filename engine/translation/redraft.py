"""One utterance that is translated again and again: its words, its drafts, what is committed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.policy import Action, Policy, Progress, hurried
from engine.settings import LayoutSettings
from engine.text.detokenizer import Detokenizer
from engine.text.prompt import Prompt
from engine.translation.captioned import n_same
from engine.translation.constraints import Constraints
from engine.translation.own_words import OwnWords, TermWriter
from engine.translation.repetition import is_loop
from engine.translation.utterance import Arrived, Unit, is_runaway, with_end


@dataclass(slots=True, eq=False)
class Redraft:
    """One utterance that is translated again and again.

    Attributes:
        caption: what is committed.
        committed: its ids.
        draft: ids of the newest draft, what is committed among them.
        earlier: the newest drafts that must agree, ``draft`` the last of them.
        mean_log_probability: how likely the model found the newest draft's tokens, in nats; None
            where it is not measured.
        n_read: units the newest draft may use.
        n_drafted: units the newest draft used.
        n_source: rows before its assistant header.
        fed: target ids the newest draft fed.
        full_stop: ids behind the last word that stand in no word.
        passed: words that no draft translates; they stand at the end of the caption.
        constraints: rules of the drafts, or None.
        own_words: of the terms of a glossary, or None.
        terms: writes their translations.
    """

    number: int
    prompt: Prompt
    policy: Policy
    layout: LayoutSettings
    detokenizer: Detokenizer
    cuts_loops: bool = True
    words: tuple[str, ...] = ()
    ended: bool = False
    full_stop: Unit = ()
    passed: tuple[str, ...] = ()
    constraints: Constraints | None = None
    own_words: OwnWords | None = None
    terms: TermWriter = field(default_factory=TermWriter)
    finished: bool = False
    caption: str = ""
    units: list[Unit] = field(default_factory=list)
    committed: list[int] = field(default_factory=list)
    draft: list[int] | None = None
    earlier: list[list[int]] = field(default_factory=list)
    mean_log_probability: float | None = None
    n_read: int = 0
    n_drafted: int = 0
    n_source: int = 0
    fed: list[int] = field(default_factory=list)

    @property
    def suppressed(self) -> tuple[int, ...]:
        """Markers that are not chosen."""
        return tuple(sorted(self.prompt.suppressed(ends_writes=False)))

    @property
    def marker(self) -> int | None:
        """What ends the source; nothing where the model has no token for it."""
        prompt = self.prompt
        return None if prompt.end_of_source == prompt.end_of_target else prompt.end_of_source

    @property
    def source_ended(self) -> bool:
        """Tell whether everything was read, the marker too."""
        return self.ended and self.n_read == len(self.units)

    def draft_is_due(self, haste: int = 1) -> bool:
        """Ask the policy, but never twice for the same words, unless these turn out to be all.

        Args:
            haste: how many times larger its steps are; so many new words there must be.
        """
        progress = Progress(
            n_read=self.n_read,
            n_read_at_write_end=self.n_drafted,
            source_ended=self.source_ended,
        )
        is_news = self.n_read - self.n_drafted >= haste or self.source_ended
        return is_news and hurried(self.policy, haste).next_action(progress) is not Action.READ

    def loops_with(self, draft: Sequence[int], id_: int) -> bool:
        """Tell whether a draft would begin to loop if this token came next."""
        return self.cuts_loops and is_loop([*draft, id_], self._read_ids())

    def must_be_cut(self, draft: Sequence[int], id_: int, *, loops: bool) -> bool:
        """Tell whether a draft ends before this token: it loops, or is too long.

        It goes on to the end of a number: what would be left is one that nobody said.
        """
        is_cut = loops or is_runaway(len(draft), len(self._read_ids()))
        return is_cut and not self._completes_number(draft, id_)

    def constrained(self, id_: int, logits: NDArray[np.float32], draft: Sequence[int]) -> int:
        """Return the token to write in place of the one the model proposes, often the same.

        Args:
            id_: the model's proposal.
            logits: shape (V,); -inf for ids that may not be chosen.
            draft: the ids before it.
        """
        if self.constraints is None:
            return id_
        source, caption = self._texts(draft)
        return self.constraints.choose(id_, logits, source, caption, draft)

    def _completes_number(self, draft: Sequence[int], id_: int) -> bool:
        if self.constraints is None:
            return False
        return self.constraints.completes_number(id_, *self._texts(draft))

    def _texts(self, draft: Sequence[int]) -> tuple[str, str]:
        """Return the text of the source as far as it was read, and of a draft."""
        return self._decoded(self._read_ids()), self._decoded(list(draft))

    def _read_ids(self) -> list[int]:
        """Return the tokens of the source as far as it was read."""
        return [one for unit in self.units[: self.n_read] for one in unit]

    def _decoded(self, ids: list[int]) -> str:
        return self.detokenizer.tokenizer.decode(ids, skip_special_tokens=True)

    def set_source(self, words: Sequence[str], arrived: Arrived, *, ended: bool) -> bool:
        """Replace the source; tell whether a word that was read changed, or one follows the last.

        The draft is then forgotten and the caption is empty again.
        """
        self.words, self.ended, self.full_stop = tuple(words), ended, arrived.full_stop
        before, self.passed = self.passed, tuple(one.text for one in arrived.passed)
        read, units = self.units[: self.n_read], arrived.units
        end = () if self.marker is None else (self.marker,)
        is_empty = not units and bool(self.passed)
        ends = ended and not is_empty
        self.units = (
            with_end(units, read, arrived.full_stop + end, alone=arrived.end_alone)
            if ends
            else list(units)
        )
        is_reopened = self.finished and not (self.source_ended and self.passed == before)
        if n_same(read, self.units) == len(read) and not is_reopened:
            return False
        self.caption, self.committed, self.draft, self.finished = "", [], None, False
        self.n_read = self.n_drafted = self.n_source = 0
        self.mean_log_probability = None
        self.fed.clear()
        self.earlier.clear()
        self.detokenizer = Detokenizer(self.detokenizer.tokenizer)
        self.terms = TermWriter()
        return True

    def with_terms(self, text: str) -> str:
        """Return the text to show for whole words of a draft, or for its rest."""
        if self.own_words is None:
            return text
        heard = self.own_words.heard(self._decoded(self._read_ids()))
        shown = self.terms.feed(text, heard, ends_word=True)
        return shown + self.terms.flush(heard) if self.source_ended else shown
