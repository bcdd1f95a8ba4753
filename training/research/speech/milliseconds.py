"""Lagging of captions behind sound, in milliseconds, as SimulEval measures speech.

Sound comes in pieces of one length; the last one of an utterance may be shorter. A word that was
written after a piece has as its delay how much sound had come then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from engine.metrics.latency import length_adaptive_average_lagging
from engine.metrics.translation import Translation
from engine.metrics.units import n_reference_units


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundLag:
    """Means over the utterances that have output, in milliseconds.

    Attributes:
        laal_ms: without the time of computing.
        laal_ca_ms: with it: work on a piece begins when it has come and that on the one before is
            done.
        laal_ca_simuleval_ms: with it, as SimulEval counts: all computing so far is added, as if no
            sound came meanwhile.
    """

    laal_ms: float
    laal_ca_ms: float
    laal_ca_simuleval_ms: float


def arrivals_ms(n_pieces: int, piece_ms: float, length_ms: float) -> list[float]:
    """Return how much sound has come with each piece."""
    return [min(n * piece_ms, length_ms) for n in range(1, n_pieces + 1)]


def sound_lag(
    translations: Sequence[Translation],
    references: Sequence[str],
    lengths_ms: Sequence[float],
    *,
    piece_ms: float,
    language: str,
) -> SoundLag | None:
    """Average over utterances whose source units are pieces of sound; None if all are empty.

    Args:
        translations: of the utterances.
        references: one for each.
        lengths_ms: of their sound.
        piece_ms: of a piece.
        language: of the target.
    """
    rows = [
        _lags(one, length_ms, piece_ms, n_reference_units(reference, language))
        for one, reference, length_ms in zip(translations, references, lengths_ms, strict=True)
        if one.delays
    ]
    if not rows:
        return None
    laal, queued, added = (fmean(column) for column in zip(*rows, strict=True))
    return SoundLag(laal_ms=laal, laal_ca_ms=queued, laal_ca_simuleval_ms=added)


def _lags(
    one: Translation, length_ms: float, piece_ms: float, n_units: int
) -> tuple[float, float, float]:
    came = arrivals_ms(len(one.ms), piece_ms, length_ms)
    queued, added = list[float](), list[float]()
    finish = spent = 0.0
    for arrival, cost in zip(came, one.ms, strict=True):
        queued.append(max(arrival, finish))
        finish = queued[-1] + cost
        added.append(arrival + spent)
        spent += cost
    units = list(zip(one.delays, one.emitted_ms, strict=True))

    def laal(delays: Sequence[float]) -> float:
        return length_adaptive_average_lagging(delays, length_ms, n_units)

    return (
        laal([came[n - 1] for n, _ in units]),
        laal([queued[n - 1] + emitted for n, emitted in units]),
        laal([added[n - 1] + emitted for n, emitted in units]),
    )
