"""Models of the hub that Surtitle suggests, with their sizes before they are fetched.

``assets/known_models.toml`` lists them.
"""

import tomllib
from dataclasses import dataclass

from engine.files import ASSETS
from engine.models.memory_footprint import Footprint


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model by its name on the hub.

    Attributes:
        name: ``owner/name``.
        download_bytes: size of its weights.
        footprint: its size in memory.
        licence: as the hub names it.
        is_gated: its owner must grant access on the hub before it can be fetched.
    """

    name: str
    download_bytes: int
    footprint: Footprint
    licence: str = "Apache-2.0"
    is_gated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechChoice:
    """A speech model that is offered to people who know none.

    Attributes:
        name: one of ``WHISPER_MODELS``.
        download_bytes: size of its files.
        licence: of its weights.
        pass_gflop: computing of a pass, which live recognition makes each second; see
            ``benchmarks/shapes/whisper.py``.
    """

    name: str
    download_bytes: int
    licence: str
    pass_gflop: float


_FILE = tomllib.loads((ASSETS / "known_models.toml").read_text(encoding="utf-8"))

KNOWN_MODELS = tuple(
    KnownModel(**{**model, "footprint": Footprint(**model["footprint"])})
    for model in _FILE["models"]
)
"""Instruct models without code of their own, smallest first."""

STANDARD_WHISPER = "base.en"

WHISPER_MODELS: dict[str, str] = _FILE["whisper"]
"""Hub ids of Whisper models by their common names, smallest model first."""

SPEECH_CHOICES = tuple(SpeechChoice(**choice) for choice in _FILE["speech"])
"""The fast, the balanced and the accurate speech model."""

WHISPER_MEGABYTES = {one.name: round(one.download_bytes / 1e6) for one in SPEECH_CHOICES}
"""Rounded sizes of these."""


def smaller_whisper(name: str) -> str:
    """Return the next smaller Whisper of the same languages, or an empty text."""
    if name not in WHISPER_MODELS:
        return ""
    names = list(WHISPER_MODELS)
    smaller = names[: names.index(name)]
    alike = [model for model in smaller if model.endswith(".en") == name.endswith(".en")]
    return alike[-1] if alike else ""


def suited_whisper(name: str, language: str) -> str:
    """Return a Whisper that recognises a language: for others than English the multilingual one.

    It is of the same size; names that are not known stay.
    """
    plain = name.removesuffix(".en").removeprefix("distil-")
    return name if language == "en" or plain not in WHISPER_MODELS else plain
