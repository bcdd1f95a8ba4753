"""Where the time of each word goes, from its sound to the screen. Plain Python, no clock.

A word that was heard is recognised; it waits for later words, because the policy does; the newest
word that a caption rests on then sets the model to work; then the caption is painted. The window
and the terminal measure alike. Numbers only, nothing of what is said.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from engine.utterances import FedWord, Utterance

STAGES = ("capture", "voice activity", "recognition", "wait", "model", "paint")
"""In the order in which a word goes through them; nobody measures the first two apart."""

COMMITTED, WHOLE = "committed", "whole"
"""From a committed word to its caption; and to the screen."""

HEARD_STAGES = ("recognised", "translated", "shown", "whole")
"""Of heard words alone: to being committed, to the first caption, to the screen; the whole way."""

_AS_HEARD = {COMMITTED: "translated", "paint": "shown"}
_REMEMBERED = 20_000  # words, two hours of speech


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One word came through one stage.

    Attributes:
        stage: one of ``STAGES``, or ``COMMITTED`` or ``WHOLE``.
        utterance: number of the word's utterance.
        seconds: the time it took.
    """

    stage: str
    utterance: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """How long a stage takes; ``n_words`` is 0 where nothing is known of it.

    Attributes:
        stage: one of those of ``Sample``, or of ``HEARD_STAGES``.
        n_words: words that came through it, and are remembered.
        median_s: seconds.
        p95_s: seconds that 95 % of the words stay within.
    """

    stage: str
    n_words: int = 0
    median_s: float = 0.0
    p95_s: float = 0.0


class WordLags:
    """Measure words on their way through a session."""

    def __init__(self) -> None:
        self.clear()

    def clear(self, now_s: float = 0.0) -> None:
        """Begin anew; words on their way now are not measured."""
        self._since_s = now_s
        self._seconds = _empty((*STAGES, COMMITTED, WHOLE))
        self.begin_listening()

    def begin_listening(self) -> None:
        """Forget the words that were heard so far, in ``heard`` alone."""
        self._heard = _empty(HEARD_STAGES)

    def commit(self, words: Iterable[FedWord]) -> None:
        """Take words that became certain."""
        for word in words:
            if word.spoken_at_s is not None:
                seconds = word.committed_at_s - word.spoken_at_s
                self._seconds["recognition"].append(seconds)
                self._heard["recognised"].append(seconds)

    def take(self, utterance: Utterance, now_s: float) -> list[Sample]:
        """Take an utterance that changed; return what its words with a new caption add."""
        words = [one for one in utterance.new_captioned if one.committed_at_s >= self._since_s]
        newest_s = max((word.committed_at_s for word in words), default=now_s)
        return [
            self._sample(stage, utterance, word, seconds)
            for word in words
            for stage, seconds in (
                ("wait", newest_s - word.committed_at_s),
                ("model", now_s - newest_s),
                (COMMITTED, now_s - word.committed_at_s),
            )
        ]

    def painted(self, utterance: Utterance, now_s: float) -> list[Sample]:
        """Take that an utterance's caption, as far as it was reported, is on the screen."""
        samples = list[Sample]()
        for word, captioned_at_s in utterance.take_shown():
            if word.committed_at_s >= self._since_s:
                samples += [
                    self._sample("paint", utterance, word, now_s - captioned_at_s),
                    self._sample(WHOLE, utterance, word, now_s - word.committed_at_s),
                ]
                if word.spoken_at_s is not None:
                    self._heard["whole"].append(now_s - word.spoken_at_s)
        return samples

    def stages(self) -> list[StageTime]:
        """Sum up every stage."""
        return [self.summed(stage) for stage in STAGES]

    def summed(self, stage: str) -> StageTime:
        """Sum up a stage, or ``COMMITTED`` or ``WHOLE``."""
        return _summed(stage, self._seconds[stage])

    def heard(self, newest: int | None = None) -> list[StageTime]:
        """Sum up the stages that heard words came through, or so many newest words of each."""
        return [
            _summed(stage, list(islice(reversed(seconds), newest)))
            for stage, seconds in self._heard.items()
            if seconds
        ]

    def seconds(self, stage: str) -> Sequence[float]:
        """Give all times of a stage that are remembered."""
        return self._seconds[stage]

    def _sample(self, stage: str, utterance: Utterance, word: FedWord, seconds: float) -> Sample:
        seconds = max(0.0, seconds)
        self._seconds[stage].append(seconds)
        if word.spoken_at_s is not None and stage in _AS_HEARD:
            self._heard[_AS_HEARD[stage]].append(seconds)
        return Sample(stage=stage, utterance=utterance.number, seconds=seconds)


def _empty(stages: Iterable[str]) -> dict[str, deque[float]]:
    return {stage: deque(maxlen=_REMEMBERED) for stage in stages}


def _summed(stage: str, times_s: Iterable[float]) -> StageTime:
    seconds = sorted(times_s)
    if not seconds:
        return StageTime(stage=stage)
    return StageTime(
        stage=stage,
        n_words=len(seconds),
        median_s=seconds[(len(seconds) - 1) // 2],
        p95_s=seconds[-(-95 * len(seconds) // 100) - 1],
    )
