"""The models and adapters that come with the program."""

import contextlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from engine.errors import ModelError
from engine.files import ASSETS
from engine.hub.catalogue import MOONSHINE, STANDARD_WHISPER
from engine.models.adapters.adapter import Status, inspect_adapter
from engine.models.fingerprint import Fingerprint
from engine.models.model_card import read_card
from engine.models.resolve import suited_policy
from engine.policy import family
from engine.settings import TranslationSettings

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
