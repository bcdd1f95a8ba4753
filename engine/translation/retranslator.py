"""Translate all words again whenever one comes, and keep what two drafts agree on.

The way of models that know no slots, and what slots are held against.

Local agreement (Liu et al. 2020, https://www.isca-archive.org/interspeech_2020/liu20s_interspeech.html;
Polák et al. 2022, https://aclanthology.org/2022.iwslt-1.24): of two drafts in a row, the longest
common start is committed. It needs no training and no slots, and runs on the same weights, the same
cache and the same counters as ``engine.translation.slot_translator``, so the two can be held side
by side.

The policy says when a draft is made: wait-k at every word from the k-th on, read-n after every n
words, adaptive at every word (what two drafts agree on is its decision), offline at the end. Our
choices: whole words are committed; a draft continues what is committed. The layout is the offline
one: all source words in one phase. So the source that was read before stays cached, and each draft
computes the new words and the target behind them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.layout.registry import make_planner
from engine.layout.rows import Row
from engine.loading.weights import Weights
from engine.metrics.event_log import EventLog
from engine.policy import Action, Policy, Progress, hurried
from engine.settings import LayoutSettings, TranslationSettings
from engine.text.detokenizer import Detokenizer
from engine.text.prompt import Prompt
from engine.text.sentences import without_full_stop
from engine.translation.base import Conversation, OnConversation
from engine.translation.captioned import Change, n_same
from engine.translation.constraints import Constraints
from engine.translation.log_events import log_cut, log_end, log_fed
from engine.translation.repetition import is_loop
from engine.translation.utterance import Arrived, Unit, is_runaway, with_end


@dataclass(slots=True, eq=False)
class Redraft:
    """One utterance that is translated again and again.

    Attributes:
        caption: what is committed.
        committed: its ids.
        draft: ids of the newest draft, what is committed among them.
        n_read: units the newest draft may use.
        n_drafted: units the newest draft used.
        n_source: rows before its assistant header.
        fed: target ids the newest draft fed.
        full_stop: ids behind the last word that stand in no word.
        passed: words that no draft translates; they stand at the end of the caption.
        constraints: rules of the drafts, or None.
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
    finished: bool = False
    caption: str = ""
    units: list[Unit] = field(default_factory=list)
    committed: list[int] = field(default_factory=list)
    draft: list[int] | None = None
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
        source = [one for unit in self.units[: self.n_read] for one in unit]
        return self.cuts_loops and is_loop([*draft, id_], source)

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
        self.units = with_end(units, read, arrived.full_stop + end) if ends else list(units)
        is_reopened = self.finished and not (self.source_ended and self.passed == before)
        if n_same(read, self.units) == len(read) and not is_reopened:
            return False
        self.caption, self.committed, self.draft, self.finished = "", [], None, False
        self.n_read = self.n_drafted = self.n_source = 0
        self.fed.clear()
        self.detokenizer = Detokenizer(self.detokenizer.tokenizer)
        return True


class Retranslator(OnConversation):
    """Translate utterances by re-translation, with the verbs of the slot translator."""

    def __init__(
        self,
        weights: Weights,
        settings: TranslationSettings,
        *,
        capacity: int = 2048,
        log: EventLog | None = None,
    ) -> None:
        super().__init__(Conversation("retranslate", weights, settings, capacity=capacity, log=log))
        self._log = self.conversation.log
        self._rows = list[Row]()  # those the cache holds

    def open(self) -> Redraft:
        """Open an utterance with the settings of now."""
        now = self.conversation
        return Redraft(
            number=now.next_number(),
            prompt=now.prompt,
            policy=now.policy,
            layout=now.settings.layout,
            cuts_loops=now.settings.cut_loops,
            constraints=now.constraints,
            detokenizer=Detokenizer(now.weights.decoder),
        )

    def set_source(
        self, utterance: Redraft, words: Sequence[str], *, ended: bool, full_stop: str = ""
    ) -> bool:
        """Give an utterance its committed words; tell whether its caption was cut back."""
        before = len(utterance.caption)
        arrived = self.conversation.arrived(utterance, words, ended=ended, full_stop=full_stop)
        if not utterance.set_source(words, arrived, ended=ended):
            return False
        self._log.write(
            "rewound",
            utterance=utterance.number,
            n_read=0,
            cached_rows=len(utterance.prompt.headers.system),
            kept=0,
        )
        return before > 0

    def advance(self, utterance: Redraft) -> Change | None:
        """Translate until the caption grows; None where the committed words allow no more."""
        change: Change | None = None
        while change is None and not utterance.finished:
            if utterance.draft_is_due(self.conversation.haste):
                change = self._translate(utterance)
            elif utterance.n_read < len(utterance.units):
                utterance.n_read += 1
                self._log.write("read", utterance=utterance.number, n_read=utterance.n_read)
            else:
                return None
        return change

    def confidence(self, _utterance: Redraft) -> None:
        """Return nothing: drafts are not calibrated."""

    def give_up(self, utterance: Redraft) -> None:
        """Leave an utterance as it is after it could not be computed, and empty the cache."""
        utterance.finished = True
        self.conversation.forget()

    def _translate(self, utterance: Redraft) -> Change | None:
        """Make a draft and commit what it shares with the one before."""
        before, draft = utterance.draft, utterance.draft
        if not utterance.units:
            draft = []
        elif draft is None or utterance.n_read > utterance.n_drafted:
            draft = self._draft(utterance)
        utterance.draft, utterance.n_drafted = draft, utterance.n_read
        number, n_read = utterance.number, utterance.n_read
        whole = self.conversation.weights.decoder.decode(draft, skip_special_tokens=True).strip()
        self._log.write("drafted", utterance=number, text=whole, n_read=n_read)
        text = self._commit(utterance, self._n_agreed(utterance, before, draft))
        if utterance.source_ended:
            utterance.finished = True
            text += utterance.detokenizer.flush()
            text = without_full_stop(text) if utterance.full_stop else text
            has_text = [""] if utterance.caption + text and utterance.passed else []
            text += " ".join((*has_text, *utterance.passed))
        utterance.caption += text
        if text:
            self._log.write("committed", utterance=number, text=text, n_read=n_read)
        if utterance.finished:
            log_end(self._log, self.model, self.counters, number)
        return Change(len(utterance.caption) - len(text), text, n_read) if text else None

    def _draft(self, utterance: Redraft) -> list[int]:
        """Translate all words that were read, from what is committed on."""
        planner = make_planner(utterance.prompt.headers, utterance.layout)
        units = utterance.units[: utterance.n_read]
        for unit in units:
            planner.read(unit)
        n_source = len(planner.rows)
        rows = planner.write()
        draft = list(utterance.committed)
        for id_ in draft:
            planner.choose(id_)
            rows += planner.write()
        kept = self._keep(rows)
        n_again = _n_again(utterance, n_source, kept)
        rows = rows[kept:]
        same = utterance.fed[: len(draft)] == draft
        while True:
            id_ = self._predict(utterance, rows, draft, n_again)
            if id_ == utterance.prompt.end_of_target:
                break
            loops = utterance.loops_with(draft, id_)
            if loops or is_runaway(len(draft), sum(map(len, units))):
                log_cut(self._log, self.counters, utterance.number, loops=loops)
                break
            same = same and utterance.fed[: len(draft) + 1] == [*draft, id_]
            n_again = int(same)
            draft.append(id_)
            planner.choose(id_)
            rows = planner.write()
        utterance.fed, utterance.n_source = draft, n_source
        return list(draft)

    def _constrained(self, utterance: Redraft, draft: Sequence[int], id_: int) -> int:
        """Return the id to write in place of the one the model proposes, often the same."""
        if utterance.constraints is None:
            return id_
        decode = self.conversation.weights.decoder.decode
        read = [one for unit in utterance.units[: utterance.n_read] for one in unit]
        return utterance.constraints.choose(
            id_,
            self.model.logits(),
            decode(read, skip_special_tokens=True),
            decode(list(draft), skip_special_tokens=True),
            draft,
        )

    def _keep(self, rows: Sequence[Row]) -> int:
        """Truncate the cache to what it shares with these rows at the start; return how many.

        Rows stand in order of position, so what a row saw stands before it: where all before it are
        the same, so is what was computed for it. The last one is fed in any case: it is asked.
        """
        del self._rows[self.model.n_rows :]  # somebody may have emptied it
        kept = min(n_same(self._rows, rows), len(rows) - 1)
        self.model.truncate(kept)
        del self._rows[kept:]
        return kept

    def _predict(
        self, utterance: Redraft, rows: Sequence[Row], draft: Sequence[int], n_again: int
    ) -> int:
        proposed = self.model.next_id(rows, utterance.suppressed)
        id_ = self._constrained(utterance, draft, proposed)
        self._rows += rows
        self.counters.tokens_recomputed += n_again
        number = utterance.number
        log_fed(self._log, self.model, number, rows, n_again=n_again)
        self._log.write("written", utterance=number, id=id_, n_read=utterance.n_read)
        return id_

    def _n_agreed(self, utterance: Redraft, before: list[int] | None, draft: list[int]) -> int:
        """Count the ids that are certain: all at the end of the source, else whole words."""
        if utterance.source_ended:
            return len(draft)
        n_agreed = 0 if before is None else n_same(before, draft)
        while n_agreed > len(utterance.committed) and not all(
            n_agreed == len(ids) or self.conversation.words_begun[ids[n_agreed]]
            for ids in (before or [], draft)
        ):
            n_agreed -= 1
        return max(n_agreed, len(utterance.committed))

    def _commit(self, utterance: Redraft, n_ids: int) -> str:
        fresh = (utterance.draft or [])[len(utterance.committed) : n_ids]
        utterance.committed += fresh
        return "".join(map(utterance.detokenizer.feed, fresh))


def _n_again(utterance: Redraft, n_source: int, kept: int) -> int:
    """Count the rows of a draft's first forward pass that the draft before had fed as well.

    Args:
        utterance: with the draft before.
        n_source: rows before the assistant header now.
        kept: rows of this draft that are cached.
    """
    if utterance.draft is None:
        return 0
    n_target = len(utterance.prompt.headers.assistant)
    n_target += n_same(utterance.fed, utterance.committed)
    n_kept_of_target = max(0, kept - n_source)
    return max(0, utterance.n_source - kept) + max(0, n_target - n_kept_of_target)
