"""The models on offer, and which of them suits this computer. No Qt.

``surtitle check --json``, another process, reports the hardware and the fit of each model line by
line; malformed lines are ignored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeVar

from engine.hub.catalogue import KNOWN_MODELS, KnownModel
from engine.loading.hardware import Machine
from engine.session.lag_forecast import Forecast
from engine.untrusted.typed_table import read_table

_SUITS_CPU = 1_000_000_000  # bytes in memory; larger models rarely keep up on a CPU


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOffer:
    """A model that can be chosen.

    Attributes:
        choice: value in the preferences: a name on the hub, a folder, or None for the bundled one.
        name: for people.
        n_bytes: of its weights.
        licence: its name; empty if unknown.
        is_here: it needs no download.
        is_gated: its owner must grant access on the hub first.
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
        fits: there is enough memory.
        words: how it is loaded, or the shortage.
        needed_bytes: of memory.
        device: the device it is loaded to.
    """

    fits: bool
    words: str
    needed_bytes: int
    device: str


Reported = TypeVar("Reported", Machine, Fit, Forecast)


@dataclass(slots=True)
class MachineReport:
    """The results of a check of this computer so far."""

    machine: Machine | None = None
    fits: dict[str, Fit] = field(default_factory=dict)
    forecast: Forecast | None = None
    failure: Mapping[str, object] | None = None  # the line as it came

    def feed(self, line: Mapping[str, object]) -> None:
        """Read a line of the check."""
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
                self.failure = line

    def recommended(self, offers: Sequence[ModelOffer], language: str) -> ModelOffer | None:
        """Return the recommended model; gated ones are never recommended.

        It is the largest that fits the GPU; without a GPU the bundled one if it supports the
        language, else the smallest.
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
    """Return the offer of a model of the hub."""
    return ModelOffer(
        choice=Path(model.name),
        name=model.name,
        n_bytes=model.download_bytes,
        licence=model.licence,
        is_here=is_here,
        is_gated=model.is_gated,
    )


def known_offers() -> list[ModelOffer]:
    """Return all known models as not downloaded, for the time before the library is read."""
    return [known_offer(model, is_here=False) for model in KNOWN_MODELS]


def _made(kind: type[Reported], line: Mapping[str, object]) -> Reported | None:
    """Return the value of a line, or None if a field is missing or of another type."""
    if not line.keys() >= {item.name for item in fields(kind)}:
        return None
    try:
        return read_table(kind, line, others_ignored=True)
    except ValueError:
        return None
