"""A glossary: read its terms from a file, and find them in a source."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from engine.errors import ContextError, message_of
from engine.messages import Code, Message

_MOST_BYTES = 1 << 22
"""The largest file; a prompt has room for a hundredth of it."""


def read_glossary(path: Path) -> tuple[tuple[str, str], ...]:
    """Read UTF-8 text with a term, a tab and its translation on each line.

    A table that was saved with semicolons is read likewise. A line without either is a name, which
    is its own translation. Empty lines, and lines that begin with ``#``, are skipped.

    Raises:
        ContextError: it cannot be read, or a line has another form.
    """
    try:
        text = _text(path)
    except (OSError, ValueError) as error:
        message = Code.GLOSSARY_UNREADABLE(path=str(path), reason=_reason(error))
        raise ContextError(message) from error
    return tuple(_terms(path, re.split("\r\n?|\n", text)))


def _text(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(Code.LONGER_THAN(most=_MOST_BYTES))
    return content.decode("utf-8-sig")


def _reason(error: OSError | ValueError) -> Message:
    if isinstance(error, UnicodeDecodeError):
        return Code.BYTE_NO_UTF8(byte=error.start)
    return message_of(error)


def _terms(path: Path, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        mark = "\t" if "\t" in line else ";"
        parts = [part.strip() for part in line.split(mark)]
        if len(parts) > 2 or not all(parts):
            code = Code.GLOSSARY_LINE
            raise ContextError(code(number=number, path=str(path), line=repr(line[:60])))
        yield parts[0], parts[-1]


EDGES = ".,;:!?¿¡…\"'“”„‚‘’«»()[]"
"""Punctuation that may stand around a word."""

MAX_TERMS, LONGEST = 500, 120
"""Terms of a glossary, and characters of each; they bound what a source may find."""

_POSSESSIVES = ("'s", "’s")


class TermFinder:
    """The terms of a glossary by their spelling.

    A term in lower case is found in any case, another one only as it is written.
    """

    def __init__(self, glossary: Sequence[tuple[str, str]]) -> None:
        """Take terms with their translations; of two alike, the first counts.

        Raises:
            ContextError: they are too many, or one is too long.
        """
        longest = max((len(text) for pair in glossary for text in pair), default=0)
        if len(glossary) > MAX_TERMS or longest > LONGEST:
            code, most = Code.GLOSSARY_TOO_LARGE, MAX_TERMS
            raise ContextError(
                code(most=most, most_long=LONGEST, n_terms=len(glossary), longest=longest)
            )
        self._translations = dict[str, str]()
        for term, translation in glossary:
            self._translations.setdefault(bare(" ".join(term.split())), translation)
        self._translations.pop("", None)
        self._longest = max((1 + key.count(" ") for key in self._translations), default=0)

    def found(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the translation of each term in a source; no word belongs to two terms."""
        for _, translation in self.pairs(words):
            yield translation

    def pairs(self, words: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield each term in a source, as the glossary has it, with its translation."""
        start = 0
        while start < len(words):
            for length in range(min(self._longest, len(words) - start), 0, -1):
                term = self._term(bare(" ".join(words[start : start + length])))
                if term is not None:
                    yield term, self._translations[term]
                    start += length
                    break
            else:
                start += 1

    def _term(self, text: str) -> str | None:
        """Return the term that a text is, also a plural that only adds an s."""
        for form in (text, text.removesuffix("s")):
            for key in (form, form.lower()):
                if key in self._translations:
                    return key
        return None


def bare(text: str) -> str:
    """Remove punctuation around words, and the possessive s."""
    text = text.strip(EDGES)
    for ending in _POSSESSIVES:
        text = text.removesuffix(ending)
    return text
