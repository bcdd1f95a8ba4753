"""Drafts of models with an encoder and a decoder: what is committed is forced as their prefix.

The whole draft is made at once. Where the constraints put another token in place of the likeliest,
the prefix is forced up to that token and the rest is made again; so a glossary's terms, numbers and
names hold as they do for the other systems (Hokamp and Liu 2017, https://aclanthology.org/P17-1141,
without its beams).
"""

import sys
from collections.abc import Sequence

import numpy as np

from engine.events import n_same
from engine.layout.rows import Row
from engine.models.encoder_decoder.record import END
from engine.runtime.causal_model import Asking, log_probability
from engine.runtime.ctranslate2.encoder_decoder_loader import (
    EncoderDecoderModel,
    EncoderDecoderWeights,
    Hypothesis,
)
from engine.translation.retranslator import Drafting, Redraft
from engine.translation.translated import runaway_length

_NUMBER = 16
"""Tokens by which a draft may be too long, where it would be cut inside a number."""


class EncoderDecoderTranslator(Drafting):
    """Make drafts with an encoder and a decoder; nothing is cached from one to the next."""

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
