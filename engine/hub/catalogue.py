"""Models that come with the program, and those of the hub that it suggests, with their sizes.

``assets/translation_models.json`` lists those that translate; ``scripts/renew_models.py`` renews it
from the hub. ``assets/known_models.toml`` lists those that recognise speech.
"""

import contextlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from engine.errors import ModelError
from engine.files import ASSETS
from engine.models.adapters.adapter import Status, inspect_adapter
from engine.models.fingerprint import Fingerprint, Footprint
from engine.models.model_card import read_card
from engine.models.resolve import suited_policy
from engine.policy import family
from engine.settings import TranslationSettings


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


NO_ADAPTER = "none"
"""The name that a person gives instead of an adapter's, for the bare model."""

WORTH = 0.5
"""BLEU that an adapter must add to be used by default; less may be chance."""


def bundled_speech_model() -> Path | None:
    """Return the folder of Moonshine, which another package carries; None where that is missing."""
    found = find_spec("moonshine_voice")  # which runs nothing of it
    places = found.submodule_search_locations if found else None
    folders = (Path(place) / "assets" / "tiny-en" for place in places or ())
    return next(filter(Path.is_dir, folders), None)


def standard_speech_model() -> str:
    """Return the name of the speech model to begin with, for English."""
    return MOONSHINE if bundled_speech_model() else STANDARD_WHISPER


def bundled_models() -> list[Path]:
    return sorted(path.parent for path in ASSETS.glob("models/*/config.json"))


def bundled_languages(models: Sequence[Path] | None = None) -> dict[str, Path]:
    """Return the model of each target language, of these models or of all that are bundled.

    A model whose card cannot be read is left out: who loads it reports that.
    """
    found = dict[str, Path]()
    for folder in bundled_models() if models is None else models:
        with contextlib.suppress(ModelError):
            found |= {code: folder for code in read_card(folder).languages if code not in found}
    return found


def suited_model(language: str) -> Path | None:
    """Return the bundled model of a language, else the first one; None if none is bundled."""
    models = bundled_models()
    return bundled_languages(models).get(language, models[0]) if models else None


def bundled_model(named: Path) -> Path | None:
    """Return the bundled model folder of a name; None if there is none, or such a path exists."""
    models = {folder.name: folder for folder in bundled_models()}
    return None if named.exists() else models.get(str(named))


def bundled_adapters() -> list[Path]:
    return sorted(path.parent for path in ASSETS.glob("adapters/*/adapter_config.json"))


def default_adapter(base: Fingerprint, translation: TranslationSettings) -> Path | None:
    """Return the adapter that a translation uses by default, or None.

    It fits the base, knows the language, and gains at least ``WORTH`` over the base under this
    family of policies, by its card; of several the one with the largest gain.
    """
    language = translation.target_language
    known = family(suited_policy(translation.policy, makes_drafts=False))  # adapters bring slots
    candidates = list[tuple[float, Path]]()
    for folder in bundled_adapters():
        adapter = inspect_adapter(folder, base)
        if adapter.status is Status.OK and adapter.card is not None:
            gain = adapter.card.gain(language, known)
            if gain is not None and gain >= WORTH:
                candidates.append((gain, folder))
    return max(candidates)[1] if candidates else None
