"""What the window needs of what hears, which a thread imports when somebody first listens."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from app.captions.sources import WantedSource

if TYPE_CHECKING:  # all of it stands on numpy, which the window does without
    from engine.audio.level import Level
    from engine.audio.types import AudioDevice
    from engine.speech.events import Heard
    from engine.speech.listener import Listener


class Source(Protocol):
    """What records a lane."""

    @property
    def level(self) -> "Level":
        """Tell how loud it is now."""


class Run(Protocol):
    """One run of listening; see ``app.session.recognition.Run``."""

    @property
    def listener(self) -> "Listener":
        """What runs."""

    @property
    def sources(self) -> Mapping[str, Source]:
        """What its lanes hear."""


class Translation(Protocol):
    """What a run feeds."""

    def feed_words(self, words: Sequence[str], lane: str = "") -> None:
        """Append committed words to the passage of a lane."""

    def end_utterance(self, lane: str = "") -> None:
        """Finish the passage of a lane."""


class Hearing(Protocol):
    """What hears; see ``app.session.recognition.Hearing``."""

    def devices(self) -> Sequence["AudioDevice"]:
        """List what can be listened to."""

    def has(self, recognizer: str) -> bool:
        """Tell whether a recogniser is on this computer."""

    def fetch(
        self,
        recognizer: str,
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
    ) -> None:
        """Fetch a recogniser."""

    def prepare(
        self,
        wanted: Sequence[WantedSource],
        recognizer: str,
        translation: Translation,
        report: Callable[["Heard"], None],
        after: "Listener | None" = None,
    ) -> Run:
        """Make a run that is not started."""


MakeHearing = Callable[[Path, str], Hearing]
"""Makes what hears, of the folder of recognisers and where to compute. Called on a thread."""


def make_hearing(library: Path, device: str) -> Hearing:
    """Make what hears on this computer."""
    from app.session.recognition import Hearing as RealHearing  # noqa: PLC0415  what it stands on is slow

    return RealHearing(library, device)
