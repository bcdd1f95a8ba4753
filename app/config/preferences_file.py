"""The TOML file of the preferences.

A wrong value is reported in one sentence; the others stay valid. Unknown keys are kept, and so is
the version number of a newer file.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import tomli_w

from app.config.preferences import Preferences
from app.config.system.messages import AppCode
from app.config.system.toml_file import Content, TomlFile, parse, table
from engine.errors import message_of
from engine.files import write_file
from engine.messages import Message
from engine.untrusted.strict_json import shown
from engine.untrusted.typed_table import read_value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SCHEMA_VERSION = 2

Page = TypeVar("Page", bound="DataclassInstance")


class PreferencesFile:
    """Read and write the preferences; the one owner of their file."""

    def __init__(self, path: Path) -> None:
        self._file = TomlFile(path)

    def read(self) -> tuple[Preferences, Message | None]:
        """Return the preferences, and a message for the user if something could not be read."""
        notice = self._file.read()
        preferences, doubt = from_content(self._file.content, str(self._file.path))
        return preferences, notice or doubt

    def write(self, preferences: Preferences) -> Message | None:
        """Write the preferences; return a message for the user if that failed."""
        return self._file.write(to_content(preferences, self._file.content))


def export_preferences(preferences: Preferences, path: Path) -> Message | None:
    """Write the preferences to another file; return a message for the user if that failed."""
    try:
        write_file(path, tomli_w.dumps(to_content(preferences, {})), 0o666)
    except OSError as error:
        return AppCode.SETTINGS_UNWRITABLE(path=str(path), reason=message_of(error))
    return None


def import_preferences(path: Path) -> tuple[Preferences | None, Message | None]:
    """Return exported preferences, or None, and a message for the user if something is wrong."""
    try:
        content = parse(path)
    except (OSError, ValueError) as error:
        message = AppCode.SETTINGS_UNREADABLE(path=str(path), reason=message_of(error))
        return None, message
    if "schema_version" not in content:
        return None, AppCode.NO_SETTINGS(path=str(path))
    return from_content(content, str(path))


def from_content(content: Content, where: str) -> tuple[Preferences, Message | None]:
    """Return the valid values, and a message that names the wrong ones."""
    preferences, wrong = Preferences(), list[str]()
    preferences = _filled(preferences, content, "", wrong)
    for page_field in fields(preferences):
        page = getattr(preferences, page_field.name)
        if _is_page(page):
            filled = _filled(page, table(content, page_field.name), f"{page_field.name}.", wrong)
            preferences = replace(preferences, **{page_field.name: filled})
    if not wrong:
        return preferences, None
    return preferences, AppCode.SETTINGS_WRONG(path=where, values=", ".join(wrong))


def to_content(preferences: Preferences, content: Content) -> dict[str, object]:
    """Return the content of a file with the preferences merged into it."""
    merged = dict(content)
    known = merged.get("schema_version")
    is_newer = isinstance(known, int) and known > SCHEMA_VERSION
    merged["schema_version"] = known if is_newer else SCHEMA_VERSION
    _lay_over(merged, preferences)
    for page_field in fields(preferences):
        page = getattr(preferences, page_field.name)
        if _is_page(page):
            merged[page_field.name] = _lay_over(dict(table(content, page_field.name)), page)
    return merged


def _is_page(value: object) -> bool:  # not a type guard, as is_dataclass is
    return is_dataclass(value)


def _filled(page: Page, content: Content, prefix: str, wrong: list[str]) -> Page:
    """Return a page with the valid values of a table; append the others to ``wrong``."""
    for item in fields(page):
        value = content.get(item.name)
        if value is None or _is_page(getattr(page, item.name)):
            continue
        try:
            _check_texts(value)
            page = replace(page, **{item.name: read_value(item.type, value, item.name)})
        except ValueError:
            wrong.append(f"{prefix}{item.name} = {shown(value)}")
    return page


def _check_texts(value: object) -> None:
    """Raise ValueError for a text that no window, file or library takes."""
    texts = value.values() if isinstance(value, dict) else [value]
    if any(isinstance(text, str) and "\0" in text for text in texts):
        msg = "expected text without NUL"
        raise ValueError(msg)


def _lay_over(merged: dict[str, object], page: Page) -> dict[str, object]:
    """Write the plain values of a page into a table."""
    for item in fields(page):
        value = getattr(page, item.name)
        if _is_page(value):
            continue
        merged.pop(item.name, None)
        if value is not None:
            merged[item.name] = _plain(value)
    return merged


def _plain(value: object) -> object:
    """Return a value as TOML can store it."""
    if isinstance(value, Path):
        return str(value)
    return dict(value) if isinstance(value, Mapping) else value
