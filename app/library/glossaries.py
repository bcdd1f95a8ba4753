"""The glossaries a person keeps: for each target language a file of terms, checked. No Qt.

The files are as ``engine.text.glossary`` reads them, so ``surtitle translate --glossary`` takes
them.
"""

import enum
from collections.abc import Sequence
from pathlib import Path

from engine.errors import ContextError
from engine.files import write_file
from engine.text.glossary import read_glossary
from engine.untrusted.safe_names import is_plain_name
from engine.untrusted.strict_json import shown

Terms = tuple[tuple[str, str], ...]
"""Terms of the source language, each with its translation."""

MAX_TERMS = 500
"""No prompt has room for more; see ``engine.text.prompt_context``."""

_NO_CODE = "no glossary is kept for {}, which is no code of a language: choose another one"

_LONGEST_CODE = 40

LONGEST = 120
"""Characters that a term may have."""


class Fault(enum.Enum):
    """Why a pair cannot stand in a glossary."""

    EMPTY = "term or translation is empty"
    LONG = "term or translation is too long"
    BREAK = "a tab, a line break or the like is in it"
    REMARK = "the term begins with #, which begins a remark in the file"
    DOUBLE = "the term stands above already"
    MANY = "there are more terms than may be"


def fault_of(term: str, translation: str) -> Fault | None:
    """Say why a pair cannot stand in a glossary; None where it can."""
    both = (term.strip(), translation.strip())
    if not all(both):
        return Fault.EMPTY
    if any(len(text) > LONGEST for text in both):
        return Fault.LONG
    if not all(text.isprintable() for text in (term, translation)):
        return Fault.BREAK
    return Fault.REMARK if both[0].startswith("#") else None


def faults(pairs: Sequence[tuple[str, str]]) -> list[Fault | None]:
    """Say of each pair why it cannot stand in the glossary; None where it can."""
    found, seen = list[Fault | None](), set[str]()
    for number, (term, translation) in enumerate(pairs, start=1):
        fault, key = fault_of(term, translation), term.strip().casefold()
        if fault is None and key in seen:
            fault = Fault.DOUBLE
        if fault is None and number > MAX_TERMS:
            fault = Fault.MANY
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
        write_file(path, "".join(f"{term}\t{translation}\n" for term, translation in terms), 0o666)
    except OSError as error:
        return f"the glossary could not be written to {path}: {error.strerror}; it holds for now"
    return ""


def _is_code(language: str) -> bool:
    """Tell whether a code may name a file; a model or imported settings may say anything."""
    return is_plain_name(language, _LONGEST_CODE)


class GlossaryFolder:
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
        if not _is_code(language):
            return (), _NO_CODE.format(shown(language))
        if not self.path(language).exists():
            return (), ""
        if not self.path(language).is_file():
            return (), f"the glossary {self.path(language)} is no plain file: put one there"
        try:
            return read_terms(self.path(language)), ""
        except ContextError as error:
            return (), str(error)

    def write(self, language: str, terms: Terms) -> str:
        """Write the terms of a language; return a sentence if that failed."""
        if not _is_code(language):
            return _NO_CODE.format(shown(language))
        return write_terms(self.path(language), terms)
