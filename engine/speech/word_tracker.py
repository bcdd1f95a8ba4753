"""How long every stage of a heard word took, from its sound to the screen. No clock, no threads."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from engine.events import Event
from engine.utterances import FedWord, UtteranceTracker

STAGES = ("recognised", "translated", "shown", "whole")
_REMEMBERED = 20_000  # words, two hours of speech
_ENDED_KEPT = 16  # utterances that may still be shown


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLag:
    """How long a stage took, over the words that were remembered.

    Attributes:
        stage: one of ``STAGES``: from spoken to committed, to its first caption, to the screen;
            and the whole way.
        n_words: that came through it.
        median_s: seconds.
        p95_s: seconds that 95 % of the words stay within.
    """

    stage: str
    n_words: int
    median_s: float
    p95_s: float


class WordTracker:
    """Measure words on their way through a session.

    Attributes:
        utterances: where they are now.
    """

    def __init__(self) -> None:
        self.utterances = UtteranceTracker(n_ended_kept=_ENDED_KEPT)
        self._lags: dict[str, deque[float]] = {stage: deque(maxlen=_REMEMBERED) for stage in STAGES}

    def commit(self, lane: str, words: Sequence[FedWord]) -> None:
        """Take words that are about to be fed to the session."""
        self.utterances.feed(lane, words)
        for word in words:
            self._measure("recognised", word.spoken_at_s, word.committed_at_s)

    def take(self, event: Event, now_s: float) -> None:
        """Take an event of the session."""
        utterance = self.utterances.take(event, now_s)
        if utterance is not None:
            for word in utterance.new_captioned:
                self._measure("translated", word.committed_at_s, now_s)

    def shown(self, utterance: int, now_s: float) -> None:
        """Note that an utterance's caption, as far as it was reported, is on the screen."""
        if utterance in self.utterances:
            for word, captioned_at_s in self.utterances[utterance].take_shown():
                self._measure("shown", captioned_at_s, now_s)
                self._measure("whole", word.spoken_at_s, now_s)

    def lags(self, newest: int | None = None) -> list[StageLag]:
        """Sum up the stages that any word came through, or for so many newest words of each."""
        return [
            StageLag(
                stage=stage,
                n_words=len(newest_s),
                median_s=float(np.median(newest_s)),
                p95_s=float(np.percentile(newest_s, 95)),
            )
            for stage, seconds in self._lags.items()
            if (
                newest_s := list(
                    islice(seconds, max(0, len(seconds) - (newest or _REMEMBERED)), None)
                )
            )
        ]

    def _measure(self, stage: str, from_s: float | None, to_s: float) -> None:
        if from_s is not None:
            self._lags[stage].append(to_s - from_s)
