"""Measure the lag of the target behind the source: pure functions on delays.

``delays[i]`` is the amount of source read when target word i was written (words for text,
milliseconds for speech); delays never fall. For a computation-aware measure, use the time of
writing in the same unit. Every function measures one sentence that has output; a corpus is the mean
over its sentences. Definitions as in SimulEval 1.1.4, except for YAAL, implemented from the
formulas. Average token delay is in ``engine.metrics.lagging``.

Every function raises ValueError if nothing was written or a length is not above zero.
"""

from collections.abc import Sequence
from itertools import takewhile
from statistics import fmean


def average_lagging(delays: Sequence[float], source_length: float, target_length: int) -> float:
    """Average lagging, AL (Ma et al. 2019, STACL, equation 8).

    The mean over the words up to the first that is written when all source has been read; where
    that is the first of all, its delay is the lagging.

    Args:
        delays: one for each written word, at least one.
        source_length: |X|, in the unit of the delays.
        target_length: |Y*|, words of the reference.
    """
    _check(delays, source_length, target_length)
    n_early = sum(1 for _ in takewhile(lambda delay: delay < source_length, delays))
    return _mean_lag(delays[: n_early + 1], source_length / target_length)


def length_adaptive_average_lagging(
    delays: Sequence[float], source_length: float, target_length: int
) -> float:
    """AL with the longer of output and reference as target length, LAAL (Papi et al. 2022).

    An over-long output lowers it less than AL, but does lower it: words too many count with their
    lag, and their ideal delays grow more slowly.

    Arguments as for ``average_lagging``.
    """
    return average_lagging(delays, source_length, max(target_length, len(delays)))


def yet_another_average_lagging(
    delays: Sequence[float],
    source_length: float,
    target_length: int,
    *,
    recording_end: float | None = None,
) -> float | None:
    """LAAL of the words that were written before the source ended, YAAL (Polák et al. 2025).

    See https://arxiv.org/abs/2509.17349. Words held back until the end of the source do not depend
    on the policy, so they are left out. LongYAAL is the same on a segment of a long recording:
    words may be written after the segment, and only those after the recording are left out.

    Args:
        delays: as for ``average_lagging``; on a segment from its start, below zero for words that
            were written earlier.
        source_length: |X| of the sentence or segment.
        target_length: |Y*| of the sentence or segment.
        recording_end: from the segment's start to the recording's end, for LongYAAL; infinite to
            leave out no word.

    Returns:
        None if all words are left out.
    """
    _check(delays, source_length, target_length)
    end = source_length if recording_end is None else recording_end
    counted = list(takewhile(lambda delay: delay < end, delays))
    step = source_length / max(target_length, len(delays))
    return _mean_lag(counted, step) if counted else None


def average_proportion(delays: Sequence[float], source_length: float, target_length: int) -> float:
    """Share of the source read for the average word, AP (Cho and Esipova 2016).

    As in SimulEval the reference gives the number of words: a longer output raises AP, even above
    one, a shorter one lowers it. Arguments as for ``average_lagging``.
    """
    _check(delays, source_length, target_length)
    return sum(delays) / (source_length * target_length)


def differentiable_average_lagging(delays: Sequence[float], source_length: float) -> float:
    """AL in which each written word costs time, DAL (Arivazhagan et al. 2019, MILk).

    A word comes at least |X| / |Y| after the previous one, so that words written at once at the end
    do not count as catching up. All words count, and |Y| is the hypothesis's own length, as in
    SimulEval with any settings. Arguments as for ``average_lagging``.
    """
    _check(delays, source_length)
    step = source_length / len(delays)
    spread = [float(delays[0])]
    for delay in delays[1:]:
        spread.append(max(delay, spread[-1] + step))
    return _mean_lag(spread, step)


def start_offset(delays: Sequence[float]) -> float:
    """Source read before the first word was written."""
    _check(delays)
    return float(delays[0])


def end_offset(delays: Sequence[float], source_length: float) -> float:
    """Time from the end of the source to the last word; below zero if that came earlier."""
    _check(delays, source_length)
    return float(delays[-1] - source_length)


def _mean_lag(delays: Sequence[float], step: float) -> float:
    """Average the lag of delays behind a translator that needs ``step`` of source for a word."""
    return fmean(delay - index * step for index, delay in enumerate(delays))


def _check(delays: Sequence[float], source_length: float = 1, target_length: int = 1) -> None:
    if not delays:
        msg = "lagging needs at least one written word"
        raise ValueError(msg)
    if source_length <= 0 or target_length <= 0:
        msg = f"lagging needs lengths above zero, got {source_length} and {target_length}"
        raise ValueError(msg)
