"""Measure the latency of each spoken word by stage, from its sound to the screen.

The window and the terminal both use this. No clock, no text.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from engine.utterances import Utterance

HEARD_STAGES = ("recognised", "translated", "shown", "whole")
"""Of spoken words: until committed, until the first caption, until painted, and in all."""

_REMEMBERED = 20_000  # words, two hours of speech


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """Median and 95th percentile of a stage; ``n_words`` is 0 if there is no sample."""

    stage: str
    n_words: int = 0
    median_s: float = 0.0
    p95_s: float = 0.0


class _Times:
    """The newest times in a stage, oldest first, 10 bytes for each: an hour is below a megabyte."""

    def __init__(self) -> None:
        self.seconds = array("d")
        self._speakers = array("H")  # a place in ``_lanes`` for each

    def add(self, seconds: float, speaker: int = 0) -> None:
        self.seconds.append(seconds)
        self._speakers.append(speaker)
        if len(self.seconds) > _REMEMBERED:
            del self.seconds[0], self._speakers[0]

    @property
    def speakers(self) -> set[int]:
        return set(self._speakers)

    def newest_first(self, speaker: int | None = None) -> Iterator[float]:
        pairs = zip(reversed(self.seconds), reversed(self._speakers), strict=True)
        return (seconds for seconds, of in pairs if speaker is None or of == speaker)


class WordLags:
    """Measure spoken words on their way through a session."""

    def __init__(self) -> None:
        self.begin_listening()

    def begin_listening(self) -> None:
        self._heard = {stage: _Times() for stage in HEARD_STAGES}
        self._lanes = list[str]()  # those of spoken words, in the order they came

    def take(self, utterance: Utterance, now_s: float) -> None:
        """Take a changed utterance, whose newly captioned words are measured."""
        for word in utterance.new_captioned:
            if word.spoken_at_s is not None:
                seconds = word.committed_at_s - word.spoken_at_s
                self._add("recognised", seconds, utterance.lane)
                self._add("translated", now_s - word.committed_at_s, utterance.lane)

    def painted(self, utterance: Utterance, now_s: float) -> list[float]:
        """Note that a caption was painted; return how many seconds ago its new words were said."""
        ages_s = list[float]()
        for word, captioned_at_s in utterance.take_shown():
            if word.spoken_at_s is not None:
                self._add("shown", now_s - captioned_at_s, utterance.lane)
                ages_s.append(now_s - word.spoken_at_s)
                self._add("whole", ages_s[-1], utterance.lane)
        return ages_s

    @property
    def lanes(self) -> list[str]:
        return sorted(self._lanes[speaker] for speaker in self._heard["whole"].speakers)

    def heard(self, newest: int | None = None, lane: str | None = None) -> list[StageTime]:
        """Summarise the stages of spoken words, or of the ``newest`` words of each."""
        if lane is not None and lane not in self._lanes:
            return []
        speaker = None if lane is None else self._lanes.index(lane)
        found = {
            stage: [*islice(heard.newest_first(speaker), newest)]
            for stage, heard in self._heard.items()
        }
        return [_summed(stage, times_s) for stage, times_s in found.items() if times_s]

    def _add(self, stage: str, seconds: float, lane: str) -> None:
        if lane not in self._lanes:
            self._lanes.append(lane)
        self._heard[stage].add(max(0.0, seconds), self._lanes.index(lane))


def _summed(stage: str, times_s: Iterable[float]) -> StageTime:
    seconds = sorted(times_s)
    return StageTime(
        stage=stage,
        n_words=len(seconds),
        median_s=seconds[(len(seconds) - 1) // 2],
        p95_s=seconds[-(-95 * len(seconds) // 100) - 1],
    )
