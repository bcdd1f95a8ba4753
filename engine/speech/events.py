"""The events that a listener reports: frozen values, like those of ``engine.events``.

A lane is a speaker: ``me`` and ``them`` where there are two, empty where there is one.
"""

from dataclasses import dataclass

from engine.audio.devices import AudioNotice
from engine.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognizerReady:
    """The recogniser is loaded; sound recorded meanwhile comes next.

    ``streams``: it hears sound as it comes, so that words appear as they are said.
    """

    load_s: float
    streams: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognizerKept:
    """The chosen recogniser cannot be loaded, so the one before goes on; comes before ``Ready``."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundCame:
    """The first sound of a lane, after ``RecognizerReady``: from now on what is said is heard."""

    lane: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TailChanged:
    """The words that may still change, four at most, after the committed word of number ``after``.

    They are shown in italics.
    """

    lane: str
    words: tuple[str, ...]
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Recognition or translation cannot keep up with the speaker.

    Attributes:
        seconds: age of the sound that is recognised now.
        message: the slow stage, and what to choose instead.
        smaller_model: the recogniser that the message advises; empty for none.
    """

    lane: str
    seconds: float
    message: Message
    smaller_model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaughtUp:
    """Recognition and translation keep up again."""

    lane: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Sound was left out, since captions were too far behind; words go on with what is said now.

    Attributes:
        seconds: from its first speech to its last.
        start_s: when the speech began, on the timeline of its source.
        since_s: the same by the clock of the chunks.
        after: number of the newest committed word of the lane before it.
    """

    lane: str
    seconds: float
    start_s: float
    since_s: float
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """A source reported a notice."""

    lane: str
    notice: AudioNotice


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningFailed:
    """Recording or recognition has failed for good; committed words are still translated."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningEnded:
    """All committed words are translated; this is the last event."""


Heard = (
    RecognizerReady
    | RecognizerKept
    | SoundCame
    | TailChanged
    | Behind
    | CaughtUp
    | LeftOut
    | Noticed
    | ListeningFailed
    | ListeningEnded
)
"""Everything a listener reports."""
