"""Average the lagging of translations behind their source, by ``engine.metrics.latency``.

The target's units are those of ``engine.metrics.units``. Means are taken over sentences, as in
SimulEval: a sentence without output has no lagging, so it is left out.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, fields

from engine.metrics.latency import (
    average_lagging,
    average_proportion,
    differentiable_average_lagging,
    end_offset,
    length_adaptive_average_lagging,
    start_offset,
)
from engine.metrics.real_time import real_time_delays, simuleval_delays
from engine.metrics.token_delay import average_token_delay
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
