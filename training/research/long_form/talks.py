"""Read talks: line-aligned segments in talks that are translated as one stream."""

from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path

from training.data.corpus import read_lines, read_pairs
from training.errors import CorpusError


@dataclass(frozen=True, slots=True)
class Talk:
    """A talk; its segments are for the scores only, the translator sees one stream of words.

    Attributes:
        sources: text of each segment, at least one word each.
        references: translation of each segment.
    """

    sources: tuple[str, ...]
    references: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The source words of the whole talk."""
        return tuple(" ".join(self.sources).split())

    @property
    def lengths(self) -> tuple[int, ...]:
        """Source words of each segment."""
        return tuple(len(source.split()) for source in self.sources)

    @property
    def starts(self) -> tuple[int, ...]:
        """Source words of the talk before each segment."""
        return tuple(accumulate(self.lengths[:-1], initial=0))


def read_talks(
    source: Path, reference: Path, names: Path | None = None, limit: int | None = None
) -> list[Talk]:
    """Read talks.

    Args:
        source: a segment in each line.
        reference: its translation in the same line.
        names: the name of the talk in each line; adjacent lines of equal name are one talk. None
            makes one talk of all lines.
        limit: segments from the start of the files; None takes all.
    """
    pairs = list(read_pairs((source, reference)))
    names_of_lines = [b""] * len(pairs) if names is None else list(read_lines(names))
    if len(names_of_lines) != len(pairs):
        msg = (
            f"expected the name of a talk for each line of {source}, but that has {len(pairs)} and "
            f"{names} has {len(names_of_lines)}; give each line one"
        )
        raise CorpusError(msg)
    for number, pair in enumerate(pairs, start=1):
        if not pair.source.split():
            msg = (
                f"expected words in each line, but line {number} of {source} has none; leave it "
                "out in all files"
            )
            raise CorpusError(msg)
    lines = list(zip(names_of_lines, pairs, strict=True))[:limit]
    talks = [list(group) for _, group in groupby(lines, key=lambda line: line[0].strip())]
    return [
        Talk(tuple(pair.source for _, pair in talk), tuple(pair.target for _, pair in talk))
        for talk in talks
    ]
