"""Translate all words again whenever one comes, and keep what the newest drafts agree on.

The way of models that know no slots, and what slots are held against.

Local agreement (Liu et al. 2020, https://www.isca-archive.org/interspeech_2020/liu20s_interspeech.html;
Polák et al. 2022, https://aclanthology.org/2022.iwslt-1.24): of two drafts in a row, the longest
common start is committed; with the policy ``stable:N``, of N drafts. It needs no training and no
slots. Drafts are made with the weights, cache and counters of
``engine.translation.slot_translator``, so that the two can be held side by side, or by a model with
an encoder and a decoder.

The policy says when a draft is made: wait-k at every word from the k-th on, read-n after every n
words, stable n at every word (what drafts agree on is its decision), offline at the end. Our
choices: whole words are committed; a draft continues what is committed, so nothing that was shown
changes.
"""

import sys
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from engine.events import Confidence, n_same
from engine.layout.planner import make_planner
from engine.layout.rows import Row
from engine.models.encoder_decoder.record import END
from engine.policy import Action, Progress, Stable, hurried
from engine.runtime.causal_model import Asking, CausalModel, log_probability
from engine.runtime.ctranslate2.encoder_decoder_loader import (
    EncoderDecoderModel,
    EncoderDecoderWeights,
    Hypothesis,
)
from engine.runtime.weights import Weights
from engine.text.sentences import without_full_stop
from engine.text.tokenizer import Detokenizer
from engine.translation.captioner import Change
from engine.translation.conversation import Conversation
from engine.translation.own_words import TermWriter
from engine.translation.translated import SourceText, Translated, is_runaway, runaway_length

_AGREEING = 2  # drafts in a row, where the policy names no number


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
    _by: "Drafting"

    def __init__(self, now: "Drafting") -> None:
        super().__init__(now, ends_writes=False)
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
        return self.drafting

    @property
    def runs_away(self) -> bool:
        return is_runaway(len(self.drafting), len(self.source.ids(self.n_read)))

    def _written(self) -> str:
        return self._text(self.drafting)

    def draft_is_due(self, haste: int = 1) -> bool:
        """Ask the policy, but never twice for the same words, unless these turn out to be all.

        There must be ``haste`` times as many new words as its steps have.
        """
        progress = Progress(
            n_read=self.n_read,
            n_read_at_write_end=self.n_drafted,
            n_waiting=self.n_waiting,
            source_ended=self.source_ended,
        )
        is_news = self.n_read - self.n_drafted >= haste or self.source_ended
        return is_news and hurried(self.policy, haste).next_action(progress) is not Action.READ

    def steps(self) -> Asking[Change | None]:
        return self._by.steps(self)

    @property
    def confidence(self) -> Confidence | None:
        """A calibration for slots does not hold for drafts."""
        card, mean = self._by.weights.card, self.mean_log_probability
        if card.calibration is None or mean is None or card.knows_slots:
            return None
        return card.calibration.confidence(mean)

    def take_source(self, source: SourceText) -> int | None:
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


class Drafting(Conversation):
    """Translate utterances by drafts, whichever network makes them."""

    def open(self) -> Redraft:
        return Redraft(self)

    @abstractmethod
    def draft(self, utterance: Redraft) -> Asking[list[int]]:
        """Translate all words that were read, from what is committed on; return the ids."""

    def steps(self, utterance: Redraft) -> Asking[Change | None]:
        change: Change | None = None
        while change is None and not utterance.finished:
            if utterance.draft_is_due(self.haste):
                change = yield from self._translate(utterance)
            elif utterance.can_read:
                utterance.n_read += 1
                self.log.write("read", utterance=utterance.number, n_read=utterance.n_read)
            else:
                return None
        return change

    def _translate(self, utterance: Redraft) -> Asking[Change | None]:
        draft = utterance.draft
        if not utterance.source.units:
            draft = []
        elif draft is None or utterance.n_read > utterance.n_drafted:
            draft = yield from self.draft(utterance)
        utterance.draft, utterance.n_drafted = draft, utterance.n_read
        utterance.drafts = [*utterance.drafts, draft][-self._n_agreeing(utterance) :]
        number, n_read = utterance.number, utterance.n_read
        whole = self.weights.decoder.decode(draft, skip_special_tokens=True).strip()
        self.log.write("drafted", utterance=number, text=whole, n_read=n_read)
        text = utterance.commit(self._n_agreed(utterance, draft))
        if text:
            self.log.write("committed", utterance=number, text=text, n_read=n_read)
        if utterance.finished:
            self.log_end(number, utterance.mean_log_probability)
        if not text:
            return None
        return Change(len(utterance.caption) - len(text), text, utterance.n_words_read)

    def _n_agreeing(self, utterance: Redraft) -> int:
        """Return how many drafts in a row must share what is committed."""
        return utterance.policy.n if isinstance(utterance.policy, Stable) else _AGREEING

    def _n_agreed(self, utterance: Redraft, draft: list[int]) -> int:
        """Count the ids that are certain: all at the end of the source, else whole words."""
        if utterance.source_ended:
            return len(draft)
        drafts, n_agreed = utterance.drafts, 0
        if len(drafts) == self._n_agreeing(utterance):
            n_agreed = min(n_same(ids, draft) for ids in drafts)
        while n_agreed > len(utterance.committed) and not all(
            n_agreed == len(ids) or self.words_begun[ids[n_agreed]] for ids in drafts
        ):
            n_agreed -= 1
        return max(n_agreed, len(utterance.committed))


class Retranslator(Drafting):
    """Make drafts with a model that reads source and target as one text: instruct models, and ours.

    The layout is the offline one: all source words in one phase. So the source that was read before
    stays cached, and each draft computes the new words and the target behind them.
    """

    system = "retranslate"
    weights: Weights
    model: CausalModel
    _rows: Sequence[Row] = ()  # those the cache holds

    def draft(self, utterance: Redraft) -> Asking[list[int]]:
        planner = make_planner(utterance.prompt.headers, utterance.layout)
        units = utterance.source.units[: utterance.n_read]
        for unit in units:
            planner.read(unit)
        n_source = len(planner.rows)
        rows = planner.write()
        draft = utterance.drafting = list(utterance.committed)
        for id_ in draft:
            planner.choose(id_)
            rows += planner.write()
        kept = self._keep_common(rows)
        n_again = _n_again(utterance, n_source, kept)
        rows = rows[kept:]
        same = utterance.fed[: len(draft)] == draft
        while True:
            id_ = yield from self._predict(utterance, rows, n_again)
            if id_ == utterance.prompt.end_of_target:
                break
            loops = utterance.loops_with(id_)
            if utterance.is_cut_before(id_, loops=loops):
                self.log_cut(utterance.number, loops=loops)
                break
            same = same and utterance.fed[: len(draft) + 1] == [*draft, id_]
            n_again = int(same)
            draft.append(id_)
            planner.choose(id_)
            rows = planner.write()
        utterance.fed, utterance.n_source = draft, n_source
        return list(draft)

    def _keep_common(self, rows: Sequence[Row]) -> int:
        """Truncate the cache to what it shares with these rows at the start; return how many.

        Rows stand in order of position, so what a row saw stands before it: where all before it are
        the same, so is what was computed for it. The last one is fed in any case: it is asked.
        """
        cached = self._rows[: self.model.n_rows]  # it may have been emptied meanwhile
        kept = min(n_same(cached, rows), len(rows) - 1)
        self.model.truncate(kept)
        self._rows = cached[:kept]
        return kept

    def _predict(self, utterance: Redraft, rows: Sequence[Row], n_again: int) -> Asking[int]:
        proposed = yield from self.model.ask_id(rows, utterance.suppressed)
        id_ = utterance.constrained(proposed, self.model.logits())
        self._rows = (*self._rows, *rows)
        self.counters.tokens_recomputed += n_again
        number = utterance.number
        self.log_fed(number, rows, n_again=n_again)
        self.log.write("written", utterance=number, id=id_, n_read=utterance.n_read)
        return id_


def _n_again(utterance: Redraft, n_source: int, kept: int) -> int:
    """Count the rows of a draft's first forward pass that the draft before had fed as well.

    The assistant header comes after ``n_source`` rows now, of which ``kept`` are cached.
    """
    if utterance.draft is None:
        return 0
    n_target = len(utterance.prompt.headers.assistant)
    n_target += n_same(utterance.fed, utterance.committed)
    n_kept_of_target = max(0, kept - n_source)
    return max(0, utterance.n_source - kept) + max(0, n_target - n_kept_of_target)


_NUMBER = 16
"""Tokens by which a draft may be too long, where it would be cut inside a number."""


class EncoderDecoderTranslator(Drafting):
    """Make drafts with an encoder and a decoder; what is committed is forced as their prefix.

    The whole draft is made at once, and nothing is cached from one to the next. Where the
    constraints put another token in place of the likeliest, the prefix is forced up to that token
    and the rest is made again; so a glossary's terms, numbers and names hold as they do for the
    other systems (Hokamp and Liu 2017, https://aclanthology.org/P17-1141, without its beams).
    """

    system = "encoder-decoder"
    weights: EncoderDecoderWeights
    model: EncoderDecoderModel
    _last: tuple[int, Sequence[int], Sequence[int]] = (0, (), ())  # utterance, source and target

    def draft(self, utterance: Redraft) -> Asking[list[int]]:
        """Translate all words that were read, from what is committed on.

        Source and target end where the model has no position for a further token. Nothing is asked:
        CTranslate2 makes a draft at once.
        """
        yield from ()
        ids, n_positions = self.weights.vocabulary.ids, self.weights.positions or sys.maxsize
        source_language = self.settings.source_language
        language = self.settings.target_language
        units = utterance.source.ids(utterance.n_read)
        before = self.weights.record.source_tokens(source_language, language)
        source = [*(ids[token] for token in before), *units][: n_positions - 1]
        source.append(ids[END])
        first = [ids[token] for token in self.weights.record.target_tokens(language)]
        most = min(len(first) + runaway_length(len(units)) + 1 + _NUMBER, n_positions)
        draft, is_done = list(utterance.committed), False
        utterance.drafting = draft
        while not is_done and len(first) + len(draft) < most:
            hypothesis = self._hypothesis(utterance, source, first + draft, most)
            is_done = self._follow(utterance, hypothesis, len(first), draft)
            if is_done and utterance.source_ended:
                utterance.mean_log_probability = _mean(hypothesis, len(first), draft)
        utterance.fed = list(draft)
        return draft

    def _hypothesis(
        self, utterance: Redraft, source: list[int], prefix: list[int], most: int
    ) -> Hypothesis:
        hypothesis = self.model.translate(self._tokens(source), self._tokens(prefix), most)
        number, last_source, last_target = self._last
        n_again = 0
        if number == utterance.number:
            n_again = n_same(last_source, source) + n_same(last_target, hypothesis.ids)
        self._last = (utterance.number, source, hypothesis.ids)
        self.counters.tokens_recomputed += n_again
        rows = [
            Row(id_, position, utterance.n_read)
            for side in (source, hypothesis.ids)
            for position, id_ in enumerate(side)
        ]
        self.log_fed(utterance.number, rows, n_again=n_again)
        return hypothesis

    def _follow(
        self,
        utterance: Redraft,
        hypothesis: Hypothesis,
        n_first: int,
        draft: list[int],
    ) -> bool:
        """Add the tokens of a hypothesis to a draft; return whether the draft is complete.

        It is not where another token than the hypothesis's was put: the rest is then made again.
        """
        suppressed = list(utterance.suppressed)
        for found, row in zip(
            hypothesis.ids[n_first + len(draft) :],
            hypothesis.logits[n_first + len(draft) :],
            strict=True,
        ):
            row[suppressed] = -np.inf
            id_ = utterance.constrained(int(row.argmax()), row)
            number = utterance.number
            self.log.write("written", utterance=number, id=id_, n_read=utterance.n_read)
            if id_ == utterance.prompt.end_of_target:
                return True
            loops = utterance.loops_with(id_)
            if utterance.is_cut_before(id_, loops=loops):
                self.log_cut(number, loops=loops)
                return True
            draft.append(id_)
            if id_ != found:
                return False
        self.log_cut(utterance.number, loops=False)
        return True

    def _tokens(self, ids: Sequence[int]) -> list[str]:
        return [self.weights.vocabulary[id_] for id_ in ids]


def _mean(hypothesis: Hypothesis, n_first: int, draft: Sequence[int]) -> float | None:
    """Return how likely the tokens of a draft are, in nats; None for an empty one."""
    rows = hypothesis.logits[n_first:]
    values = [log_probability(row, id_) for row, id_ in zip(rows, draft, strict=False)]
    return sum(values) / len(values) if values else None
