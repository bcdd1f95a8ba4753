"""The preferences of the user, as frozen values that check themselves. No Qt.

One dataclass for each table of the settings file and each page of the settings window.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.config.doubt import DOUBT_MARKS, MARKED
from app.config.lanes import ME, THEM
from app.config.modes import CAPTIONS_ONLY, MODES, SOURCE_LANGUAGE
from engine.hub.bundled import standard_speech_model
from engine.policy import parse_policy
from engine.settings import at_least, check_choice

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

_CODE = re.compile("[a-z]{2,3}")
_COLOUR = re.compile("#[0-9a-fA-F]{6}")


def _between(name: str, value: int, least: int, most: int) -> None:
    """Raise a ValueError if a number is out of range."""
    at_least(name, value, least)
    if value > most:
        msg = f"{name} must be at most {most}, got {value}"
        raise ValueError(msg)


def _colour(name: str, value: str) -> None:
    """Raise a ValueError if a text is neither empty nor a colour."""
    if value and not _COLOUR.fullmatch(value):
        msg = f"{name} must be written as #rrggbb, got {value!r}"
        raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionPreferences:
    """How captions look in the overlay.

    Attributes:
        lines: for each shown language, 1 to 4.
        characters: of average width in a line, 20 to 68; subtitles use 42.
        point_size: of the letters, 14 to 96.
        preset: one of ``PRESETS``.
        outline: letters have a rim.
        mode: one of ``MODES``.
        second: code of a second language, shown below the first; empty for none.
        smooth: lines glide up, unless the system reduces motion.
        font: family of the letters; empty for that of the windows.
        text_colour: as ``#rrggbb``; empty for that of the preset, as the next one.
        background_colour: of the box.
        opacity: of the box, 0.2 to 1.0; None for that of the preset.
        name_me: name of the user's own lane; empty for "Me" in the language of the windows.
        name_them: the same for the other lane, "Them".
        doubt: mark of captions that the model is not sure of, here and in the transcript; one of
            ``DOUBT_MARKS``.
        announced: screen readers say each caption once it is finished.
    """

    lines: int = 3
    characters: int = 42
    point_size: int = 28
    preset: str = PRESETS[0]
    outline: bool = True
    mode: str = MODES[0]
    second: str = ""
    smooth: bool = True
    font: str = ""
    text_colour: str = ""
    background_colour: str = ""
    opacity: float | None = None
    name_me: str = ""
    name_them: str = ""
    doubt: str = MARKED
    announced: bool = True

    def __post_init__(self) -> None:
        _between("lines", self.lines, 1, 4)
        _between("characters", self.characters, 20, 68)
        _between("point_size", self.point_size, 14, 96)
        check_choice("preset", self.preset, PRESETS)
        check_choice("mode", self.mode, MODES)
        check_choice("doubt", self.doubt, DOUBT_MARKS)
        if self.second and not _CODE.fullmatch(self.second):
            msg = f"second must be the code of a language, got {self.second!r}"
            raise ValueError(msg)
        _colour("text_colour", self.text_colour)
        _colour("background_colour", self.background_colour)
        if self.opacity is not None and not LEAST_OPACITY <= self.opacity <= 1.0:
            msg = f"opacity must be {LEAST_OPACITY} to 1.0, got {self.opacity}"
            raise ValueError(msg)
        for name in (self.font, self.name_me, self.name_them):
            if len(name) > MOST_LETTERS:
                msg = f"a name has at most {MOST_LETTERS} letters, got {len(name)}"
                raise ValueError(msg)

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
class OverlayPreferences:
    """How the overlay behaves.

    Attributes:
        visible: the overlay was open.
        locked: clicks go through it.
        hide_from_share: keep it out of screen shares, if the system supports that.
        through_xwayland: use XWayland on Wayland desktops.
        hide_after_s: seconds without a new caption until it hides, 0 to 600; 0 for never.
    """

    visible: bool = True
    locked: bool = False
    hide_from_share: bool = False
    through_xwayland: bool = False
    hide_after_s: int = 10

    def __post_init__(self) -> None:
        _between("hide_after_s", self.hide_after_s, 0, 600)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectorPreferences:
    """How captions are shown to a room, on a screen of their own.

    Attributes:
        place: one of ``PLACES``.
        letters: their height in percent of that of the screen, 3 to 12.
    """

    place: str = WHOLE_SCREEN
    letters: int = 6

    def __post_init__(self) -> None:
        check_choice("place", self.place, PLACES)
        _between("letters", self.letters, LEAST_PROJECTED, MOST_PROJECTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationPreferences:
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
    policy: str = ""
    adapter: str = ""
    glossary: bool = False

    def __post_init__(self) -> None:
        if self.policy:
            parse_policy(self.policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPreferences:
    """Another computer that can translate; its token has a file of its own.

    Attributes:
        in_use: it translates, and this computer does not.
        address: as of ``engine.settings.ServerSettings``; empty for none.
        certificate: as there.
    """

    in_use: bool = False
    address: str = ""
    certificate: Path | None = None

    def __post_init__(self) -> None:
        if len(self.address) > MOST_ADDRESS or not self.address.isprintable():
            msg = f"address must have at most {MOST_ADDRESS} characters that can be shown"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningPreferences:
    """The speech model and the sound devices.

    Attributes:
        recognizer: name of a Whisper model, its id on the hub, or its folder.
        microphone: the system's name of the device; empty for the default.
        system: the same for the output that is listened to.
    """

    recognizer: str = field(default_factory=standard_speech_model)
    microphone: str = ""
    system: str = ""

    def __post_init__(self) -> None:
        if not self.recognizer.strip():
            msg = "recognizer must name a model"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyPreferences:
    """Which text is written to files or shown to other programs on this computer.

    Attributes:
        journal: write the session to disk as it goes, so that a crash costs one sentence.
        journal_days: journals are deleted after this time, 1 to 3650.
        page: serve captions on a local web page.
        page_port: of that page, 1024 to 65535.
    """

    journal: bool = True
    journal_days: int = 30
    page: bool = False
    page_port: int = 8765

    def __post_init__(self) -> None:
        _between("journal_days", self.journal_days, 1, 3650)
        _between("page_port", self.page_port, 1024, 65535)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfacePreferences:
    """Language, colours and text of the windows.

    Attributes:
        language: one of ``INTERFACE_LANGUAGES``.
        appearance: one of ``APPEARANCES``.
        text_size: of the transcript in percent, 50 to 300.
        source_share: of the source in the width of both texts in percent, 10 to 90.
        knows_tray: it was explained that a closed window leaves the program in the tray.
    """

    language: str = "system"
    appearance: str = "system"
    text_size: int = 100
    source_share: int = 50
    knows_tray: bool = False

    def __post_init__(self) -> None:
        check_choice("language", self.language, INTERFACE_LANGUAGES)
        check_choice("appearance", self.appearance, APPEARANCES)
        _between("text_size", self.text_size, 50, 300)
        _between("source_share", self.source_share, 10, 90)


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
