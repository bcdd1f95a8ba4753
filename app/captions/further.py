"""Which further languages can be captioned here, by which model, and at what cost. No Qt."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.captions.models import MachineReport, ModelOffer, bundled_offers, known_offers
from engine.commands import FurtherLanguage
from engine.hub.bundled import bundled_languages
from engine.settings import ModelSettings
from engine.untrusted.plain_files import folder_of

_MEMORY_PER_BYTE = 6
"""Of a bundled model, whose file holds 8 bits a weight and which is computed in 32; measured."""

MOST_READ = 3
"""Languages that are computed for the readers of a room at once, beside those of the window."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a further language is captioned.

    Attributes:
        offer: the model that is loaded beside the first one; None for that one itself.
        load: seconds of computing that a second of speech takes; None if that is not known.
    """

    offer: ModelOffer | None
    load: float | None = None

    @property
    def memory_bytes(self) -> int:
        """Memory that the model takes beside the first one."""
        if self.offer is None:
            return 0
        return self.offer.n_bytes * (_MEMORY_PER_BYTE if self.offer.choice is None else 1)


def offers_here(library: Path) -> list[ModelOffer]:
    """Return the bundled models and the known ones; those in the library need no download."""
    known = (
        replace(offer, is_here=(library / folder_of(offer.name)).is_dir())
        for offer in known_offers()
    )
    return [*bundled_offers(), *known]


def ways_here(
    own: Collection[str],
    spoken: str,
    offers: Sequence[ModelOffer],
    report: MachineReport,
    codes: Collection[str],
) -> dict[str, Way]:
    """Return the languages that need no download, in the order of ``codes``.

    Args:
        own: codes that the model in use knows.
        report: what this computer is known to do.
    """
    here = [offer for offer in offers if offer.is_here]
    ways = dict[str, Way]()
    for code in codes:
        if code == spoken:
            continue
        if code in own:
            ways[code] = Way(None)
            continue
        best = report.recommended(here, code, spoken)
        if best is not None:
            ways[code] = Way(best, report.load(best))
    return ways


def further_language(code: str, way: Way, library: Path, device: str) -> FurtherLanguage:
    """Return a further language as a session takes it.

    Args:
        way: how it is captioned; its model is bundled, or in the library.
        library: has the downloads.
        device: as in ``ModelSettings``.
    """
    if way.offer is None:
        return FurtherLanguage(code)
    name = "" if way.offer.choice is None else way.offer.name
    folder = library if name else bundled_languages()[code]
    model = ModelSettings(directory=folder, hub_name=name, device=device, is_second=True)
    return FurtherLanguage(code, model)


def wanted_languages(
    second: str, read: Sequence[str], ways: dict[str, FurtherLanguage]
) -> tuple[FurtherLanguage, ...]:
    """Return what is computed: the second language of the window, and those that are read.

    Args:
        second: its code; empty for none.
        read: codes that readers of a room have chosen, those of the first ones in front.
    """
    others = [code for code in read if code in ways and code != second][:MOST_READ]
    return tuple(ways[code] for code in (second, *others) if code in ways)
