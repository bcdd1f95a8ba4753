"""Forecast the lag of captions behind a speaker from the time a model needs for each word.

The times are measured on a few sentences, word by word, for some seconds; then a queue of words at
the pace of speech is simulated. The time of speech recognition is not included.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING

from engine.text.sentences import committed_words
from engine.translation.feed import feed_words, translate_unseen

if TYPE_CHECKING:
    from engine.translation.base import AnySystem

WORD_S = 0.4
"""From one word to the next at 150 words a minute."""

LIMIT_S = 15.0
"""Time limit of measuring; the current word is still finished."""

_SENTENCES = (
    "Good morning and welcome to our meeting, I am glad that so many of you could come.",
    "The first train leaves at half past seven, so we have to get up early tomorrow.",
    "Last year we planted four trees in the garden behind the old school.",
    "Could you please open the window a little, it is rather warm in here?",
    "Nobody knew why the shop had been closed for such a long time.",
    "If it rains on Saturday, we will visit the museum and have lunch in the city.",
    "My sister wrote me a letter from the island where she works as a doctor.",
    "Thank you very much for your help, we would not have managed without you.",
)


@dataclass(frozen=True, slots=True)
class Step:
    """The computing time of one word, and the number of words that captions then cover."""

    seconds: float
    n_covered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The expected lag of captions.

    Attributes:
        n_words: that were measured.
        load: seconds of computing for each second of speech; above 1 captions fall behind for good.
        median_s: from a word to its caption, with waiting for later words.
        p95_s: the 95th percentile.
        computing_s: median computing time of a word that changed a caption.
    """

    n_words: int
    load: float
    median_s: float
    p95_s: float
    computing_s: float

    @property
    def keeps_up(self) -> bool:
        """Whether captions keep up with the speaker."""
        return self.load <= 1


def measure_steps(
    system: "AnySystem",
    sentences: Iterable[str] = _SENTENCES,
    limit_s: float = LIMIT_S,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Step]:
    """Translate sentences word by word and time each word; the first word pays for first use."""
    translate_unseen(system, "Hello.")
    start_s, steps, n_before = clock(), list[Step](), 0
    for sentence in sentences:
        for step in _fed(system, sentence, clock):
            steps.append(Step(step.seconds, n_before + step.n_covered))
            if clock() - start_s >= limit_s:
                return steps
        n_before += len(sentence.split())
    return steps


def forecast(steps: Sequence[Step], word_s: float = WORD_S) -> Forecast:
    """Simulate words that come every ``word_s`` seconds and are processed one after another.

    Words without a caption at the end are left out.

    Raises:
        ValueError: no word got a caption.
    """
    free_s, lags = 0.0, list[float]()
    for number, step in enumerate(steps):
        free_s = max(free_s, number * word_s) + step.seconds
        lags += [free_s - word * word_s for word in range(len(lags), step.n_covered)]
    if not lags:
        msg = "no word that was measured got a caption"
        raise ValueError(msg)
    covered = [0, *(step.n_covered for step in steps)]
    computing = [
        step.seconds
        for step, before in zip(steps, covered, strict=False)
        if step.n_covered > before
    ]
    return Forecast(
        n_words=len(steps),
        load=sum(step.seconds for step in steps) / (len(steps) * word_s),
        median_s=median(lags),
        p95_s=quantiles(lags, n=20, method="inclusive")[-1] if len(lags) > 1 else lags[0],
        computing_s=median(computing),
    )


def _fed(system: "AnySystem", sentence: str, clock: Callable[[], float]) -> Iterator[Step]:
    """Feed a sentence word by word."""
    words = committed_words(sentence, finished=True)
    steps, n_covered = feed_words(system, words), 0
    for n_known in range(1, len(words) + 1):
        start_s = clock()
        for change in next(steps):
            n_covered = max(n_covered, change.n_read)
        ended = n_known == len(words)
        yield Step(clock() - start_s, n_known if ended else min(n_covered, n_known))
