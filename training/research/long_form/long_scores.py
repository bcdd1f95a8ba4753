"""Score translations of whole talks: quality and lagging on the segments of the reference, cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.metrics.quality import Quality, measure_quality
from engine.metrics.real_time import real_time_delays
from engine.metrics.translation import Translation
from engine.metrics.units import is_spaced
from training.evaluation.degenerate import is_degenerate
from training.evaluation.scores import Cost, flattened, measure_cost, normalised_erasure
from training.research.long_form.resegment import Part
from training.research.long_form.segments import Segment, long_yaal, make_segments, stream_laal
from training.research.long_form.talks import Talk


@dataclass(frozen=True, slots=True, kw_only=True)
class LongScores:
    """Scores of one policy over talks: an object of ``summary.json``.

    Attributes:
        quality: of the segments that ``training.research.long_form.resegment`` cut.
        bleu_soft, chrf_soft: of the segments that ``training.research.long_form.soft_segmenter``
        cut. stream_laal, long_yaal: in source words, each on its own cut, see
            ``training.research.long_form.segments``; None if nothing was written.
        stream_laal_ca, long_yaal_ca: with computing time, by the queue model of
            ``engine.metrics.real_time``.
        normalised_erasure: target units taken away again for each unit that stayed.
        cost: a talk stands for a sentence.
        n_words: source words.
        n_empty: segments without output, by the first cut.
        n_degenerate: segments whose output is a loop, see ``training.evaluation.degenerate``.
    """

    policy: str
    system: str
    quality: Quality
    bleu_soft: float
    chrf_soft: float
    stream_laal: float | None
    stream_laal_ca: float | None
    long_yaal: float | None
    long_yaal_ca: float | None
    normalised_erasure: float
    cost: Cost
    n_talks: int
    n_segments: int
    n_words: int
    n_empty: int
    n_degenerate: int

    def row(self) -> dict[str, str | float | None]:
        """Return all scores side by side, under their names; a talk counts as a sentence."""
        renamed = {"gflops_per_sentence": "gflops_per_talk"}
        return {renamed.get(name, name): value for name, value in flattened(self).items()}


def score(
    policy: str,
    translations: Sequence[Translation],
    talks: Sequence[Talk],
    parts: Sequence[Sequence[Part]],
    soft_parts: Sequence[Sequence[Part]],
    language: str,
) -> LongScores:
    """Score the translations of a policy.

    Args:
        policy: its name.
        translations: one for each talk, at least one.
        talks: sources and references.
        parts: of each translation, as ``training.research.long_form.resegment`` cut it.
        soft_parts: likewise, as ``training.research.long_form.soft_segmenter`` cut it.
        language: two-letter code of the target.

    Raises:
        TrainingError: sacreBLEU lacks its tokenizer for the language.
    """
    delays = [one.delays for one in translations]
    delays_ca = [real_time_delays(one) for one in translations]
    written, soft = (_segments(talks, cut, delays) for cut in (parts, soft_parts))
    written_ca, soft_ca = (_segments(talks, cut, delays_ca) for cut in (parts, soft_parts))
    sources = [source for talk in talks for source in talk.sources]
    soft_quality = _quality(soft, language)
    spaced = is_spaced(language)
    return LongScores(
        policy=policy,
        system="slots",
        quality=_quality(written, language),
        bleu_soft=soft_quality.bleu,
        chrf_soft=soft_quality.chrf,
        stream_laal=stream_laal(written, language),
        stream_laal_ca=stream_laal(written_ca, language),
        long_yaal=long_yaal(soft, language),
        long_yaal_ca=long_yaal(soft_ca, language),
        normalised_erasure=normalised_erasure(translations),
        cost=measure_cost(translations),
        n_talks=len(talks),
        n_segments=len(written),
        n_words=sum(len(talk.words) for talk in talks),
        n_empty=sum(not one.delays for one in written),
        n_degenerate=sum(
            is_degenerate(one.text, source.split(), spaced=spaced)
            for one, source in zip(written, sources, strict=True)
        ),
    )


def _quality(segments: Sequence[Segment], language: str) -> Quality:
    texts, references = zip(*((one.text, one.reference) for one in segments), strict=True)
    return measure_quality(texts, references, language)


def _segments(
    talks: Sequence[Talk], parts: Sequence[Sequence[Part]], delays: Sequence[Sequence[float]]
) -> list[Segment]:
    """List the segments of all talks; lengths and delays are in source words."""
    return [
        segment
        for talk, own_parts, own_delays in zip(talks, parts, delays, strict=True)
        for segment in make_segments(
            own_parts,
            talk.references,
            list(zip(talk.starts, talk.lengths, strict=True)),
            own_delays,
        )
    ]
