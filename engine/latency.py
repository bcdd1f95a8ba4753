"""How far the target lags behind the source: pure functions on delays.

``delays[i]`` is how much source had been read when target word i was written (words for text,
milliseconds for speech). Definitions as SimulEval computes them, written anew from the formulas.
"""

from collections.abc import Sequence


def average_lagging(delays: Sequence[float], source_length: float, target_length: int) -> float:
    """Average lagging, AL (Ma et al. 2019, STACL, equation 8).

    Args:
        delays: one for each written word, at least one.
        source_length: |X|, in the unit of the delays.
        target_length: |Y*|, words of the reference.
    """
    if not delays:
        msg = "lagging needs at least one written word"
        raise ValueError(msg)
    if delays[0] > source_length:
        return float(delays[0])
    step = source_length / target_length  # source that an ideal translator reads for a word
    total, n_words = 0.0, 0
    for index, delay in enumerate(delays):
        total += delay - index * step
        n_words += 1
        if delay >= source_length:
            break
    return total / n_words


def length_adaptive_average_lagging(
    delays: Sequence[float], source_length: float, target_length: int
) -> float:
    """AL that an over-long output cannot lower, LAAL (Papi et al. 2022).

    Arguments as for ``average_lagging``.
    """
    return average_lagging(delays, source_length, max(target_length, len(delays)))
