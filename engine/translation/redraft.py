"""One utterance that is translated again and again: its words, its drafts, what is committed."""

from typing import TYPE_CHECKING

from engine.policy import Action, Progress, hurried
from engine.text.sentences import without_full_stop
from engine.text.tokenizer import Detokenizer
from engine.translation.captioned import n_same
from engine.translation.own_words import TermWriter
from engine.translation.source_text import SourceText
from engine.translation.translated import Translated, is_runaway

if TYPE_CHECKING:
    from engine.translation.base import Conversation
    from engine.translation.own_words import OwnWords


class Redraft(Translated):
    """One utterance that is translated again and again.

    Attributes:
        committed: ids of the caption.
        draft: ids of the newest draft, what is committed among them; None before the first.
        drafts: the newest drafts that must agree, ``draft`` the last of them.
        drafting: ids of the draft that is being made.
        mean_log_probability: how likely the model found the newest draft's tokens, in nats; None
            where it is not measured.
        n_drafted: units the newest draft used.
        n_source: rows before its assistant header.
        fed: target ids the newest draft fed.
    """

    caption = ""
    n_read = 0

    def __init__(self, now: "Conversation", own_words: "OwnWords | None") -> None:
        super().__init__(now, own_words, ends_writes=False)
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.caption, self.finished = "", False
        self.committed: list[int] = []
        self.draft: list[int] | None = None
        self.drafts: list[list[int]] = []
        self.drafting: list[int] = []
        self.fed: list[int] = []
        self.mean_log_probability: float | None = None
        self.n_read = self.n_drafted = self.n_source = 0
        self.detokenizer, self.terms = Detokenizer(self._decoder), TermWriter()

    @property
    def target(self) -> list[int]:
        """Tokens of the draft that is being made."""
        return self.drafting

    @property
    def runs_away(self) -> bool:
        """Return whether the draft has gone on for longer than any translation would."""
        return is_runaway(len(self.drafting), len(self.source.ids(self.n_read)))

    def _written(self) -> str:
        return self._text(self.drafting)

    def draft_is_due(self, haste: int = 1) -> bool:
        """Ask the policy, but never twice for the same words, unless these turn out to be all.

        Args:
            haste: how many times larger its steps are; so many new words there must be.
        """
        progress = Progress(
            n_read=self.n_read,
            n_read_at_write_end=self.n_drafted,
            n_waiting=self.n_waiting,
            source_ended=self.source_ended,
        )
        is_news = self.n_read - self.n_drafted >= haste or self.source_ended
        return is_news and hurried(self.policy, haste).next_action(progress) is not Action.READ

    def set_source(self, source: SourceText) -> int | None:
        """Replace the source.

        Where a word that was read changed, or one follows the last, the draft is forgotten and the
        caption is empty again; only rows of the system prompt are then sure to be valid.
        """
        before, self.source = self.source, source
        passed, was_passed = ([one.text for one in it.passed] for it in (source, before))
        is_reopened = self.finished and not (self.source_ended and passed == was_passed)
        if n_same(before.units[: self.n_read], source.units) == self.n_read and not is_reopened:
            return None
        self._begin_anew()
        return len(self.prompt.headers.system)

    def commit(self, n_ids: int) -> str:
        """Show the draft's first ids, all of them at the end; return what that adds."""
        fresh = (self.draft or [])[len(self.committed) : n_ids]
        self.committed += fresh
        text, is_last = "".join(map(self.detokenizer.feed, fresh)), self.source_ended
        if is_last:
            self.finished = True
            text += self.detokenizer.flush()
        text = self._with_terms(text, ends_word=True, is_last=is_last)
        if is_last:
            text = without_full_stop(text) if self.source.full_stop else text
            rest = [one.text for one in self.source.passed]
            text += " ".join(([""] if self.caption + text and rest else []) + rest)
        self.caption += text
        return text
