"""Where the models and adapters that come with the program lie."""

from pathlib import Path

from engine.adapters.adapter import Status, inspect_adapter
from engine.models.fingerprint import Fingerprint
from engine.settings import TranslationSettings

NO_ADAPTER = "none"
"""What a person writes instead of an adapter's name who wants the bare model."""

WORTH = 0.5
"""BLEU that an adapter must add to be used unasked; less may be chance."""

ASSETS = Path(__file__).resolve().parents[2] / "assets"


def bundled_models() -> list[Path]:
    """List the bundled model folders, in the order of their names."""
    return sorted(path.parent for path in ASSETS.glob("models/*/config.json"))


def bundled_adapters() -> list[Path]:
    """List the bundled adapter folders, in the order of their names."""
    return sorted(path.parent for path in ASSETS.glob("adapters/*/adapter_config.json"))


def default_adapter(base: Fingerprint, translation: TranslationSettings) -> Path | None:
    """Choose the bundled adapter that a translation uses unless the person says otherwise.

    It fits the base, knows the language, and its card says that it adds at least ``WORTH`` to the
    base alone under this family of policies; of several the one that adds most.
    """
    language, family = translation.target_language, translation.policy.partition(":")[0]
    found = list[tuple[float, Path]]()
    for folder in bundled_adapters():
        adapter = inspect_adapter(folder, base)
        if adapter.status is Status.OK and adapter.card is not None:
            gain = adapter.card.gain(language, family)
            if gain is not None and gain >= WORTH:
                found.append((gain, folder))
    return max(found)[1] if found else None
