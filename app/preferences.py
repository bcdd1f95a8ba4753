"""What the person chose, kept in a TOML file from one start to the next.

A damaged file never stops the program: the copy beside it (``.bak``) or the defaults serve, and one
sentence says so. Keys that this version does not know are kept as they are.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.toml_text import toml_text
from engine.policy import parse_policy

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What the person chose.

    Attributes:
        model: folder of the model; None for the one that comes with the program.
        language: two-letter code of the target language.
        policy: as the engine writes policies.
        overlay_visible: whether the overlay was open.
    """

    model: Path | None = None
    language: str = "de"
    policy: str = "read:3"
    overlay_visible: bool = True

    def __post_init__(self) -> None:
        parse_policy(self.policy)


class PreferencesFile:
    """Read and write the preferences; the one owner of the file.

    A write replaces the file as a whole or not at all. The ``.bak`` beside it is the content before
    that, if it could be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._backup = path.with_name(path.name + ".bak")
        self._content: dict[str, object] = {}

    def read(self) -> tuple[Preferences, str | None]:
        """Read the preferences.

        Returns:
            the preferences, and a sentence for the person where something could not be read.
        """
        try:
            self._content = _parse(self._path)
        except FileNotFoundError:
            return Preferences(), None
        except (OSError, ValueError) as error:
            return self._read_backup(f"{self._path} cannot be read ({error})")
        return _preferences(self._content, str(self._path))

    def write(self, preferences: Preferences) -> str | None:
        """Write the preferences.

        Returns:
            a sentence for the person if they could not be written.
        """
        content = _merged(self._content, preferences)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._content:
                _replace(self._backup, toml_text(self._content))
            _replace(self._path, toml_text(content))
        except (OSError, ValueError) as error:
            return f"Your choices could not be stored in {self._path}: {error}"
        self._content = content
        return None

    def _read_backup(self, failure: str) -> tuple[Preferences, str | None]:
        try:
            self._content = _parse(self._backup)
        except (OSError, ValueError):
            return Preferences(), f"{failure}; Surtitle starts with its own choices."
        preferences, _ = _preferences(self._content, str(self._backup))
        return preferences, f"{failure}; the choices are those of {self._backup.name}."


def _parse(path: Path) -> dict[str, object]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _replace(path: Path, text: str) -> None:
    """Write a file so that a crash leaves the old one or the new one."""
    fresh = path.with_name(path.name + ".new")
    with fresh.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _table(content: Mapping[str, object], name: str) -> dict[str, object]:
    table = content.get(name)
    return dict(table) if isinstance(table, dict) else {}


def _preferences(content: Mapping[str, object], where: str) -> tuple[Preferences, str | None]:
    """Take each value that is what it should be; name those that are not."""
    translation = _table(content, "translation")
    values = {
        "model": content.get("model"),
        "language": translation.get("language"),
        "policy": translation.get("policy"),
        "overlay_visible": _table(content, "overlay").get("visible"),
    }
    preferences, wrong = Preferences(), []
    for name, value in values.items():
        if value is not None:
            try:
                preferences = _with_value(preferences, name, value)
            except ValueError:
                wrong.append(f"{name} = {value!r}")
    if not wrong:
        return preferences, None
    return preferences, f"In {where}, {', '.join(wrong)} could not be used."


def _with_value(preferences: Preferences, name: str, value: object) -> Preferences:
    if name == "overlay_visible" and isinstance(value, bool):
        return replace(preferences, overlay_visible=value)
    if name == "language" and isinstance(value, str):
        return replace(preferences, language=value)
    if name == "model" and isinstance(value, str):
        return replace(preferences, model=Path(value))
    if name == "policy" and isinstance(value, str):
        return replace(preferences, policy=value)
    raise ValueError(name)


def _merged(content: Mapping[str, object], preferences: Preferences) -> dict[str, object]:
    """Lay the preferences over what the file held."""
    merged = dict(content)
    merged.setdefault("schema_version", SCHEMA_VERSION)  # a newer version's file keeps its number
    merged.pop("model", None)
    if preferences.model is not None:
        merged["model"] = str(preferences.model)
    merged["translation"] = _table(content, "translation") | {
        "language": preferences.language,
        "policy": preferences.policy,
    }
    merged["overlay"] = _table(content, "overlay") | {"visible": preferences.overlay_visible}
    return merged
