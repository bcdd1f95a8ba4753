"""The preferences of the user, as frozen values that check themselves, and their TOML file. No Qt.

One dataclass for each table of the settings file and each page of the settings window. A wrong
value in the file is reported in one sentence; the others stay valid. Unknown keys are kept, and so
is the version number of a newer file. The command line of a start stands beside them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from app.config.messages import AppCode
from app.config.toml_file import Content, TomlFile, table
from engine.audio.devices import DeviceKind
from engine.hub.catalogue import standard_speech_model
from engine.messages import Message
from engine.policy import parse_policy
from engine.untrusted.strict_json import Between, Form, check_fields, read_value, shown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

TRANSLATE, CAPTIONS_ONLY, BOTH = "translate", "captions only", "both"
MODES = (TRANSLATE, CAPTIONS_ONLY, BOTH)

SOURCE_LANGUAGE = "en"
"""Code of the language that is typed and spoken, unless another one is chosen."""

ME, THEM = "me", "them"

FILE = "file"
"""The lane of a file that is captioned as fast as it goes, in a session of its own."""

CORRECTED = "corrected"
"""The lane of rows that are captioned again, since somebody corrected them."""

APART = frozenset({FILE, CORRECTED})
"""The lanes of utterances that are no rows of the transcript."""

LANES = {DeviceKind.MICROPHONE: ME, DeviceKind.SYSTEM: THEM}
"""The lane in which each kind of device is heard."""

MARKED, SIGN, OFF = "mark", "sign", "off"
DOUBT_MARKS = (MARKED, SIGN, OFF)
"""A small mark before the caption, a sign after it, or nothing."""

DOUBT_MARK = "?"
"""Stands small beside the first letter, where no letters are."""

DOUBT_SIGN = "(?)"
HIGH_CONTRAST = "high contrast"
PRESETS = ("white on black", "yellow on black", "black on white", HIGH_CONTRAST)
INTERFACE_LANGUAGES = ("system", "en", "de")
APPEARANCES = ("system", "light", "dark")
PLACES = ("screen", "bottom", "top")
"""Of the projector view: the whole screen, or a strip of it."""

WHOLE_SCREEN, BOTTOM_STRIP, TOP_STRIP = PLACES
LEAST_PROJECTED, MOST_PROJECTED = 3, 12
LEAST_OPACITY = 0.2
MOST_LETTERS = 64
"""Of the name of a font or a speaker."""

MOST_ADDRESS = 300
"""Characters of the address of a server."""

SCHEMA_VERSION = 2

Page = TypeVar("Page", bound="DataclassInstance")


def with_sign(caption: str) -> str:
    return f"{caption.rstrip()} {DOUBT_SIGN}" if caption.strip() else caption


def _checked_policy(text: str) -> str:
    if text:
        parse_policy(text)
    return text


def _printable(text: str) -> str:
    if not text.isprintable():
        msg = f"expected characters that can be shown, got {shown(text)}"
        raise ValueError(msg)
    return text


_Code = Annotated[str, Form("([a-z]{2,3})?", "the code of a language, or empty")]
_Colour = Annotated[str, Form("(#[0-9a-fA-F]{6})?", "a colour written as #rrggbb, or empty")]
_Name = Annotated[str, Between(0, MOST_LETTERS)]


class _Checked:
    """Values that are as their annotations say."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_fields(self)  # type: ignore[arg-type]  # all that inherit are dataclasses


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionPreferences(_Checked):
    """How captions look in the overlay.

    Attributes:
        lines: for each shown language.
        characters: of average width in a line; subtitles use 42.
        point_size: of the letters.
        outline: letters have a rim.
        second: code of a second language, shown below the first; empty for none.
        smooth: lines glide up, unless the system reduces motion.
        font: family of the letters; empty for that of the windows.
        text_colour: empty for that of the preset, as the next one.
        background_colour: of the box.
        opacity: of the box; None for that of the preset.
        name_me: name of the user's own lane; empty for "Me" in the language of the windows.
        name_them: the same for the other lane, "Them".
        doubt: mark of captions that the model is not sure of, here and in the transcript.
        announced: screen readers say each caption once it is finished.
    """

    lines: Annotated[int, Between(1, 4)] = 3
    characters: Annotated[int, Between(20, 68)] = 42
    point_size: Annotated[int, Between(14, 96)] = 28
    preset: Annotated[str, PRESETS] = PRESETS[0]
    outline: bool = True
    mode: Annotated[str, MODES] = MODES[0]
    second: _Code = ""
    smooth: bool = True
    font: _Name = ""
    text_colour: _Colour = ""
    background_colour: _Colour = ""
    opacity: Annotated[float, Between(LEAST_OPACITY, 1.0)] | None = None
    name_me: _Name = ""
    name_them: _Name = ""
    doubt: Annotated[str, DOUBT_MARKS] = MARKED
    announced: bool = True

    @property
    def second_shown(self) -> str:
        """The second language that is shown; empty where nothing is translated."""
        return "" if self.mode == CAPTIONS_ONLY else self.second

    @property
    def speaker_names(self) -> dict[str, str]:
        """The names that the user gave, by lane."""
        names = {ME: self.name_me.strip(), THEM: self.name_them.strip()}
        return {lane: name for lane, name in names.items() if name}


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayPreferences(_Checked):
    """How the overlay behaves.

    Attributes:
        visible: the overlay was open.
        locked: clicks go through it.
        hide_from_share: keep it out of screen shares, if the system supports that.
        through_xwayland: use XWayland on Wayland desktops.
        hide_after_s: seconds without a new caption until it hides; 0 for never.
    """

    visible: bool = True
    locked: bool = False
    hide_from_share: bool = False
    through_xwayland: bool = False
    hide_after_s: Annotated[int, Between(0, 600)] = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectorPreferences(_Checked):
    """How captions are shown to a room, on a screen of their own.

    ``letters`` is their height in percent of that of the screen.
    """

    place: Annotated[str, PLACES] = WHOLE_SCREEN
    letters: Annotated[int, Between(LEAST_PROJECTED, MOST_PROJECTED)] = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationPreferences(_Checked):
    """Languages, timing and adapter.

    Attributes:
        language: two-letter code of the target language.
        source: the same of what is typed and spoken, for models that translate from several.
        policy: as the engine writes policies; empty for the standard one of the model.
        adapter: name of the adapter loaded at the start; empty for the default one.
        glossary: the model gets the glossary of the user.
    """

    language: str = "de"
    source: str = SOURCE_LANGUAGE
    policy: Annotated[str, _checked_policy] = ""
    adapter: str = ""
    glossary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPreferences(_Checked):
    """Another computer that can translate; its token has a file of its own.

    Attributes:
        in_use: it translates, and this computer does not.
        address: as of ``engine.settings.ServerSettings``; empty for none.
        certificate: as there.
    """

    in_use: bool = False
    address: Annotated[str, Between(0, MOST_ADDRESS), _printable] = ""
    certificate: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningPreferences(_Checked):
    """The speech model and the sound devices.

    Attributes:
        recognizer: name of a Whisper model, its id on the hub, or its folder.
        microphone: the system's name of the device; empty for the default.
        system: the same for the output that is listened to.
    """

    recognizer: Annotated[str, Form(r"(?s).*\S.*", "the name of a model")] = field(
        default_factory=standard_speech_model
    )
    microphone: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyPreferences(_Checked):
    """Which text is written to files or shown to other programs on this computer.

    Attributes:
        journal: write the session to disk as it goes, so that a crash costs one sentence.
        journal_days: journals are deleted after this time.
        page: serve captions on a local web page.
    """

    journal: bool = True
    journal_days: Annotated[int, Between(1, 3650)] = 30
    page: bool = False
    page_port: Annotated[int, Between(1024, 65535)] = 8765


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfacePreferences(_Checked):
    """Language, colours and text of the windows.

    Attributes:
        text_size: of the transcript in percent.
        source_share: of the source in the width of both texts in percent.
        knows_tray: it was explained that a closed window leaves the program in the tray.
    """

    language: Annotated[str, INTERFACE_LANGUAGES] = "system"
    appearance: Annotated[str, APPEARANCES] = "system"
    text_size: Annotated[int, Between(50, 300)] = 100
    source_share: Annotated[int, Between(10, 90)] = 50
    knows_tray: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """All preferences.

    Attributes:
        model: folder of the model, or its name on the hub; None for the bundled one.
        accepted: the model whose licence, which forbids commercial use, is accepted.
        shortcuts: changed keys by names of actions, as Qt writes them; empty for no keys.
    """

    model: Path | None = None
    accepted: Path | None = None
    translation: TranslationPreferences = field(default_factory=TranslationPreferences)
    server: ServerPreferences = field(default_factory=ServerPreferences)
    captions: CaptionPreferences = field(default_factory=CaptionPreferences)
    overlay: OverlayPreferences = field(default_factory=OverlayPreferences)
    projector: ProjectorPreferences = field(default_factory=ProjectorPreferences)
    listening: ListeningPreferences = field(default_factory=ListeningPreferences)
    privacy: PrivacyPreferences = field(default_factory=PrivacyPreferences)
    interface: InterfacePreferences = field(default_factory=InterfacePreferences)
    shortcuts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSettings:
    """The command line; None means that the preferences decide.

    Attributes:
        places_file: stores the geometry of windows.
        data_folder: stores journals, adapters and other files of the user.
        model: folder of the model, or its name on the hub.
        adapter: folder of the adapter, instead of that of the preferences.
        no_adapter: use the bare model.
        device: as in ``ModelSettings``.
        policy: as the engine writes it.
        forget_places: open the windows at their default positions.
        can_use_xwayland: a restart through XWayland can be offered.
        crashed: the last run crashed without a message.
        first_run: there are no preferences yet, so the setup wizard is shown.
    """

    preferences_file: Path
    places_file: Path
    data_folder: Path
    log_folder: Path
    model: Path | None = None
    adapter: Path | None = None
    no_adapter: bool = False
    device: str = "auto"
    language: str | None = None
    policy: str | None = None
    forget_places: bool = False
    can_use_xwayland: bool = False
    crashed: bool = False
    first_run: bool = False


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
    for item in fields(page):
        value = getattr(page, item.name)
        if _is_page(value):
            continue
        merged.pop(item.name, None)
        if value is not None:
            merged[item.name] = _plain(value)
    return merged


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    return dict(value) if isinstance(value, Mapping) else value
