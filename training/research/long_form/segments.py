"""Measure the lagging of a talk's translation on the segments of its reference.

Delays and lengths have one unit, words or seconds of the source, and count from a segment's start:
output that was written before its segment began has a delay below zero.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.metrics.latency import length_adaptive_average_lagging, yet_another_average_lagging
from engine.metrics.units import n_reference_units
from training.research.long_form.resegment import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A segment of the reference and its translation.

    Attributes:
        text: the part of the talk's translation that was cut to the segment.
        reference: of the segment.
        delays: of the target units of ``text``.
        source_length: |X| of the segment.
        to_end: from the segment's start to the end of the talk.
    """

    text: str
    reference: str
    delays: tuple[float, ...]
    source_length: float
    to_end: float


def make_segments(
    parts: Sequence[Part],
    references: Sequence[str],
    spans: Sequence[tuple[float, float]],
    delays: Sequence[float],
) -> list[Segment]:
    """Combine parts, references and delays of one talk.

    Args:
        parts: of the translation, one for each segment.
        references: one for each segment.
        spans: start and length of each segment, from the start of the talk.
        delays: of each target unit of the talk, from the start of the talk.
    """
    end = max(start + length for start, length in spans)
    return [
        Segment(
            text=part.text,
            reference=reference,
            delays=tuple(delay - start for delay in delays[part.start : part.stop]),
            source_length=length,
            to_end=end - start,
        )
        for part, reference, (start, length) in zip(parts, references, spans, strict=True)
    ]


def stream_laal(segments: Iterable[Segment], language: str) -> float | None:
    """Average LAAL over the segments that have output, StreamLAAL.

    See Papi et al. 2024, https://aclanthology.org/2024.acl-long.202/; as in its version 2, the
    output is cut by mweralign. Return None if no segment has output.
    """
    return _mean(
        length_adaptive_average_lagging(
            one.delays, one.source_length, n_reference_units(one.reference, language)
        )
        for one in segments
        if one.delays
    )


def long_yaal(segments: Iterable[Segment], language: str) -> float | None:
    """Average YAAL over segments, LongYAAL (Polák et al. 2025, https://arxiv.org/abs/2509.17349).

    Words written after the end of the talk are left out, and so are segments without other words.
    The authors cut the output as ``training.research.long_form.soft_segmenter`` does. Return None
    if no segment is left.
    """
    laggings = (
        yet_another_average_lagging(
            one.delays,
            one.source_length,
            n_reference_units(one.reference, language),
            recording_end=one.to_end,
        )
        for one in segments
        if one.delays
    )
    return _mean(lagging for lagging in laggings if lagging is not None)


def _mean(values: Iterable[float]) -> float | None:
    values = list(values)
    return statistics.fmean(values) if values else None
