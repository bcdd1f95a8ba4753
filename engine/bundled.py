"""Where the models and adapters that come with the program lie."""

from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"


def bundled_models() -> list[Path]:
    """List the bundled model folders, in the order of their names."""
    return sorted(path.parent for path in ASSETS.glob("models/*/config.json"))


def bundled_adapters() -> list[Path]:
    """List the bundled adapter folders, in the order of their names."""
    return sorted(path.parent for path in ASSETS.glob("adapters/*/adapter_config.json"))
