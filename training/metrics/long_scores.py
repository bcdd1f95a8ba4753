"""Score translations of whole talks: quality and lagging on the segments of the reference, cost."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from engine.metrics.quality import Quality, measure_quality
from engine.metrics.real_time import real_time_delays
from engine.metrics.translation import Translation
from engine.metrics.units import is_spaced
from training.data.talks import Talk
from training.metrics.degenerate import is_degenerate
from training.metrics.resegment import Part
from training.metrics.scores import Cost, measure_cost
from training.metrics.segments import Segment, long_yaal, make_segments, stream_laal


@dataclass(frozen=True, slots=True, kw_only=True)
class LongScores:
    """Scores of one policy over talks: an object of ``summary.json``.

    Attributes:
        quality: of the segments that ``training.metrics.resegment`` cut.
        soft_quality: of those that ``training.metrics.soft_segmenter`` cut.
        stream_laal, long_yaal: in source words, each on its own cut, see
        ``training.metrics.segments``;
            None where nothing was written.
        stream_laal_ca, long_yaal_ca: of what a person sees, by the queue model of
            ``engine.metrics.real_time``.
        normalised_erasure: target units taken away again for each one that stayed.
        cost: a talk stands for a sentence.
        n_words: source words.
        n_empty: segments to which no output fell, by the first cut.
        n_degenerate: segments whose output is a loop, see ``training.metrics.degenerate``.
    """

    policy: str
    system: str
    quality: Quality
    soft_quality: Quality
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
        """Lay all scores side by side, under their names."""
        row: dict[str, str | float | None] = {"policy": self.policy, "system": self.system}
        row |= asdict(self.quality)
        row |= {"bleu_soft": self.soft_quality.bleu, "chrf_soft": self.soft_quality.chrf}
        for name in ("stream_laal", "stream_laal_ca", "long_yaal", "long_yaal_ca"):
            row[name] = getattr(self, name)
        row["normalised_erasure"] = self.normalised_erasure
        row |= asdict(self.cost)
        row["gflops_per_talk"] = row.pop("gflops_per_sentence")
        for name in ("n_talks", "n_segments", "n_words", "n_empty", "n_degenerate"):
            row[name] = getattr(self, name)
        return row


def score(
    policy: str,
    translations: Sequence[Translation],
    talks: Sequence[Talk],
    parts: Sequence[Sequence[Part]],
    soft_parts: Sequence[Sequence[Part]],
    language: str,
) -> LongScores:
    """Score what a policy wrote.

    Args:
        policy: its name.
        translations: one for each talk, at least one.
        talks: what was translated.
        parts: of each translation, as ``training.metrics.resegment`` cut it.
        soft_parts: likewise, as ``training.metrics.soft_segmenter`` cut it.
        language: two-letter code of the target.

    Raises:
        TrainingError: sacreBLEU lacks its tokenizer for the language.
    """
    delays = [one.delays for one in translations]
    delays_ca = [real_time_delays(one) for one in translations]
    written, soft = (_segments(talks, cut, delays) for cut in (parts, soft_parts))
    written_ca, soft_ca = (_segments(talks, cut, delays_ca) for cut in (parts, soft_parts))
    sources = [source for talk in talks for source in talk.sources]
    spaced = is_spaced(language)
    return LongScores(
        policy=policy,
        system="slots",
        quality=_quality(written, language),
        soft_quality=_quality(soft, language),
        stream_laal=stream_laal(written, language),
        stream_laal_ca=stream_laal(written_ca, language),
        long_yaal=long_yaal(soft, language),
        long_yaal_ca=long_yaal(soft_ca, language),
        normalised_erasure=sum(one.n_erased for one in translations)
        / max(1, sum(len(one.delays) for one in translations)),
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
