"""Which further languages can be captioned here, by which model, and at what cost. No Qt."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.captions.models import MachineReport, ModelOffer
from engine.commands import FurtherLanguage

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
        spoken: code of what is said.
        offers: all models.
        report: what this computer is known to do.
        codes: of the languages that there are.
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


def wanted_languages(
    second: str, read: Sequence[str], ways: dict[str, FurtherLanguage]
) -> tuple[FurtherLanguage, ...]:
    """Return what is computed: the second language of the window, and those that are read.

    Args:
        second: its code; empty for none.
        read: codes that readers of a room have chosen, those of the first ones in front.
        ways: what can be captioned.
    """
    others = [code for code in read if code in ways and code != second][:MOST_READ]
    return tuple(ways[code] for code in (second, *others) if code in ways)
