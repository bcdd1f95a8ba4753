"""Names in words for lists, menus and rows: of devices, languages, lanes, speech models, timings.

Three timings are on offer where a model has slots, two of drafts. Every other policy has no name;
settings and the command line take it as the engine writes it.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtGui import QColor, QGuiApplication

from app.config.preferences import ME, THEM
from app.look.palette import colours_of
from engine.audio.devices import AudioDevice, DeviceKind
from engine.hub.catalogue import MOONSHINE, SPEECH_CHOICES, STREAMING_MODELS, WHISPER_MODELS
from engine.messages import tr
from engine.models.model_card import LANGUAGE_NAMES


def device_names(kind: DeviceKind, devices: Sequence[AudioDevice] = ()) -> list[tuple[str, str]]:
    """Return text and name in the system of each device of a kind, that of its choice first."""
    defaults = {
        DeviceKind.MICROPHONE: QCoreApplication.translate("Devices", "Default microphone"),
        DeviceKind.SYSTEM: QCoreApplication.translate("Devices", "Default output"),
    }
    muted = QCoreApplication.translate("Devices", "{} (muted)")
    return [
        (defaults[kind], ""),
        *(
            (muted.format(one.description) if one.is_muted else one.description, one.name)
            for one in devices
            if one.kind == kind
        ),
    ]


def language_name(code: str, otherwise: str = "") -> str:
    """Return the name of a language, else ``otherwise``, else its code."""
    return language_names().get(code) or otherwise or code


def language_names() -> dict[str, str]:
    """Return the names of the known languages by code, sorted by name."""
    named = {code: QCoreApplication.translate("", name) for code, name in LANGUAGE_NAMES.items()}
    return dict(sorted(named.items(), key=lambda item: item[1].casefold()))


def lane_name(lane: str, given: Mapping[str, str] | None = None) -> str:
    """Return the name of a lane for people; empty for typed text.

    Args:
        lane: one of ``app.config.preferences``.
        given: names that the user gave, by lane.
    """
    if given and lane in given:
        return given[lane]
    if lane == ME:
        return QCoreApplication.translate("Lanes", "Me")
    if lane == THEM:
        return QCoreApplication.translate("Lanes", "Them")
    return lane


def lane_colour(lane: str) -> QColor | None:
    """Return the colour of a lane on the background of lists; None for the default."""
    if lane not in (ME, THEM):
        return None
    return colours_of(QGuiApplication.palette()).colour("me" if lane == ME else "them")


_WORDS = (tr("Fast"), tr("Balanced"), tr("Accurate"))
_AT_ONCE = tr("At once")
_INCLUDED = tr("Included")


def speech_words(recognizer: str) -> str:
    """Return the words before the name of a speech model, as *At once*; empty for none."""
    if recognizer == MOONSHINE:
        return QCoreApplication.translate("", _INCLUDED)
    if recognizer in STREAMING_MODELS:
        return QCoreApplication.translate("", _AT_ONCE)
    names = [choice.name for choice in SPEECH_CHOICES]
    if recognizer not in names:
        return ""
    return QCoreApplication.translate("", _WORDS[names.index(recognizer)])


def speech_id(recognizer: str) -> str:
    """Return the name of a speech model, of a folder its last part."""
    return Path(recognizer).name if Path(recognizer).is_absolute() else recognizer


def speech_name(recognizer: str) -> str:
    words, name = speech_words(recognizer), speech_id(recognizer)
    return f"{words} ({name})" if words else name


_EARLY = (
    "read:3",
    tr("Early"),
    tr("Captions move on with every three words: sooner, and less sure."),
)
_BALANCED = "", tr("Balanced (recommended)"), tr("A few words are read before captions move on.")
_SURE = (
    "offline",
    tr("Sure"),
    tr("A sentence is translated when it is complete; long ones come later."),
)

_ABOUT = tr("About {} seconds from a word to its caption.")
_MEASURED = tr("Measured here: {} seconds from a word to its caption.")

_SECONDS: tuple[tuple[Collection[str], dict[str, float]], ...] = (
    ((MOONSHINE,), {"read:3": 1.22, "": 1.60, "offline": 2.40}),
    (STREAMING_MODELS, {"read:3": 0.97, "": 1.42, "offline": 2.21}),
    (
        (*WHISPER_MODELS, *WHISPER_MODELS.values()),
        {"read:3": 2.24, "": 2.68, "offline": 3.31},
    ),
)
"""By speech model and timing: the median from a word's end to its caption in chat, without
computing (docs/results.md, Seconds)."""


def policy_names(
    recognizer: str = "",
    step_s: float = 0.0,
    heard: tuple[str, float] | None = None,
    *,
    makes_drafts: bool = False,
) -> list[tuple[str, str, str]]:
    """Return the timings on offer: as the engine writes them, name, explanation with seconds.

    The one of no choice, written as an empty policy, is the standard one of the model. A model that
    re-translates has nothing earlier: its drafts must agree before anything is shown.

    Seconds are what was measured of a timing, and of the others as much more or less as in our
    table; before that the table and a step. Of what is in neither there are none.

    Args:
        step_s: what this computer takes to translate a few words.
        heard: a timing, and the measured median from a word's end to its caption under it.
        makes_drafts: the model re-translates, of which there is no table.
    """
    offered = (_BALANCED, _SURE) if makes_drafts else (_EARLY, _BALANCED, _SURE)
    known = () if makes_drafts else _SECONDS
    table = next((row for names, row in known if recognizer in names), dict[str, float]())
    later_s = step_s
    if heard is not None and heard[0] in table:
        later_s = heard[1] - table[heard[0]]
    told = {policy: _told(_ABOUT, max(0.0, seconds + later_s)) for policy, seconds in table.items()}
    if heard is not None:
        told[heard[0]] = _told(_MEASURED, heard[1])
    translate = QCoreApplication.translate
    return [
        (policy, translate("", name), translate("", tip) + told.get(policy, ""))
        for policy, name, tip in offered
    ]


def _told(text: str, seconds: float) -> str:
    number = QLocale().toString(seconds, "f", 1)
    return f" {QCoreApplication.translate('', text).format(number)}"


def unoffered_policy(policy: str) -> tuple[str, str, str]:
    """Return the entry of a policy that is chosen and not on offer."""
    return policy, policy, ""
