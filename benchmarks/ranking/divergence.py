"""LSG's criterion over slots: write where what was read since the last write changes the answer.

No training: the distributions are those of which the model chooses its words.
"""

import numpy as np
from numpy.typing import NDArray

from engine.metrics.event_log import EventLog
from engine.runtime.weights import Weights
from engine.settings import TranslationSettings
from engine.translation.slot_translator import Translator
from engine.translation.utterance import Utterance

SURE = 0.6


class DivergenceTranslator(Translator):
    """Write where KL(after the newest word || before) > ``delta``, or the model is sure of a word.

    Source: LSG (Guo et al. 2025, https://arxiv.org/abs/2501.00868), whose second distribution is
    that of wait-1, and which decides about each token. Our deviations: a slot can only be asked
    with the source read so far, so the second one is that of the first look after the last write; a
    decision is about a whole write; being sure that there is nothing to write is no reason to
    write. The range of words is that of the policy.

    Args:
        delta: nats.
        sure: probability of a token other than end-of-write above which it is written (paper:
            alpha).
    """

    def __init__(
        self,
        weights: Weights,
        settings: TranslationSettings,
        *,
        delta: float,
        sure: float = SURE,
        capacity: int = 2048,
        log: EventLog | None = None,
    ) -> None:
        super().__init__(weights, settings, capacity=capacity, log=log)
        self._delta, self._sure = delta, sure
        self._asked: tuple[int, int] | None = None  # utterance, tokens chosen before the write
        self._before: NDArray[np.float64] = np.zeros(0)  # (V,)

    def _write_probability(self, utterance: Utterance) -> float:
        """Return 1 for a write, 0 for more source."""
        shares = distribution(self.model.logits())
        asked = utterance.number, utterance.n_chosen
        if asked != self._asked:
            self._asked, self._before = asked, shares
        words = np.delete(shares, utterance.prompt.end_of_write)
        is_news = divergence(shares, self._before) > self._delta
        return float(is_news or words.max() > self._sure)


def distribution(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the probabilities of logits, shape (V,), in float64."""
    shares = np.exp(logits.astype(np.float64) - float(logits.max()))
    return np.asarray(shares / shares.sum())


def divergence(new: NDArray[np.float64], old: NDArray[np.float64]) -> float:
    """Return KL(new || old) in nats of two distributions, shape (V,); 0 where nothing changed."""
    least = np.finfo(np.float64).tiny
    likely = new > 0
    return float((new[likely] * np.log(new[likely] / np.maximum(old[likely], least))).sum())
