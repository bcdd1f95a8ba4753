"""Measure the latency of each word by stage, from its sound to the screen. No clock, no text.

A spoken word is recognised; it waits for later words, as the policy requires; the newest word of a
caption starts the model; then the caption is painted. The window and the terminal both use this.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.utterances import Utterance
from engine.words import FedWord

STAGES = ("capture", "voice activity", "recognition", "wait", "model", "paint")
"""In the order of a word's way; the first two are not measured."""

COMMITTED, WHOLE = "committed", "whole"
"""From a committed word to its caption, and to the screen."""

HEARD_STAGES = ("recognised", "translated", "shown", "whole")
"""Of spoken words alone: until committed, until the first caption, until painted, and in all."""

_AS_HEARD = {COMMITTED: "translated", "paint": "shown"}
_REMEMBERED = 20_000  # words, two hours of speech


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The time of one word in one stage of ``STAGES``, or ``COMMITTED`` or ``WHOLE``."""

    stage: str
    utterance: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """Median and 95th percentile of a stage; ``n_words`` is 0 if there is no sample."""

    stage: str
    n_words: int = 0
    median_s: float = 0.0
    p95_s: float = 0.0


class _Times:
    """The newest times in a stage, 10 bytes for each: an hour of words stays below a megabyte.

    Attributes:
        seconds: oldest first.
    """

    def __init__(self) -> None:
        self.seconds = array("d")
        self._speakers = array("H")  # a place in ``_lanes`` for each

    def add(self, seconds: float, speaker: int = 0) -> None:
        """Append the time of a word."""
        self.seconds.append(seconds)
        self._speakers.append(speaker)
        if len(self.seconds) > _REMEMBERED:
            del self.seconds[0], self._speakers[0]

    @property
    def speakers(self) -> set[int]:
        """The lanes of these words, as numbers."""
        return set(self._speakers)

    def newest_first(self, speaker: int | None = None) -> Iterator[float]:
        """Yield the times of a speaker's words, or of all."""
        pairs = zip(reversed(self.seconds), reversed(self._speakers), strict=True)
        return (seconds for seconds, of in pairs if speaker is None or of == speaker)


class WordLags:
    """Measure words on their way through a session.

    Attributes:
        heard_at_s: when the newest spoken word was painted; None before the first one.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self, now_s: float = 0.0) -> None:
        """Reset; words committed before ``now_s`` are not measured."""
        self._since_s = now_s
        self._seconds = {stage: _Times() for stage in (*STAGES, COMMITTED, WHOLE)}
        self.begin_listening()

    def begin_listening(self) -> None:
        """Reset the stages of spoken words."""
        self._heard = {stage: _Times() for stage in HEARD_STAGES}
        self._lanes = list[str]()  # those of spoken words, in the order they came
        self.heard_at_s: float | None = None

    def take(self, utterance: Utterance, now_s: float) -> list[Sample]:
        """Take a changed utterance; return the samples of its newly captioned words."""
        words = [word for word in utterance.new_captioned if word.committed_at_s >= self._since_s]
        for word in words:
            if word.spoken_at_s is not None:
                seconds = word.committed_at_s - word.spoken_at_s
                self._seconds["recognition"].add(seconds)
                self._heard["recognised"].add(seconds, self._speaker(utterance.lane))
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
        """Note that an utterance's caption was painted; return the samples of its words."""
        samples = list[Sample]()
        for word, captioned_at_s in utterance.take_shown():
            if word.committed_at_s >= self._since_s:
                samples += [
                    self._sample("paint", utterance, word, now_s - captioned_at_s),
                    self._sample(WHOLE, utterance, word, now_s - word.committed_at_s),
                ]
                if word.spoken_at_s is not None:
                    speaker = self._speaker(utterance.lane)
                    self._heard["whole"].add(now_s - word.spoken_at_s, speaker)
                    self.heard_at_s = now_s
        return samples

    def stages(self) -> list[StageTime]:
        """Summarise every stage."""
        return [self.summed(stage) for stage in STAGES]

    def summed(self, stage: str) -> StageTime:
        """Summarise a stage, or ``COMMITTED`` or ``WHOLE``."""
        return _summed(stage, self._seconds[stage].seconds)

    @property
    def lanes(self) -> list[str]:
        """The lanes whose words were painted, in order."""
        return sorted(self._lanes[speaker] for speaker in self._heard["whole"].speakers)

    def heard(self, newest: int | None = None, lane: str | None = None) -> list[StageTime]:
        """Summarise the stages of spoken words, or of the ``newest`` words of each.

        Args:
            newest: None for all words.
            lane: whose words; None for everybody's.
        """
        if lane is not None and lane not in self._lanes:
            return []
        speaker = None if lane is None else self._lanes.index(lane)
        found = {stage: [*heard.newest_first(speaker)] for stage, heard in self._heard.items()}
        return [_summed(stage, times_s[:newest]) for stage, times_s in found.items() if times_s]

    def seconds(self, stage: str) -> Sequence[float]:
        """Return the kept times of a stage."""
        return self._seconds[stage].seconds

    def _speaker(self, lane: str) -> int:
        """Return the number of a lane."""
        if lane not in self._lanes:
            self._lanes.append(lane)
        return self._lanes.index(lane)

    def _sample(self, stage: str, utterance: Utterance, word: FedWord, seconds: float) -> Sample:
        seconds = max(0.0, seconds)
        self._seconds[stage].add(seconds)
        if word.spoken_at_s is not None and stage in _AS_HEARD:
            self._heard[_AS_HEARD[stage]].add(seconds, self._speaker(utterance.lane))
        return Sample(stage=stage, utterance=utterance.number, seconds=seconds)


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
