"""The glossaries a person keeps: for each target language a file of terms, checked. No Qt.

The files are as ``engine.glossary`` reads them, so ``surtitle translate --glossary`` takes them.
"""

from collections.abc import Sequence
from pathlib import Path

from app.kept_file import put
from engine.errors import ContextError
from engine.glossary import read_glossary

Terms = tuple[tuple[str, str], ...]
"""Terms of the source language, each with its translation."""

MAX_TERMS = 500
"""No prompt has room for more; see ``engine.context``."""

_LONGEST = 120  # characters of a term


def fault_of(term: str, translation: str) -> str:
    """Say why a pair cannot stand in a glossary; nothing where it can."""
    for what, text in (("term", term), ("translation", translation)):
        if not text.strip():
            return f"a {what} is empty: write it, or remove the row"
        if len(text) > _LONGEST:
            return f"a {what} has {len(text)} characters, {_LONGEST} are the most: shorten it"
        if not text.isprintable():
            return f"a {what} has a tab, a line break or the like in it: write it on one line"
    if term.strip().startswith("#"):
        return "a term begins with #, which begins a remark in the file: write it otherwise"
    return ""


def faults(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Say of each pair why it cannot stand in the glossary; nothing where it can."""
    found, seen = list[str](), set[str]()
    for number, (term, translation) in enumerate(pairs, start=1):
        fault = fault_of(term, translation)
        key = term.strip().casefold()
        if not fault and key in seen:
            fault = f"{term.strip()!r} stands above already: remove one of the rows"
        if not fault and number > MAX_TERMS:
            fault = f"there are more than {MAX_TERMS} terms: remove some"
        seen.add(key)
        found.append(fault)
    return found


def sound_terms(pairs: Sequence[tuple[str, str]]) -> Terms:
    """Take the pairs without a fault, blanks at their ends cut."""
    kept = zip(pairs, faults(pairs), strict=True)
    return tuple((one.strip(), other.strip()) for (one, other), fault in kept if not fault)


def read_terms(path: Path) -> Terms:
    """Read a file of terms.

    Raises:
        ContextError: it cannot be read, or a line is written otherwise.
    """
    return sound_terms(read_glossary(path))


def write_terms(path: Path, terms: Terms) -> str:
    """Write a file of terms, whole or not at all.

    Returns:
        a sentence for the person if that failed, else nothing.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, "".join(f"{term}\t{translation}\n" for term, translation in terms))
    except OSError as error:
        return f"the glossary could not be written to {path}: {error.strerror}; it holds for now"
    return ""


class GlossaryShelf:
    """One file for each target language in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, language: str) -> Path:
        """Say where the terms of a language lie."""
        return self._folder / f"{language}.tsv"

    def read(self, language: str) -> tuple[Terms, str]:
        """Read the terms of a language.

        Returns:
            them, and a sentence for the person where the file cannot be used.
        """
        if not self.path(language).exists():
            return (), ""
        try:
            return read_terms(self.path(language)), ""
        except ContextError as error:
            return (), str(error)

    def write(self, language: str, terms: Terms) -> str:
        """Write the terms of a language; return a sentence if that failed."""
        return write_terms(self.path(language), terms)
