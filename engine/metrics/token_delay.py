"""Average token delay, a pure function on delays: the time from source to target word ends.

Other laggings use the amount of source read; this one uses the ends of words, so that a long output
written at once delays later words. It is defined on chunks: source that was read at once, and the
target written before the next read.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from statistics import fmean


def average_token_delay(
    delays: Sequence[float], *, source_token: float = 1, target_token: float = 1
) -> float:
    """Average token delay, ATD (Kano et al. 2023, https://arxiv.org/abs/2211.13173).

    The mean over target tokens t of ``end(t) - end(s)``, where s is the source token that
    corresponds to t: the t-th, less the number of tokens by which the target was ahead of the
    source at the start of the chunk, and at most the last one read. A target token starts when it
    is written and the previous one has ended. As in SimulEval 1.1.4.

    Args:
        delays: source read when each word was written, at least one, never falling.
        source_token: length of one in the unit of the delays; the last of a chunk may be shorter.
        target_token: likewise; a caption of speech takes no time.

    Raises:
        ValueError: nothing was written, or a delay falls.
    """
    _check(delays)
    source_ends, target_end, lags, read = [0.0], 0.0, list[float](), 0.0
    for delay, chunk in groupby(delays):
        ahead = max(0, len(lags) - (len(source_ends) - 1))
        source_ends.extend(_token_ends(source_ends[-1], delay - read, source_token))
        read = delay
        for _ in chunk:
            target_end = max(delay, target_end) + target_token
            lags.append(target_end - source_ends[min(len(lags) + 1 - ahead, len(source_ends) - 1)])
    return fmean(lags)


def _token_ends(start: float, duration: float, token: float) -> Iterator[float]:
    """Yield the ends of the source tokens of a chunk; the last one may be shorter."""
    n_whole, rest = divmod(duration, token)
    for n in range(1, int(n_whole) + 1):
        yield start + n * token
    if rest:
        yield start + duration


def _check(delays: Sequence[float]) -> None:
    if not delays:
        msg = "token delay needs at least one written word"
        raise ValueError(msg)
    if any(later < earlier for earlier, later in pairwise((0, *delays))):
        msg = f"delays never fall and are not below zero, got {list(delays)}"
        raise ValueError(msg)
