"""How long after its source each target word ends: average token delay, a pure function on delays.

Other laggings ask how much had been read; this one asks when a word ends, so that a long piece of
output written at once delays what follows. Defined for chunks: a chunk is what was read and then
written between two moments of reading.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import fmean


@dataclass(frozen=True, slots=True)
class TokenLengths:
    """How long tokens last, in the unit of the delays.

    Attributes:
        source: of a source token; what is left of a chunk makes a shorter one.
        target: of a target token.
    """

    source: float
    target: float


TEXT = TokenLengths(source=1, target=1)
"""Text to text, delays in words."""

SPEECH = TokenLengths(source=300, target=0)
"""Speech to text, delays in milliseconds: words of 300 ms are heard, captions take no time."""


def average_token_delay(
    delays: Sequence[float],
    elapsed: Sequence[float] | None = None,
    lengths: TokenLengths = TEXT,
) -> float:
    """Average token delay, ATD (Kano et al. 2023, https://arxiv.org/abs/2211.13173).

    The mean over target tokens t of ``end(t) - end(s)``, where s is the source token that t answers
    to: the t-th, earlier by as many tokens as the target had got ahead of the source when the chunk
    began, and never later than what the chunk had read. A target token starts when it is written
    and the one before it has ended. As SimulEval 1.1.4 computes it.

    Args:
        delays: source read when each word was written, at least one, never falling.
        elapsed: for the computation-aware variant, when each word was written by SimulEval's
            convention: source read plus all computing so far. The word then lasts longer by the
            computing since the word before it.
        lengths: of the tokens.

    Raises:
        ValueError: nothing was written, a delay falls, or ``elapsed`` has another length.
    """
    _check(delays, elapsed)
    computing = _computing(delays, elapsed)
    source_ends, target_end, lags, read = [0.0], 0.0, list[float](), 0.0
    for delay, chunk in groupby(delays):
        ahead = max(0, len(lags) - (len(source_ends) - 1))
        source_ends.extend(_token_ends(source_ends[-1], delay - read, lengths.source))
        read = delay
        for _ in chunk:
            t = len(lags) + 1
            target_end = max(delay, target_end) + lengths.target + computing[t - 1]
            lags.append(target_end - source_ends[min(t - ahead, len(source_ends) - 1)])
    return fmean(lags)


def _token_ends(start: float, duration: float, token: float) -> Iterator[float]:
    """Cut what a chunk read into tokens, the last one shorter if need be."""
    n_whole, rest = divmod(duration, token)
    for n in range(1, int(n_whole) + 1):
        yield start + n * token
    if rest:
        yield start + duration


def _computing(delays: Sequence[float], elapsed: Sequence[float] | None) -> list[float]:
    """Tell for each word how much the computing so far grew since the word before it."""
    if elapsed is None:
        return [0.0] * len(delays)
    so_far = [0.0, *(at - delay for at, delay in zip(elapsed, delays, strict=True))]
    return [later - earlier for earlier, later in pairwise(so_far)]


def _check(delays: Sequence[float], elapsed: Sequence[float] | None) -> None:
    if not delays:
        msg = "token delay needs at least one written word"
        raise ValueError(msg)
    if any(later < earlier for earlier, later in pairwise((0, *delays))):
        msg = f"delays never fall and are not below zero, got {list(delays)}"
        raise ValueError(msg)
    if elapsed is not None and len(elapsed) != len(delays):
        msg = f"{len(delays)} words need as many elapsed times, got {len(elapsed)}"
        raise ValueError(msg)
