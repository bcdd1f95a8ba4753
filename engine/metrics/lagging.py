"""Average the lagging of translations behind their source, by ``engine.metrics.latency``.

The target's units are those of ``engine.metrics.units``. Means are taken over sentences, as in
SimulEval: a sentence without output has no lagging, so it is left out.
"""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import groupby, pairwise
from statistics import fmean

from engine.metrics.latency import (
    average_lagging,
    average_proportion,
    differentiable_average_lagging,
    end_offset,
    length_adaptive_average_lagging,
    start_offset,
)
from engine.metrics.real_time import real_time_delays, simuleval_delays
from engine.metrics.translation import Translation
from engine.metrics.units import n_reference_units


@dataclass(frozen=True, slots=True, kw_only=True)
class Laggings:
    """Every measure of lagging, in source words; AP is a share.

    Attributes:
        al, laal, ap, dal, atd, start_offset, end_offset: without the time of computing.
        laal_ca: LAAL with computing, by the queue model of ``engine.metrics.real_time``.
        laal_ca_simuleval: LAAL by SimulEval's convention, in which computing adds up.
    """

    al: float
    laal: float
    ap: float
    dal: float
    atd: float
    start_offset: float
    end_offset: float
    laal_ca: float
    laal_ca_simuleval: float


def laggings(translation: Translation, n_units: int) -> Laggings:
    """Measure a translation that is not empty; ``n_units`` of its reference."""
    delays, length = translation.delays, len(translation.source)

    def laal(delays: Sequence[float]) -> float:
        return length_adaptive_average_lagging(delays, length, n_units)

    return Laggings(
        al=average_lagging(delays, length, n_units),
        laal=laal(delays),
        ap=average_proportion(delays, length, n_units),
        dal=differentiable_average_lagging(delays, length),
        atd=average_token_delay(delays),
        start_offset=start_offset(delays),
        end_offset=end_offset(delays, length),
        laal_ca=laal(real_time_delays(translation)),
        laal_ca_simuleval=laal(simuleval_delays(translation)),
    )


def mean_laggings(
    translations: Sequence[Translation], references: Sequence[str], language: str
) -> Laggings | None:
    """Average over the sentences that have output; None if none has."""
    rows = [
        laggings(translation, n_reference_units(reference, language))
        for translation, reference in zip(translations, references, strict=True)
        if translation.delays
    ]
    if not rows:
        return None
    names = [field.name for field in fields(Laggings)]
    return Laggings(
        **{name: statistics.fmean(float(getattr(row, name)) for row in rows) for name in names}
    )


def caption_lags_s(translation: Translation) -> list[float]:
    """Return seconds from the end of the sound of each source word to its caption.

    Its caption is the target unit that stands at the same share of the line, as LAAL has it, or the
    end of the line where nothing was written. The time of computing does not count. Empty where
    words have no times.
    """
    n_words, came_s = len(translation.said_s), translation.came_s
    delays = translation.delays or (n_words,)
    units = (-(-number * len(delays) // n_words) for number in range(1, n_words + 1))
    return [
        came_s[delays[unit - 1] - 1] - said_s
        for unit, said_s in zip(units, translation.said_s, strict=True)
    ]


def average_token_delay(
    delays: Sequence[float], *, source_token: float = 1, target_token: float = 1
) -> float:
    """Average token delay, ATD (Kano et al. 2023, https://arxiv.org/abs/2211.13173).

    Other laggings use the amount of source read; this one uses the ends of words, so that a long
    output written at once delays later words. A chunk is source that was read at once, and the
    target written before the next read.

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
