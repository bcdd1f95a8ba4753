"""Which models can be chosen, what each needs, and which suits this computer. No Qt.

What the computer has, and what fits, is told line by line by ``surtitle check --json``; a line that
is written otherwise than expected is passed over, for it is another process that writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import TypeVar, get_type_hints

from engine.hub.catalogue import KNOWN_MODELS, KnownModel
from engine.loading.hardware import Machine
from engine.session.lag_forecast import Forecast

_SUITS_CPU = 1_000_000_000  # bytes in memory; a larger model seldom keeps up on a processor


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOffer:
    """A model that can be chosen.

    Attributes:
        choice: what the preferences store: a name on the hub, a folder, or None for the bundled.
        name: for people.
        n_bytes: of its weights.
        licence: its name; empty where nobody knows.
        is_here: it lies on this computer, so nothing is fetched.
        is_gated: its owner must be asked on the hub first.
    """

    choice: Path | None
    name: str
    n_bytes: int
    licence: str
    is_here: bool
    is_gated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How a model would be loaded here.

    Attributes:
        fits: there is room for it.
        words: how, or what is lacking.
        needed_bytes: of memory.
        device: where to.
    """

    fits: bool
    words: str
    needed_bytes: int
    device: str


Told = TypeVar("Told", Machine, Fit, Forecast)


@dataclass(slots=True)
class MachineReport:
    """What a check of this computer has told so far."""

    machine: Machine | None = None
    fits: dict[str, Fit] = field(default_factory=dict)
    forecast: Forecast | None = None
    failure: str = ""

    def feed(self, line: Mapping[str, object]) -> None:
        """Take a line of the check."""
        match line.get("kind"):
            case "machine":
                self.machine = _made(Machine, line) or self.machine
            case "fit":
                fit, name = _made(Fit, line), line.get("model")
                if fit is not None and isinstance(name, str):
                    self.fits[name] = fit
            case "forecast":
                self.forecast = _made(Forecast, line) or self.forecast
            case "failed":
                self.failure = str(line.get("message"))

    def recommended(self, offers: Sequence[ModelOffer], language: str) -> ModelOffer | None:
        """Choose for the person who does not want to.

        The largest that a graphics card has room for; without a card the bundled model where it
        knows the language, else the smallest. Nothing that its owner must be asked for.
        """
        open_ones = [offer for offer in offers if not offer.is_gated]
        on_card = [it for it in open_ones if self._fits(it, on_cpu=False)]
        if on_card:
            return max(on_card, key=lambda offer: offer.n_bytes)
        bundled = [offer for offer in open_ones if offer.choice is None]
        if bundled and language == "de":
            return bundled[0]
        others = [it for it in open_ones if it.choice is not None and self._fits(it, on_cpu=True)]
        return min(others, key=lambda offer: offer.n_bytes, default=None)

    def _fits(self, offer: ModelOffer, *, on_cpu: bool) -> bool:
        fit = self.fits.get(offer.name)
        if fit is None or not fit.fits or (fit.device == "cpu") is not on_cpu:
            return False
        return not on_cpu or fit.needed_bytes <= _SUITS_CPU * 4


def known_offer(model: KnownModel, *, is_here: bool) -> ModelOffer:
    """Offer a model of the hub."""
    return ModelOffer(
        choice=Path(model.name),
        name=model.name,
        n_bytes=model.download_bytes,
        licence=model.licence,
        is_here=is_here,
        is_gated=model.is_gated,
    )


def known_offers() -> list[ModelOffer]:
    """Offer all known models, as long as nobody has looked which are here."""
    return [known_offer(model, is_here=False) for model in KNOWN_MODELS]


def _made(kind: type[Told], line: Mapping[str, object]) -> Told | None:
    """Make a value of a line; None where a field is missing or of another type."""
    types, values = get_type_hints(kind), dict[str, object]()
    for one in fields(kind):
        value = line.get(one.name)
        if types[one.name] is float and type(value) is int:
            value = float(value)
        if type(value) is not types[one.name] or (type(value) is float and not isfinite(value)):
            return None
        values[one.name] = value
    return kind(**values)  # type: ignore[arg-type]  # just checked
