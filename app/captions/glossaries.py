"""The glossaries of the user: a checked file of terms for each target language. No Qt.

``surtitle translate --glossary`` reads the same files.
"""

import enum
from collections.abc import Sequence
from pathlib import Path

from app.config.messages import AppCode
from engine.errors import ContextError, message_of
from engine.files import write_file
from engine.messages import Message
from engine.text.glossary import LONGEST, MAX_TERMS, read_glossary
from engine.untrusted.plain_files import is_plain_name
from engine.untrusted.strict_json import shown

Terms = tuple[tuple[str, str], ...]
"""Terms of the source language, each with its translation; a name has none but itself."""

_LONGEST_CODE = 40


class Fault(enum.Enum):
    """Why a pair is not used."""

    EMPTY = "the term is empty"
    LONG = "term or translation is too long"
    BREAK = "it contains a tab, a line break or the like"
    REMARK = "the term begins with #, which begins a comment in the file"
    DOUBLE = "the term is already in a row above"
    MANY = "there are too many terms"


def fault_of(term: str, translation: str) -> Fault | None:
    both = (term.strip(), translation.strip())
    if not both[0]:
        return Fault.EMPTY
    if any(len(text) > LONGEST for text in both):
        return Fault.LONG
    if not all(text.isprintable() for text in (term, translation)):
        return Fault.BREAK
    return Fault.REMARK if both[0].startswith("#") else None


def faults(pairs: Sequence[tuple[str, str]]) -> list[Fault | None]:
    result, seen = list[Fault | None](), set[str]()
    for number, (term, translation) in enumerate(pairs, start=1):
        fault, key = fault_of(term, translation), term.strip().casefold()
        if fault is None and key in seen:
            fault = Fault.DOUBLE
        if fault is None and number > MAX_TERMS:
            fault = Fault.MANY
        seen.add(key)
        result.append(fault)
    return result


def sound_terms(pairs: Sequence[tuple[str, str]]) -> Terms:
    """Return the stripped pairs without a fault."""
    kept = zip(pairs, faults(pairs), strict=True)
    return tuple(
        (term.strip(), text.strip() or term.strip()) for (term, text), fault in kept if not fault
    )


def read_terms(path: Path) -> Terms:
    """Read a file of terms.

    Raises:
        ContextError: the file cannot be read, or has a wrong line.
    """
    return sound_terms(read_glossary(path))


def write_terms(path: Path, terms: Terms) -> Message | None:
    """Write a file of terms atomically; return a message for the user if that failed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, "".join(f"{term}\t{translation}\n" for term, translation in terms), 0o666)
    except OSError as error:
        return AppCode.GLOSSARY_UNWRITABLE(path=str(path), reason=message_of(error))
    return None


def _is_code(language: str) -> bool:
    """Return whether a code, which comes from models or imported settings, is a safe file name."""
    return is_plain_name(language, _LONGEST_CODE)


class GlossaryFolder:
    """A folder with a file for each target language."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, language: str) -> Path:
        return self._folder / f"{language}.tsv"

    def read(self, language: str) -> tuple[Terms, Message | None]:
        """Return the terms of a language, and a message if its file cannot be used."""
        if not _is_code(language):
            return (), AppCode.GLOSSARY_NO_LANGUAGE(language=shown(language))
        if not self.path(language).exists():
            return (), None
        if not self.path(language).is_file():
            return (), AppCode.GLOSSARY_NO_FILE(path=str(self.path(language)))
        try:
            return read_terms(self.path(language)), None
        except ContextError as error:
            return (), error.message

    def write(self, language: str, terms: Terms) -> Message | None:
        """Write the terms of a language; return a message if that failed."""
        if not _is_code(language):
            return AppCode.GLOSSARY_NO_LANGUAGE(language=shown(language))
        return write_terms(self.path(language), terms)
