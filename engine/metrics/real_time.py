"""Compute delays that contain computing: when a translation appears if its source comes live.

Text has no clock of its own. We assume one word every ``word_ms`` milliseconds, and measure time in
source words, so that all laggings of ``engine.metrics.latency`` apply:

* A word arrives at its **end**, when it is complete: word c (counted from 1) at time c. Without
  computing a unit written after c words has time c, so the delays equal the plain ones exactly. The
  end of the source is known when its last word arrives, as in text.
* The engine works on one word after another. Work on word c starts at
  ``start_c = max(c, finish_(c-1))`` and ends at ``finish_c = start_c + ms_c / word_ms``: computing
  runs while the next word is spoken, and only unfinished work is carried over.
* A unit written in the work on word c appears at ``start_c`` plus its ``emitted_ms``.

This is the queue model; reports use ``real_time_delays``. A backlog is processed word by word, as
it was measured; an engine that fed waiting words together would be faster.

No time here is earlier than the plain delay, so AP and DAL cannot fall. AL and LAAL can: they end
with the first unit after the source, and computing may move that unit forward.
"""

from collections.abc import Sequence
from itertools import accumulate

from engine.metrics.translation import Translation

WORD_MS = 400.0
"""One word of 150 a minute, a usual rate of lectures: an assumption, stated with every score."""


def real_time_delays(translation: Translation, word_ms: float = WORD_MS) -> list[float]:
    """Compute when each target unit appears by the queue model.

    Args:
        translation: replayed, with its times.
        word_ms: from one source word to the next, above 0.

    Returns:
        for each target unit, source words' time from the start of the source; never falling.

    Raises:
        ValueError: ``word_ms`` is not above 0, or a delay is none of a source word with a time.
    """
    return _emissions(translation, queue_starts(translation.ms, word_ms), word_ms)


def simuleval_delays(translation: Translation, word_ms: float = WORD_MS) -> list[float]:
    """Compute when each target unit appears by SimulEval's convention for speech.

    Source read plus all computing since the start, as if no source came in while the engine
    computes, which over-estimates long sources. SimulEval applies it to speech only; here it is
    applied to words for comparison. Arguments, result and errors as for ``real_time_delays``.
    """
    _check(word_ms)
    spent = accumulate(translation.ms, initial=0.0)
    starts = [n + before / word_ms for n, before in enumerate(spent, start=1)]
    return _emissions(translation, starts, word_ms)


def queue_starts(ms: Sequence[float], word_ms: float = WORD_MS) -> list[float]:
    """Compute when the work on each source word starts, in source words.

    Args:
        ms: computing for each word.
        word_ms: as for ``real_time_delays``.

    Raises:
        ValueError: ``word_ms`` is not above 0.
    """
    _check(word_ms)
    starts, finish = list[float](), 0.0
    for arrival, cost in enumerate(ms, start=1):
        starts.append(max(float(arrival), finish))
        finish = starts[-1] + cost / word_ms
    return starts


def _emissions(translation: Translation, starts: Sequence[float], word_ms: float) -> list[float]:
    """Add the time until a unit was written to the start of the work that wrote it."""
    n_words = len(translation.ms)
    units = list(zip(translation.delays, translation.emitted_ms, strict=True))
    if any(not 1 <= n <= n_words for n, _ in units):
        msg = f"units are written in the work on words 1 to {n_words}, got {translation.delays}"
        raise ValueError(msg)
    return [starts[n - 1] + emitted / word_ms for n, emitted in units]


def _check(word_ms: float) -> None:
    if not word_ms > 0:
        msg = f"words come some milliseconds apart, got {word_ms}"
        raise ValueError(msg)
