"""Drafts of models with an encoder and a decoder: what is committed is forced as their prefix.

The whole draft is made at once. Where the constraints put another token in place of the likeliest,
the prefix is forced up to that token and the rest is made again; so a glossary's terms, numbers and
names hold as they do for the other systems (Hokamp and Liu 2017, https://aclanthology.org/P17-1141,
without its beams).
"""

import sys
from collections.abc import Sequence
from typing import cast

import numpy as np

from engine.layout.rows import Row
from engine.models.encoder_decoder.record import END
from engine.runtime.causal_model import Asking, log_probability
from engine.runtime.ctranslate2.encoder_decoder_loader import (
    EncoderDecoderModel,
    EncoderDecoderWeights,
    Hypothesis,
)
from engine.translation.base import Conversation
from engine.translation.captioned import n_same
from engine.translation.log_events import log_cut, log_fed
from engine.translation.redraft import Redraft
from engine.translation.translated import runaway_length

_NUMBER = 16
"""Tokens by which a draft may be too long, where it would be cut inside a number."""


class EncoderDecoderDrafts:
    """Make drafts with one model; nothing is cached from one to the next."""

    def __init__(self, conversation: Conversation, weights: EncoderDecoderWeights) -> None:
        self._conversation = conversation
        self._log = conversation.log
        self._vocabulary, self._record = weights.vocabulary, weights.record
        self._ids = weights.vocabulary.ids
        self._positions = weights.positions or sys.maxsize
        self._last: tuple[int, list[int], list[int]] = (0, [], [])  # utterance, source and target

    def draft(self, utterance: Redraft) -> Asking[list[int]]:
        """Translate all words that were read, from what is committed on.

        Source and target end where the model has no position for a further token. Nothing is asked:
        CTranslate2 makes a draft at once.
        """
        yield from ()
        settings = self._conversation.settings
        source_language, language = settings.source_language, settings.target_language
        units = utterance.source.ids(utterance.n_read)
        before = self._record.source_tokens(source_language, language)
        source = [*(self._ids[token] for token in before), *units][: self._positions - 1]
        source.append(self._ids[END])
        first = [self._ids[token] for token in self._record.target_tokens(language)]
        most = min(len(first) + runaway_length(len(units)) + 1 + _NUMBER, self._positions)
        draft, is_done = list(utterance.committed), False
        utterance.drafting = draft
        while not is_done and len(first) + len(draft) < most:
            hypothesis = self._translate(utterance, source, first + draft, most)
            is_done = self._follow(utterance, hypothesis, len(first), draft)
            if is_done and utterance.source_ended:
                utterance.mean_log_probability = _mean(hypothesis, len(first), draft)
        utterance.fed = list(draft)
        return draft

    def _translate(
        self, utterance: Redraft, source: list[int], prefix: list[int], most: int
    ) -> Hypothesis:
        model = cast("EncoderDecoderModel", self._conversation.model)
        hypothesis = model.translate(self._tokens(source), self._tokens(prefix), most)
        number, last_source, last_target = self._last
        n_again = 0
        if number == utterance.number:
            n_again = n_same(last_source, source) + n_same(last_target, hypothesis.ids)
        self._last = (utterance.number, source, hypothesis.ids)
        self._conversation.counters.tokens_recomputed += n_again
        rows = [
            Row(id_, position, utterance.n_read)
            for side in (source, hypothesis.ids)
            for position, id_ in enumerate(side)
        ]
        log_fed(self._log, model, utterance.number, rows, n_again=n_again)
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
            self._log.write("written", utterance=number, id=id_, n_read=utterance.n_read)
            if id_ == utterance.prompt.end_of_target:
                return True
            loops = utterance.loops_with(id_)
            if utterance.is_cut_before(id_, loops=loops):
                log_cut(self._log, self._conversation.counters, number, loops=loops)
                return True
            draft.append(id_)
            if id_ != found:
                return False
        log_cut(self._log, self._conversation.counters, utterance.number, loops=False)
        return True

    def _tokens(self, ids: Sequence[int]) -> list[str]:
        return [self._vocabulary[id_] for id_ in ids]


def _mean(hypothesis: Hypothesis, n_first: int, draft: Sequence[int]) -> float | None:
    """Return how likely the tokens of a draft are, in nats; None for an empty one."""
    rows = hypothesis.logits[n_first:]
    values = [log_probability(row, id_) for row, id_ in zip(rows, draft, strict=False)]
    return sum(values) / len(values) if values else None
