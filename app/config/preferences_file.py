"""What the person chose, kept in a TOML file from one start to the next.

A value of the wrong kind leaves the others as they are, and one sentence names it. Keys that this
version does not know are kept as they are; so is the number of a newer version's file.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TypeVar

import tomli_w

from app.config.preferences import (
    CaptionPreferences,
    InterfacePreferences,
    ListeningPreferences,
    OverlayPreferences,
    Preferences,
    PrivacyPreferences,
    TranslationPreferences,
)
from app.system.toml_file import Content, TomlFile, parse, table
from engine.files import write_file
from engine.untrusted.strict_json import shown

SCHEMA_VERSION = 2

Page = TypeVar(
    "Page",
    Preferences,
    TranslationPreferences,
    CaptionPreferences,
    OverlayPreferences,
    ListeningPreferences,
    PrivacyPreferences,
    InterfacePreferences,
)


class PreferencesFile:
    """Read and write the preferences; the one owner of their file."""

    def __init__(self, path: Path) -> None:
        self._file = TomlFile(path)

    def read(self) -> tuple[Preferences, str | None]:
        """Read the preferences.

        Returns:
            the preferences, and a sentence for the person where something could not be read.
        """
        notice = self._file.read()
        preferences, doubt = from_content(self._file.content, str(self._file.path))
        return preferences, notice or doubt

    def write(self, preferences: Preferences) -> str | None:
        """Write the preferences.

        Returns:
            a sentence for the person if they could not be written.
        """
        return self._file.write(to_content(preferences, self._file.content))


def export_preferences(preferences: Preferences, path: Path) -> str | None:
    """Write the preferences into a file of the person's choice.

    Returns:
        a sentence for the person if that failed.
    """
    try:
        write_file(path, tomli_w.dumps(to_content(preferences, {})), 0o666)
    except OSError as error:
        return f"The settings could not be written to {path}: {error.strerror}; choose another file"
    return None


def import_preferences(path: Path) -> tuple[Preferences | None, str | None]:
    """Read preferences that somebody exported.

    Returns:
        them, or None where the file is none of ours, and a sentence for the person if something is
        wrong.
    """
    try:
        content = parse(path)
    except (OSError, ValueError) as error:
        return None, f"{path} cannot be read as settings ({error}); nothing was changed"
    if "schema_version" not in content:
        return None, f"{path} holds no settings of Surtitle; nothing was changed"
    return from_content(content, str(path))


def from_content(content: Content, where: str) -> tuple[Preferences, str | None]:
    """Take each value that is what it should be; name those that are not."""
    preferences, wrong = Preferences(), list[str]()
    preferences = _filled(preferences, content, "", wrong)
    for page_field in fields(preferences):
        page = getattr(preferences, page_field.name)
        if is_page(page):
            filled = _filled(page, table(content, page_field.name), f"{page_field.name}.", wrong)
            preferences = replace(preferences, **{page_field.name: filled})
    if not wrong:
        return preferences, None
    return preferences, f"In {where}, {', '.join(wrong)} could not be used"


def to_content(preferences: Preferences, content: Content) -> dict[str, object]:
    """Lay the preferences over what a file held."""
    merged = dict(content)
    known = merged.get("schema_version")
    is_newer = isinstance(known, int) and known > SCHEMA_VERSION
    merged["schema_version"] = known if is_newer else SCHEMA_VERSION
    _lay_over(merged, preferences)
    for page_field in fields(preferences):
        page = getattr(preferences, page_field.name)
        if is_page(page):
            merged[page_field.name] = _lay_over(table(content, page_field.name), page)
    return merged


def is_page(value: object) -> bool:
    """Tell a page of choices from a single value."""
    return is_dataclass(value)


def _filled(page: Page, content: Content, prefix: str, wrong: list[str]) -> Page:
    """Take what a table has for a page, value by value."""
    for one in fields(page):
        value = content.get(one.name)
        if value is None or is_page(getattr(page, one.name)):
            continue
        try:
            page = replace(page, **{one.name: _of_kind(value, one.type)})  # type: ignore[arg-type]  # just checked
        except ValueError:
            wrong.append(f"{prefix}{one.name} = {shown(value)}")
    return page


def _of_kind(value: object, kind: object) -> object:
    """Give a value as its field wants it.

    Raises:
        ValueError: it is of another kind; true and false are no numbers here, and NUL no letter.
    """
    if isinstance(value, str) and "\0" in value:
        msg = "expected text without NUL"
        raise ValueError(msg)
    if kind == Path | None and isinstance(value, str) and value:
        return Path(value)
    if kind == Mapping[str, str] and isinstance(value, dict):
        return {name: _of_kind(text, str) for name, text in value.items()}
    if type(value) is not kind:
        msg = f"expected {kind}, got {value!r}"
        raise ValueError(msg)
    return value


def _lay_over(merged: dict[str, object], page: Page) -> dict[str, object]:
    """Put the single values of a page into a table."""
    for one in fields(page):
        value = getattr(page, one.name)
        if is_page(value):
            continue
        merged.pop(one.name, None)
        if value is not None:
            merged[one.name] = _plain(value)
    return merged


def _plain(value: object) -> object:
    """Give a value as TOML has it."""
    if isinstance(value, Path):
        return str(value)
    return dict(value) if isinstance(value, Mapping) else value
