"""The models on offer, which suits this computer, for further languages too; no Qt.

``surtitle check --json``, another process, reports the hardware and the fit of each model line by
line; malformed lines are ignored. A model that does not keep up with speech here is never first.
"""

import contextlib
import logging
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TypeVar

from app.config.text_io import progress_line
from engine.errors import ModelError
from engine.events import FurtherLanguage
from engine.hub.catalogue import (
    TRANSLATION_MODELS,
    KnownModel,
    Score,
    bundled_languages,
    bundled_models,
)
from engine.models.model_card import read_card, readme_licence
from engine.runtime.processor import Machine
from engine.settings import ModelSettings
from engine.untrusted.plain_files import folder_of, is_hub_name, model_name
from engine.untrusted.strict_json import read_object

_log = logging.getLogger(__name__)

_WORD_S = 0.4  # from one word to the next at 150 words a minute
_ENOUGH = 0.6  # seconds of computing a second of speech; speech recognition needs some, too


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOffer:
    """A model that can be chosen.

    Attributes:
        choice: value in the preferences: a name on the hub, a folder, or None for the bundled one.
        n_bytes: of its weights.
        licence: its name; empty if unknown.
        is_here: it needs no download.
        languages: targets of the bundled model, from English.
        known: its entry in the catalogue, if it has one.
    """

    choice: Path | None
    name: str
    n_bytes: int
    licence: str
    is_here: bool
    languages: tuple[str, ...] = ()
    known: KnownModel | None = None

    def translates(self, source: str, target: str) -> bool:
        """Return whether it translates a pair of languages, or may: folders are not looked into."""
        if self.known is not None:
            return self.known.translates(source, target)
        if self.choice is None and self.languages:
            return source == "en" and target in self.languages
        return True

    @property
    def is_chat(self) -> bool:
        """Whether it is a chat model, which is asked to translate."""
        return self.known is not None and self.known.footprint is not None

    @property
    def is_dedicated(self) -> bool:
        """Whether it is known to do nothing but translate."""
        return self.known is not None and not self.is_chat

    @property
    def is_of_many(self) -> bool:
        """Whether it is a translator into many languages, which is large and good at few."""
        return self.is_dedicated and self.known is not None and len(self.known.targets) > 1

    def score(self, source: str, target: str) -> Score | None:
        """Return its published quality for a pair, if there is one."""
        return None if self.known is None else self.known.scores.get((source, target))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How a model would be loaded here.

    Attributes:
        fits: there is enough memory.
        words: how it is loaded, or the shortage.
        needed_bytes: of memory.
    """

    fits: bool
    words: str
    needed_bytes: int
    device: str


Reported = TypeVar("Reported", Machine, Fit)


@dataclass(slots=True)
class MachineReport:
    """The results of a check of this computer so far."""

    machine: Machine | None = None
    fits: dict[str, Fit] = field(default_factory=dict)
    failure: Mapping[str, object] | None = None  # the line as it came
    gflops: float = 0.0  # of the processor, the most that was measured; 0 if it was not
    measures_again: bool = False  # that may be too low, since the computer may be busy

    def feed(self, line: Mapping[str, object]) -> None:
        match line.get("kind"):
            case "machine":
                self.machine = _made(Machine, line) or self.machine
            case "fit":
                fit, name = _made(Fit, line), line.get("model")
                if fit is not None and isinstance(name, str):
                    self.fits[name] = fit
            case "computing":
                rate = line.get("gflops")
                if isinstance(rate, float) and 0 < rate < math.inf:
                    self.gflops = max(self.gflops, rate)
            case "failed":
                self.failure = line

    def load(self, offer: ModelOffer) -> float | None:
        """Return the seconds of computing that a second of speech takes here; None if unknown."""
        gflop = None if offer.known is None else offer.known.word_gflop
        return gflop / self.gflops / _WORD_S if gflop and self.gflops else None

    def keeps_up(self, offer: ModelOffer) -> bool | None:
        """Return whether a model keeps up with speech here; None if that is not known."""
        if offer.choice is None:
            return True
        if self.machine is not None and self.machine.gpu and offer.known is not None:
            if offer.is_dedicated and offer.n_bytes <= self.machine.gpu_free_bytes:
                return True  # float16 leaves half of that for the computing
            fit = self.fits.get(offer.name)
            if fit is not None:
                return fit.fits and fit.device != "cpu"
        load = self.load(offer)
        if load is None or (load > _ENOUGH and self.measures_again):
            return None
        return load <= _ENOUGH

    def ranked(self, offers: Sequence[ModelOffer], source: str, target: str) -> list[ModelOffer]:
        """Return the offers for a pair of languages, the best first.

        Models that keep up here come first, then those of which that is not known. Among these,
        translators come before chat models, and small ones before the others. One of many languages
        is on offer where no other translator knows the pair, or if it is here.
        """
        able = [offer for offer in offers if offer.translates(source, target)]
        own = (one for one in able if one.choice is None or one.is_dedicated)
        has_own = not all(one.is_of_many for one in own)
        return sorted(
            (offer for offer in able if offer.is_here or not (has_own and offer.is_of_many)),
            key=lambda offer: (
                (True, None, False).index(self.keeps_up(offer)),
                offer.choice is not None,
                offer.is_chat,
                offer.is_of_many,
                offer.n_bytes,
            ),
        )

    def recommended(
        self, offers: Sequence[ModelOffer], target: str, source: str = "en"
    ) -> ModelOffer | None:
        """Return the recommended model: a translator.

        It is the first that is not known to be too slow here. If all are too slow, it is the
        fastest of those whose quality is published.
        """
        open_ones = [
            offer
            for offer in self.ranked(offers, source, target)
            if offer.choice is None or offer.is_dedicated
        ]
        is_known = self.gflops and not self.measures_again
        for offer in open_ones:
            keeps_up = self.keeps_up(offer)
            if keeps_up or (keeps_up is None and not is_known):
                return offer
        published = [one for one in open_ones if one.score(source, target) is not None]
        return min(published, key=_gflop, default=None)


def _gflop(offer: ModelOffer) -> float:
    """Return the computing of a word; infinite where it was not measured."""
    return (offer.known.word_gflop if offer.known else None) or math.inf


def known_offer(model: KnownModel, *, is_here: bool) -> ModelOffer:
    return ModelOffer(
        choice=Path(model.name),
        name=model.name,
        n_bytes=model.download_bytes,
        licence=model.licence,
        is_here=is_here,
        known=model,
    )


def known_offers() -> list[ModelOffer]:
    """Return all known models as not downloaded, for the time before the library is read."""
    return [known_offer(model, is_here=False) for model in TRANSLATION_MODELS]


def bundled_offers() -> list[ModelOffer]:
    return [
        replace(folder_offer(folder), choice=None, languages=_targets(folder))
        for folder in bundled_models()
    ]


def _targets(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(read_card(folder).languages)
    except ModelError:  # which the session tells, in the same words
        return ()


def folder_offer(folder: Path) -> ModelOffer:
    """Return the offer of a model of which no more is known than its folder."""
    return ModelOffer(
        choice=folder,
        name=model_name(folder),
        n_bytes=_size(folder),
        licence=readme_licence(folder).upper(),
        is_here=True,
    )


def _size(folder: Path) -> int:
    try:
        return sum(path.stat().st_size for path in folder.glob("*.safetensors")) or sum(
            path.stat().st_size for path in folder.glob("ctranslate2-*/model.bin")
        )
    except OSError as error:
        _log.info("the size of %s is not known: %s", folder.name, error)
        return 0


def _made(kind: type[Reported], line: Mapping[str, object]) -> Reported | None:
    """Return the value of a line, or None if a field is missing or of another type."""
    if not line.keys() >= {item.name for item in fields(kind)}:
        return None
    try:
        return read_object(kind, line)
    except ValueError:
        return None


def hub_name(named: Path) -> str:
    """Return ``owner/name`` if it is no existing folder, else an empty string."""
    text = named.as_posix()
    return text if is_hub_name(text) and not named.exists() else ""


def fetched_model(named: Path, library: Path) -> Path:
    """Return the folder of a model; one of the hub is downloaded first, with progress on stderr.

    An interrupted download is resumed next time.

    Raises:
        HubError: the download failed.
    """
    name = hub_name(named)
    if not name:
        return named
    from engine.hub.download import Fetching, fetch_model  # noqa: PLC0415  the hub's library is slow to import

    with download_line(name) as progress:
        return fetch_model(name, library, Fetching(progress=progress))


@contextlib.contextmanager
def download_line(name: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of the downloaded and all bytes that shows both in one line on stderr."""
    with progress_line() as show:
        yield lambda done, total: show(
            f"downloading {name}: {done / 1e9:.2f} of {total / 1e9:.2f} GB"
        )


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
