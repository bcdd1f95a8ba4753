"""Cut the translation of a whole talk to the segments of its reference.

A talk is translated without knowledge of its segments, but quality and lagging are measured on
segments. So the translation is cut where the cuts cost the fewest word errors against the reference
(Matusov et al. 2005, https://aclanthology.org/2005.iwslt-1.19/), by mweralign
(https://aclanthology.org/2025.iwslt-1.7/), untokenised, as in StreamLAAL. The parts in order are
the whole translation. LongYAAL is defined on the cut of
``training.research.long_form.soft_segmenter``.

Words are compared as mweralign compares them: only the case of a-z is ignored. In a script without
blanks characters are compared, but a run of Latin characters is a word.
"""

import os
import re
import string
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

from engine.metrics.units import is_spaced
from training.errors import TrainingError

_WORD = re.compile(r"\S+")
_RUN_OR_CHARACTER = re.compile(r"[!-~¡-ÿ]+|\S")
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a talk's translation that belongs to one segment of the reference.

    Attributes:
        text: as in the translation, without blanks at its ends.
        start: index of the first target unit, from 0; a unit is a word between blanks, or a
            character in a script without blanks.
        stop: index after the last unit.
    """

    text: str
    start: int
    stop: int


def resegment(translation: str, references: Sequence[str], language: str) -> list[Part]:
    """Cut a talk's translation.

    Args:
        translation: of the whole talk.
        references: a text for each segment, at least one; some may be empty.
        language: two-letter code of the target.

    Returns:
        a part for each segment; it is empty if no words fell to the segment.
    """
    spaced = is_spaced(language)
    pattern = _WORD if spaced else _RUN_OR_CHARACTER
    words = list(pattern.finditer(translation))
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))

    def compared(text: str) -> list[int]:
        return [numbers[word.translate(_LOWER)] for word in pattern.findall(text)]

    counts = _align(compared(translation), [compared(text) for text in references])
    ends = [0]  # words before each cut
    for count in counts:
        ends.append(ends[-1] + count)
    n_units = [0]  # target units before each word
    for word in words:
        n_units.append(n_units[-1] + (1 if spaced else len(word.group())))
    return [
        Part(
            text=translation[words[start].start() : words[stop - 1].end()] if start < stop else "",
            start=n_units[start],
            stop=n_units[stop],
        )
        for start, stop in pairwise(ends)
    ]


def load_aligner() -> Callable[[str, str], str]:
    """Import mweralign now, so that a long run fails at its start rather than at its end."""
    try:
        import mweralign  # noqa: PLC0415  an optional extra: surtitle[evaluate]
    except ImportError as error:
        msg = (
            "cutting a talk's translation to its reference needs mweralign: "
            "install it with pip install 'surtitle[evaluate]'"
        )
        raise TrainingError(msg) from error
    align_texts: Callable[[str, str], str] = mweralign.align_texts
    return align_texts


def _align(words: Sequence[int], references: Sequence[Sequence[int]]) -> list[int]:
    """Return the number of words of each segment.

    The library gets numbers instead of words: it crashes on some text, such as ``###``.
    """
    align_texts = load_aligner()
    lines = "".join(" ".join(map(str, reference)) + "\n" for reference in references)
    with _silent():
        aligned = align_texts(lines, " ".join(map(str, words)))
    return [len(line.split()) for line in aligned.split("\n")]


@contextmanager
def _silent() -> Iterator[None]:
    """Drop the messages of C++ code to standard error, which Python cannot turn off."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
