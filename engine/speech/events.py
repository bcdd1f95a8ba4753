"""What a listener reports. Frozen values, as those of ``engine.events``.

A lane is who is heard: ``me`` and ``them`` where both are, nothing where there is one only.
"""

from dataclasses import dataclass

from engine.audio.devices import AudioNotice
from engine.messages import Message
from engine.utterances import FedWord


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognizerReady:
    """The recogniser is loaded; what was recorded meanwhile is recognised now.

    Attributes:
        load_s: seconds it took.
    """

    load_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TailChanged:
    """The words behind the committed ones that may still change, four at most.

    Attributes:
        lane: who speaks.
        words: to be shown dim, or not at all.
    """

    lane: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechChanged:
    """Somebody began to speak, or stopped; for a lamp.

    Attributes:
        lane: who.
        speaks: whether speech is heard now.
    """

    lane: str
    speaks: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsCommitted:
    """Words became certain; reported just before they are fed to the session.

    Attributes:
        lane: the speaker.
        words: with the times at which they were said.
    """

    lane: str
    words: tuple[FedWord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Recognising or translating does not keep up with who speaks.

    Attributes:
        lane: who speaks.
        seconds: how old the sound is that is worked on now.
        message: what is slow and what to choose instead.
        smaller_model: the recogniser that the message advises; empty where it advises none.
    """

    lane: str
    seconds: float
    message: Message
    smaller_model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaughtUp:
    """What was behind keeps up again."""

    lane: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """Something happened to a source.

    Attributes:
        lane: which.
        notice: what, with a sentence for people.
    """

    lane: str
    notice: AudioNotice


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningFailed:
    """Recording or recognising has ended for good; what was heard is still translated.

    Attributes:
        message: why.
    """

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningEnded:
    """Everything that was heard is translated; nothing is reported after this."""


Heard = (
    RecognizerReady
    | TailChanged
    | SpeechChanged
    | WordsCommitted
    | Behind
    | CaughtUp
    | Noticed
    | ListeningFailed
    | ListeningEnded
)
"""Everything a listener reports."""
