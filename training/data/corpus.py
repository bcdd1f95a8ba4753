"""Read sentence pairs from files, and write files whole or not at all.

A corpus is one TSV (source, target and, in an optional third column, the corpus of the pair) or two
text files that are aligned line by line. Each may be plain, ``.gz`` or ``.xz``. Text is UTF-8, a
byte order mark is ignored, only a line feed ends a line, and quotes have no meaning: a tab always
separates columns. Everything streams. ``training.data.cleaning`` judges the sentences.
"""

import gzip
import json
import lzma
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import IO

from engine import files
from training.errors import CorpusError

INVALID_UTF8 = "invalid UTF-8"
WRONG_COLUMNS = "wrong number of columns"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SentencePair:
    """One sentence and its translation."""

    source: str
    target: str
    corpus: str  # the third column, or the name of the file


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A row that holds no sentence pair."""

    path: Path
    line: int  # the first is 1
    reason: str  # INVALID_UTF8 or WRONG_COLUMNS
    text: str  # undecodable bytes replaced


def read_rows(paths: Sequence[Path]) -> Iterator[SentencePair | BrokenRow]:
    """Read one TSV or two line-aligned files, broken rows included.

    Args:
        paths: one TSV, or the source's file and the target's.

    Yields:
        an item for each line, in the order of the file.
    """
    if len(paths) == 1:
        yield from _tsv_rows(paths[0])
    elif len(paths) == 2:
        yield from _aligned_rows(paths[0], paths[1])
    else:
        msg = f"a corpus is one TSV or two aligned text files, got {len(paths)} paths"
        raise ValueError(msg)


def read_pairs(paths: Sequence[Path]) -> Iterator[SentencePair]:
    """Read one TSV or two line-aligned files, as ``read_rows``."""
    for row in read_rows(paths):
        if isinstance(row, BrokenRow):
            msg = (
                f"expected UTF-8 text in two or three columns, but {row.path} has {row.reason} "
                f"in line {row.line}; mend the line or let 'surtitle-train prepare' drop it"
            )
            raise CorpusError(msg)
        yield row


def read_lines(path: Path) -> Iterator[bytes]:
    """Read the lines of a plain, ``.gz`` or ``.xz`` file, without line ends and byte order mark."""
    n_lines = 0
    try:
        with _open(path) as file:
            for n_lines, line in enumerate(file, start=1):
                text = line.removeprefix(_BYTE_ORDER_MARK) if n_lines == 1 else line
                yield text.rstrip(b"\r\n")
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        msg = f"expected a readable file, but {path} cannot be read ({reason}); check its name"
        raise CorpusError(msg) from error
    if not n_lines:
        msg = f"expected at least one line of text, but {path} is empty; check how it was made"
        raise CorpusError(msg)


def write_pairs(path: Path, pairs: Iterable[SentencePair]) -> None:
    """Write a TSV of source, target and corpus, compressed by its suffix, all or nothing.

    Args:
        path: the file; it is replaced after the last pair, and kept if ``pairs`` or writing fails.
        pairs: texts without tabs and line ends.
    """
    with replacing(path) as partial, create(partial) as file:
        for pair in pairs:
            file.write(f"{pair.source}\t{pair.target}\t{pair.corpus}\n".encode())


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the name of a file that replaces ``path`` if the block succeeds."""
    partial = path.with_name(f".{os.getpid()}.{path.name}")  # same folder: a rename within one disk
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.replacing(path, partial):
            yield partial
    except OSError as error:
        reason = error.strerror or error
        msg = f"expected to write {path}, but that fails ({reason}); choose another place"
        raise CorpusError(msg) from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a whole file or nothing, a line feed after each line."""
    with replacing(path) as partial:
        partial.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_json(path: Path, value: object) -> None:
    """Write a value as indented JSON, all or nothing; raise CorpusError as ``write_lines``."""
    write_lines(path, [json.dumps(value, ensure_ascii=False, indent=2)])


@contextmanager
def create(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a file for writing, compressed by its suffix; ``read_lines`` reads it."""
    with path.open("wb") as file:
        if path.suffix == ".gz":
            # Without name and date in its header: equal pairs give equal bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                yield packed
        elif path.suffix == ".xz":
            with lzma.open(file, "wb") as packed:
                yield packed
        else:
            yield file


def _open(path: Path) -> IO[bytes] | gzip.GzipFile:
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    if path.suffix == ".xz":
        return lzma.open(path, "rb")
    return path.open("rb")


def _tsv_rows(path: Path) -> Iterator[SentencePair | BrokenRow]:
    name = _corpus_name(path)
    for n_line, line in enumerate(read_lines(path), start=1):
        text = line.decode(errors="replace")
        columns = text.split("\t")
        if len(columns) not in (2, 3):
            yield BrokenRow(path, n_line, WRONG_COLUMNS, text)
        elif not _is_utf8(line):
            yield BrokenRow(path, n_line, INVALID_UTF8, text)
        else:
            source, target, corpus = (*columns, name)[:3]
            yield SentencePair(source, target, corpus.strip() or name)


def _aligned_rows(source_path: Path, target_path: Path) -> Iterator[SentencePair | BrokenRow]:
    name = _corpus_name(source_path)
    sources, targets = read_lines(source_path), read_lines(target_path)
    for n_line, (source, target) in enumerate(zip_longest(sources, targets), start=1):
        if source is None or target is None:
            n_longer = n_line + sum(1 for _ in (targets if source is None else sources))
            n_source, n_target = (
                (n_line - 1, n_longer) if source is None else (n_longer, n_line - 1)
            )
            msg = (
                f"expected two files of equally many lines, but {source_path} has {n_source} and "
                f"{target_path} has {n_target}; align them line by line first"
            )
            raise CorpusError(msg)
        for path, line in ((source_path, source), (target_path, target)):
            if not _is_utf8(line):
                yield BrokenRow(path, n_line, INVALID_UTF8, line.decode(errors="replace"))
                break
        else:
            yield SentencePair(source.decode(), target.decode(), name)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _corpus_name(path: Path) -> str:
    return (path.with_suffix("") if path.suffix in {".gz", ".xz"} else path).stem
