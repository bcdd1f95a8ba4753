"""What the person can choose, as frozen values that are checked where they are made. No Qt.

One dataclass for each table of the settings file and each page of the settings window.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.hub.catalogue import STANDARD_WHISPER
from engine.policy import parse_policy
from engine.settings import at_least

PRESETS = ("white on black", "yellow on black", "black on white", "high contrast")
SHOWN = ("captions", "source", "both")
INTERFACE_LANGUAGES = ("system", "en", "de")


def _between(name: str, value: int, least: int, most: int) -> None:
    """Check a number.

    Raises:
        ValueError: it is smaller or larger.
    """
    at_least(name, value, least)
    if value > most:
        msg = f"{name} must be at most {most}, got {value}"
        raise ValueError(msg)


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    """Check a word.

    Raises:
        ValueError: it is none of the known ones.
    """
    if value not in known:
        msg = f"{name} must be one of {', '.join(known)}, got {value!r}"
        raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionPreferences:
    """How captions look in the overlay.

    Attributes:
        lines: of each language that is shown, 1 to 4.
        characters: average ones that fit in a line, 20 to 68; 42 is what subtitles use.
        point_size: of the letters, 14 to 96.
        preset: one of ``PRESETS``.
        outline: whether letters have a rim.
        shows: one of ``SHOWN``.
        smooth: whether lines glide up; they jump all the same where the desktop wants no motion.
    """

    lines: int = 2
    characters: int = 42
    point_size: int = 28
    preset: str = PRESETS[0]
    outline: bool = True
    shows: str = SHOWN[0]
    smooth: bool = True

    def __post_init__(self) -> None:
        _between("lines", self.lines, 1, 4)
        _between("characters", self.characters, 20, 68)
        _between("point_size", self.point_size, 14, 96)
        _one_of("preset", self.preset, PRESETS)
        _one_of("shows", self.shows, SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayPreferences:
    """How the overlay behaves.

    Attributes:
        visible: whether it was open.
        locked: whether clicks go through it to what lies below.
        hide_from_share: whether it is kept out of screen shares, where the system can do that.
        through_xwayland: whether the windows go through XWayland where the desktop is Wayland's.
    """

    visible: bool = True
    locked: bool = False
    hide_from_share: bool = False
    through_xwayland: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationPreferences:
    """What is translated into, and when.

    Attributes:
        language: two-letter code of the target language.
        policy: as the engine writes policies.
        adapter: name of the one that is loaded at the start; nothing for what the model comes with.
        glossary: whether the model is told of the terms the person keeps.
    """

    language: str = "de"
    policy: str = "read:3"
    adapter: str = ""
    glossary: bool = False

    def __post_init__(self) -> None:
        parse_policy(self.policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningPreferences:
    """What hears, once somebody wants to be heard.

    Attributes:
        recognizer: name of a Whisper model, its id on the hub, or its folder.
        microphone: the system's name of it; nothing for the default.
        system: the same of the output whose sound is heard.
    """

    recognizer: str = STANDARD_WHISPER
    microphone: str = ""
    system: str = ""

    def __post_init__(self) -> None:
        if not self.recognizer.strip():
            msg = "recognizer must name a model"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyPreferences:
    """What leaves the window: into files, and onto a page for programs on this computer.

    Attributes:
        journal: whether a session is written down while it goes on, so that a crash loses nothing.
        journal_days: how long journals are kept, 1 to 3650.
        live_text: whether captions are appended to a text file.
        live_text_file: that file; None for one in the data folder.
        page: whether captions are shown on a page that only this computer can reach.
        page_port: of that page, 1024 to 65535.
    """

    journal: bool = True
    journal_days: int = 30
    live_text: bool = False
    live_text_file: Path | None = None
    page: bool = False
    page_port: int = 8765

    def __post_init__(self) -> None:
        _between("journal_days", self.journal_days, 1, 3650)
        _between("page_port", self.page_port, 1024, 65535)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfacePreferences:
    """How the program speaks to the person.

    Attributes:
        language: one of ``INTERFACE_LANGUAGES``.
    """

    language: str = "system"

    def __post_init__(self) -> None:
        _one_of("language", self.language, INTERFACE_LANGUAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """Everything the person chose.

    Attributes:
        model: folder of the model; None for the one that comes with the program.
        shortcuts: keys of actions, by the actions' names, as Qt writes them; of those actions alone
            that got other keys than the program gave them. No keys is an empty text.
    """

    model: Path | None = None
    translation: TranslationPreferences = field(default_factory=TranslationPreferences)
    captions: CaptionPreferences = field(default_factory=CaptionPreferences)
    overlay: OverlayPreferences = field(default_factory=OverlayPreferences)
    listening: ListeningPreferences = field(default_factory=ListeningPreferences)
    privacy: PrivacyPreferences = field(default_factory=PrivacyPreferences)
    interface: InterfacePreferences = field(default_factory=InterfacePreferences)
    shortcuts: Mapping[str, str] = field(default_factory=dict)
