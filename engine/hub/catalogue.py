"""Models of the hub that Surtitle suggests, with their sizes before they are fetched.

``assets/translation_models.json`` lists those that translate; ``scripts/renew_models.py`` renews it
from the hub. ``assets/known_models.toml`` lists those that recognise speech.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from engine.files import ASSETS
from engine.models.fingerprint import Footprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A published quality of a model: 0 to 100, in BLEU or chrF, with the address of its page."""

    value: float
    measure: str
    test_set: str
    published: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model by its name on the hub.

    Attributes:
        name: ``owner/name``.
        footprint: size in memory of an instruct model; None for a model of an encoder and a
            decoder.
        revision: the commit or reference that is fetched; empty for the newest.
        sources, targets: codes of its languages among those that the windows name; empty if any.
        word_gflop: computing of a word with an encoder and a decoder, see
            ``benchmarks/results.md``. None if it was not measured.
        scores: as published, by source and target.
        checked: the day on which size and licence were read from the hub; empty if they never were.
    """

    name: str
    download_bytes: int
    licence: str
    footprint: Footprint | None = None
    revision: str = ""
    sources: tuple[str, ...] = ("en",)
    targets: tuple[str, ...] = ()
    word_gflop: float | None = None
    scores: Mapping[tuple[str, str], Score]
    checked: str = ""

    def translates(self, source: str, target: str) -> bool:
        known = source in self.sources and (not self.targets or target in self.targets)
        return known and source != target


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechChoice:
    """A Whisper that is offered to people who know none.

    Attributes:
        name: one of ``WHISPER_MODELS``.
        pass_gflop: computing of a pass, which live recognition makes each second; see
            ``benchmarks/results.md``.
    """

    name: str
    download_bytes: int
    licence: str
    pass_gflop: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamingChoice:
    """A model that hears speech as it comes, for sherpa-onnx.

    Attributes:
        hub: its name on the hub.
        files: those that are fetched: encoder, decoder and joiner in 8 bits, and tokens.
        download_bytes: their size.
    """

    name: str
    hub: str
    files: tuple[str, ...]
    download_bytes: int
    licence: str
    languages: tuple[str, ...]


def read_models(text: str) -> tuple[KnownModel, ...]:
    content = cast("dict[str, list[dict[str, object]]]", json.loads(text))
    return tuple(_model(entry) for entry in content["models"])


def _model(entry: dict[str, object]) -> KnownModel:
    quality = cast("dict[str, object]", entry.pop("quality", {}))
    listed = cast("list[tuple[str, str, float]]", quality.pop("scores", []))
    texts = cast("dict[str, str]", quality)
    scores = {(source, target): Score(value=value, **texts) for source, target, value in listed}
    footprint = entry.pop("footprint", None)
    sizes = None if footprint is None else Footprint(**cast("dict[str, int]", footprint))
    for key in ("sources", "targets"):
        if key in entry:
            entry[key] = tuple(cast("list[str]", entry[key]))
    return KnownModel(**entry, footprint=sizes, scores=scores)  # type: ignore[arg-type]


TRANSLATION_MODELS = read_models((ASSETS / "translation_models.json").read_text(encoding="utf-8"))
"""Models with an encoder and a decoder, and instruct models without code of their own."""

KNOWN_MODELS = tuple(model for model in TRANSLATION_MODELS if model.footprint is not None)
"""Instruct models, smallest first."""

_FILE = tomllib.loads((ASSETS / "known_models.toml").read_text(encoding="utf-8"))

MOONSHINE = "moonshine.en"
"""The speech model that is installed with the program, for English."""

STANDARD_WHISPER = "base.en"

WHISPER_MODELS: dict[str, str] = _FILE["whisper"]
"""Hub ids of Whisper models by their common names, smallest model first."""

SPEECH_CHOICES = tuple(SpeechChoice(**choice) for choice in _FILE["speech"])
"""The fast, the balanced and the accurate speech model."""

STREAMING_MODELS: dict[str, StreamingChoice] = {
    entry["name"]: StreamingChoice(
        **entry | {"files": tuple(entry["files"]), "languages": tuple(entry["languages"])}
    )
    for entry in _FILE["streaming"]
}
"""Models that hear speech as it comes, by their common names."""

SPEECH_MODELS: tuple[str, ...] = (MOONSHINE, *WHISPER_MODELS, *STREAMING_MODELS)
"""Common names of all models of speech."""

SPEECH_BYTES = {one.name: one.download_bytes for one in SPEECH_CHOICES} | {
    name: one.download_bytes for name, one in STREAMING_MODELS.items()
}
"""What there is to download of those whose size is known."""

SPEECH_MEGABYTES = {name: round(n_bytes / 1e6) for name, n_bytes in SPEECH_BYTES.items()}
"""The same, rounded."""


def revision_of(name: str) -> str:
    """Return the revision of a model that is fetched; empty for the newest."""
    return next((one.revision for one in TRANSLATION_MODELS if one.name == name), "")


def quicker_speech_model(name: str) -> str:
    """Return the next smaller Whisper of the same languages, or an empty text.

    Quicker than the smallest for English alone is a model that streams.
    """
    if name not in WHISPER_MODELS:
        return ""
    names, is_english = list(WHISPER_MODELS), is_english_only(name)
    smaller = names[: names.index(name)]
    alike = [model for model in smaller if is_english_only(model) == is_english]
    streaming = next(iter(STREAMING_MODELS)) if is_english else ""
    return alike[-1] if alike else streaming


def is_english_only(name: str) -> bool:
    return name.endswith(".en") or name.startswith("distil-")


def suited_speech_model(name: str, language: str) -> str:
    """Return a speech model that recognises a language, the named one if it does.

    Of an English Whisper it is the multilingual one of the same size, of other models the standard
    one; names that are not known stay.
    """
    streaming = STREAMING_MODELS.get(name)
    known = streaming.languages if streaming else ("en",) if name == MOONSHINE else (language,)
    if language not in known:
        name = STANDARD_WHISPER
    plain = name.removesuffix(".en").removeprefix("distil-")
    return name if language == "en" or plain not in WHISPER_MODELS else plain
