"""A corpus of spoken sentence pairs: a table, and shards of sound beside it.

``SPLIT.tsv`` has a line for each utterance, in the columns of ``Line``; ``SHARD.i16`` holds sound
of several, one behind the other: 16-bit integers, little-endian, 16 kHz, one channel.
Recordings are brought into the same two kinds of files.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from pathlib import Path

import numpy as np

from engine.audio.chunks import Samples
from training.data.aligned_pairs import AlignedPair
from training.data.corpus import read_lines, write_lines
from training.errors import CorpusError

SaidPair = tuple[AlignedPair, int, tuple[int, ...], str]
"""A pair, the samples of its sound, the milliseconds at which its words end, and who says it."""

_FULL = 32767
_SAMPLE_BYTES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One utterance, as the table has it.

    Attributes:
        shard: name of the file of its sound, without ``.i16``.
        first, n_samples: where it stands in the shard, in samples.
        source, target: what is said, and its translation.
        corpus: of the pair.
        needs: for each target word, the source words that it needs (docs/read_n_data.md); empty
            where the alignment is not trusted.
        ends_ms: when each source word ends, from the beginning of the sound; empty where nobody
            knows.
        voice: who says it; empty for people who are not told apart.
    """

    shard: str
    first: int
    n_samples: int
    source: str
    target: str
    corpus: str
    needs: tuple[int, ...]
    ends_ms: tuple[int, ...]
    voice: str

    def __post_init__(self) -> None:
        n_source, n_target = len(self.source.split()), len(self.target.split())
        for name, numbers, n_words in (
            ("needs", self.needs, n_target),
            ("ends_ms", self.ends_ms, n_source),
        ):
            if numbers and len(numbers) != n_words:
                msg = f"{n_words} words have as many {name}, got {len(numbers)}"
                raise ValueError(msg)
            if any(later < earlier for earlier, later in pairwise(numbers)):
                msg = f"{name} never fall, got {list(numbers)}"
                raise ValueError(msg)
        if self.first < 0 or self.n_samples < 1:
            msg = f"sound begins at 0 or later and has a sample, got {self.first}, {self.n_samples}"
            raise ValueError(msg)
        if self.needs and not 1 <= self.needs[0] <= self.needs[-1] <= n_source:
            msg = f"needs are from 1 to {n_source} source words, got {list(self.needs)}"
            raise ValueError(msg)

    def as_text(self) -> str:
        """Return the line of the table."""
        return "\t".join(
            " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            for value in astuple(self)
        )


def read_table(path: Path) -> list[Line]:
    """Read the table of a corpus; the shards must be there, and long enough.

    Raises:
        CorpusError: it cannot be read, a line is no utterance, or a shard lacks sound.
    """
    lines, sizes = list[Line](), dict[str, int]()
    for number, text in enumerate(read_lines(path), start=1):
        try:
            line = _parsed(text.decode())
            if line.shard not in sizes:
                n_bytes = shard_path(path, line.shard).stat().st_size
                sizes[line.shard] = n_bytes // _SAMPLE_BYTES
            _check_sound(line, sizes[line.shard])
        except (OSError, ValueError) as error:
            msg = (
                f"line {number} of {path} is no utterance ({error}): make the file with "
                "surtitle-research speech-data"
            )
            raise CorpusError(msg) from error
        lines.append(line)
    return lines


def _check_sound(line: Line, n_samples: int) -> None:
    if line.first + line.n_samples > n_samples:
        msg = f"its shard {line.shard} has {n_samples} samples, too few for it"
        raise ValueError(msg)


def _parsed(text: str) -> Line:
    columns = text.split("\t")
    names = [field.name for field in fields(Line)]
    if len(columns) != len(names):
        msg = f"{len(names)} columns were expected, got {len(columns)}"
        raise ValueError(msg)
    row = dict(zip(names, columns, strict=True))
    if not row["shard"] or Path(row["shard"]).name != row["shard"]:
        msg = f"a shard is the name of a file beside it, got {row['shard']!r}"
        raise ValueError(msg)
    return Line(
        shard=row["shard"],
        first=int(row["first"]),
        n_samples=int(row["n_samples"]),
        source=row["source"],
        target=row["target"],
        corpus=row["corpus"],
        needs=tuple(map(int, row["needs"].split())),
        ends_ms=tuple(map(int, row["ends_ms"].split())),
        voice=row["voice"],
    )


def write_table(path: Path, lines: Iterable[Line]) -> None:
    """Write the table of a corpus, whole or not at all.

    Raises:
        CorpusError: it cannot be written.
    """
    write_lines(path, (line.as_text() for line in lines))


def shard_lines(shard: str, said: Iterable[SaidPair]) -> Iterator[Line]:
    """Yield the lines of the utterances of a shard, whose sounds stand one behind the other."""
    first = 0
    for one, n_samples, ends_ms, voice in said:
        yield Line(
            shard=shard,
            first=first,
            n_samples=n_samples,
            source=one.pair.source,
            target=one.pair.target,
            corpus=one.pair.corpus,
            needs=one.needs or (),
            ends_ms=ends_ms,
            voice=voice,
        )
        first += n_samples


def shard_path(table: Path, shard: str) -> Path:
    """Return where a shard stands."""
    return table.with_name(f"{shard}.i16")


def read_sound(table: Path, line: Line) -> Samples:
    """Read the sound of an utterance, shape (n_samples,), float32 from -1 to 1.

    Raises:
        CorpusError: the shard cannot be read.
    """
    path = shard_path(table, line.shard)
    try:
        integers = np.fromfile(path, "<i2", count=line.n_samples, offset=_SAMPLE_BYTES * line.first)
    except OSError as error:
        msg = f"{path} cannot be read ({error.strerror}): make it again, or put it beside the table"
        raise CorpusError(msg) from error
    return integers.astype(np.float32) / np.float32(_FULL)


def sound_bytes(sounds: Sequence[Samples]) -> bytes:
    """Return the content of a shard with these sounds one behind the other."""
    whole = np.concatenate([np.zeros(0, np.float32), *sounds])
    return (whole.clip(-1, 1) * _FULL).round().astype("<i2").tobytes()
