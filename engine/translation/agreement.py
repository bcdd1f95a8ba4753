"""Read-n decoding by agreement: what half of a beam's hypotheses begin with is written.

A further decoder to compare read-n with; the product's own is greedy, and its model learns where a
write ends.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from engine.layout.planner import Planner
from engine.runtime.causal_model import Asking
from engine.translation.captioned import Change
from engine.translation.log_events import log_fed
from engine.translation.slot_translator import Translator
from engine.translation.translated import is_runaway
from engine.translation.utterance import Utterance

BEAM = 5
"""Hypotheses of a beam, as in the paper."""

SHARE = 0.5
"""The share of them that must agree, likewise."""

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Hypothesis:
    """A continuation of the target: its ids, the sum of their log-probabilities, and its rows."""

    ids: tuple[int, ...]
    score: float
    planner: Planner

    @property
    def mean(self) -> float:
        """Mean log-probability of a token."""
        return self.score / len(self.ids)


class AgreementTranslator(Translator):
    """Under read-n each write is the longest prefix on which a beam agrees.

    Source: RALCP (relaxed agreement longest common prefix) in Conversational SimulMT (Wang et al.
    2024). At the end of the source the best hypothesis is written whole. Our deviations: each vote
    is counted over the whole beam (in published code the base shrinks with the prefix, so that one
    hypothesis of five can decide); only whole words are written; hypotheses end where the model
    ends a write, if it was trained to. Captions are not held to their source, see
    ``engine.translation.constraints``, and loops are not cut. Policies that do not end writes are
    decoded as by ``Translator``.

    The rows of a hypothesis are fed again for each of its tokens, and counted as fed: the cost is
    not that of a batch of beams.
    """

    def _write(self, utterance: Utterance, id_: int | None = None) -> Asking[Change | None]:
        if not utterance.policy.ends_writes:
            return (yield from super()._write(utterance, id_))
        if id_ is None:
            yield from self._predict(utterance)
        kept = len(utterance.caption)
        scores = self._scores()
        ids = self._agreed(utterance, (yield from self._search(utterance, scores)))
        for index, chosen in enumerate(ids):
            if index > 0:  # the first was predicted
                yield from self._predict(utterance)
                scores = self._scores()
            utterance.log_probability = float(scores[chosen])
            self._choose(utterance, chosen)
        text = utterance.caption[kept:]
        return Change(kept, text, utterance.n_words_read) if text else None

    def _agreed(self, utterance: Utterance, hypotheses: Sequence[_Hypothesis]) -> list[int]:
        """Return the ids to write, with the end of the write."""
        end = utterance.prompt.end_of_write
        texts = [one.ids for one in hypotheses]
        ids: Sequence[int]
        if utterance.source_ended:
            ids = max(hypotheses, key=lambda one: one.mean).ids
        else:
            ids = agreed_words(texts, SHARE, self.conversation.words_begun, end)
        return [*(one for one in ids if one != end), end]

    def _search(self, utterance: Utterance, scores: Scores) -> Asking[list[_Hypothesis]]:
        """Search the likeliest continuations; the cache then holds what it held before.

        Args:
            utterance: its planner waits for the token that was predicted.
            scores: log-probabilities of that token.
        """
        shared = utterance.planner.n_fed  # rows of the cache that all hypotheses have
        end = utterance.prompt.end_of_write
        found = _continued(_Hypothesis((), 0.0, utterance.planner), scores)
        while not is_runaway(
            len(max(found, key=lambda one: len(one.ids)).ids), utterance.n_source_tokens
        ):
            live = [_chosen(one) for one in found if one.ids[-1] != end]
            if not live:
                break
            found = [one for one in found if one.ids[-1] == end]
            for one in live:
                one.planner.write()
                self.model.truncate(shared)
                rows = one.planner.rows[shared:]
                yield from self.model.ask_id(rows, utterance.suppressed)
                log_fed(self._log, self.model, utterance.number, rows)
                found += _continued(one, self._scores())
            found = nlargest(BEAM, found, key=lambda one: one.score)
        self.model.truncate(shared)
        return found

    def _scores(self) -> Scores:
        """Return the log-probabilities of the token that was asked for last."""
        logits = self.model.logits().astype(np.float64)
        logits -= logits.max()
        scores: Scores = logits - np.log(np.exp(logits).sum())
        return scores


def _continued(hypothesis: _Hypothesis, scores: Scores) -> list[_Hypothesis]:
    """Return a hypothesis with each of its likeliest next ids."""
    return [
        _Hypothesis(
            (*hypothesis.ids, id_), hypothesis.score + float(scores[id_]), hypothesis.planner
        )
        for id_ in np.argsort(-scores, kind="stable")[:BEAM].tolist()
    ]


def _chosen(hypothesis: _Hypothesis) -> _Hypothesis:
    """Set aside for a hypothesis rows of its own, with its last id chosen."""
    planner = hypothesis.planner.fork()
    planner.choose(hypothesis.ids[-1])
    return _Hypothesis(hypothesis.ids, hypothesis.score, planner)


def agreed_words(
    hypotheses: Sequence[Sequence[int]], share: float, begun: Sequence[int], end: int
) -> list[int]:
    """Return the longest prefix of whole words that a share of all hypotheses begin with.

    Args:
        hypotheses: ids; ``end`` is the last of a hypothesis that ended.
        share: of all hypotheses, for each id.
        begun: of every id, how many words it begins.
        end: of a write; it stays in the prefix where the hypotheses agree on it.
    """
    prefix, agreeing = list[int](), list(hypotheses)
    while True:
        at = len(prefix)
        votes = Counter(one[at] for one in agreeing if len(one) > at)
        ((id_, n_votes),) = votes.most_common(1) or [(end, 0)]
        if n_votes < share * len(hypotheses):
            break
        prefix.append(id_)
        agreeing = [one for one in agreeing if len(one) > at and one[at] == id_]
    if prefix[-1:] == [end]:
        return prefix
    while prefix and not all(
        len(one) > len(prefix) and (one[len(prefix)] == end or begun[one[len(prefix)]])
        for one in agreeing
    ):
        prefix.pop()
    return prefix
