"""Word alignment: links between source and target words of the same meaning.

The aligner is eflomal (Östling and Tiedemann 2016, https://ufal.mff.cuni.cz/pbml/106/art-ostling-tiedemann.pdf),
run in both directions; the directions are joined by grow-diag-final-and (Koehn et al. 2005). Only
whitespace words are aligned, the unit that policies count. ``training.data.read_schedule`` derives
schedules from the links.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import CalledProcessError

from training.data.corpus import SentencePair
from training.errors import TrainingError

Link = tuple[int, int]
"""Source word and target word, both from 0."""

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
_STEM_LETTERS = 6  # enough to distinguish words, few enough to pool inflected forms
_PUNCTUATION = ".,;:!?…\"'“”„‚‘’«»()[]{}-–—"


def aligner_form(text: str) -> str:
    """Fold a sentence for the aligner: lower case, no punctuation, the same number of words."""
    return " ".join(_fold(word) for word in text.split())


def _fold(word: str) -> str:
    bare = word.lower().strip(_PUNCTUATION)
    return (bare or word)[:_STEM_LETTERS]


def align(pairs: Sequence[SentencePair]) -> Iterator[tuple[set[Link], set[Link]]]:
    """Align all pairs in both directions; yield (source to target, target to source) links.

    The aligner seeds itself, so two runs differ in some links. A pair with a side that is empty or
    has over 1,023 words gets no links.

    Raises:
        TrainingError: eflomal is not installed, ended early, or has not aligned every pair.
    """
    try:
        from eflomal import Aligner  # noqa: PLC0415  an optional extra: surtitle[align]
    except ImportError as error:
        msg = "word alignment needs eflomal: install it with pip install 'surtitle[align]'"
        raise TrainingError(msg) from error
    with tempfile.TemporaryDirectory() as folder:
        forward, reverse = Path(folder, "forward"), Path(folder, "reverse")
        try:
            Aligner().align(
                [aligner_form(pair.source) for pair in pairs],
                [aligner_form(pair.target) for pair in pairs],
                links_filename_fwd=str(forward),
                links_filename_rev=str(reverse),
            )
            ahead, back = _read_links(forward), _read_links(reverse)
        except (CalledProcessError, OSError, ValueError) as error:
            raise _failed(str(error)) from error
    if not len(ahead) == len(back) == len(pairs):
        reason = f"{len(pairs)} pairs gave {len(ahead)} and {len(back)} lines of links"
        raise _failed(reason)
    yield from zip(map(parse_links, ahead), map(parse_links, back), strict=True)


def _failed(reason: str) -> TrainingError:
    return TrainingError(
        f"eflomal was to align all pairs and failed ({reason}): see that there is memory and "
        "room for temporary files, or use --ratio"
    )


def _read_links(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def parse_links(line: str) -> set[Link]:
    """Read links in Pharaoh's form: ``0-0 1-2``."""
    links = set[Link]()
    for link in line.split():
        source, target = link.split("-")
        links.add((int(source), int(target)))
    return links


def agreement(forward: set[Link], reverse: set[Link]) -> float:
    """Return the agreement of the directions: links in both over links in either, 0 to 1."""
    either = len(forward | reverse)
    return len(forward & reverse) / either if either else 0.0


def symmetrise(forward: set[Link], reverse: set[Link]) -> set[Link]:
    """Join two directions by grow-diag-final-and (Koehn et al. 2005, IWSLT)."""
    joined = _Symmetrised(forward & reverse)
    joined.grow_diagonally(forward | reverse)
    for direction in (forward, reverse):  # final-and: both sides still free
        for link in sorted(direction):
            if link[0] not in joined.sources and link[1] not in joined.targets:
                joined.add(link)
    return joined.links


class _Symmetrised:
    """Links, and the words of either side that have a link."""

    def __init__(self, links: set[Link]) -> None:
        self.links = set[Link]()
        self.sources = set[int]()
        self.targets = set[int]()
        for link in links:
            self.add(link)

    def add(self, link: Link) -> None:
        self.links.add(link)
        self.sources.add(link[0])
        self.targets.add(link[1])

    def grow_diagonally(self, union: set[Link]) -> None:
        """Add neighbours of links from the union, if a side is still free, until none is left."""
        grown = True
        while grown:
            grown = False
            for source, target in sorted(self.links):
                for step_source, step_target in _NEIGHBOURS:
                    link = (source + step_source, target + step_target)
                    free = link[0] not in self.sources or link[1] not in self.targets
                    if free and link in union and link not in self.links:
                        self.add(link)
                        grown = True
