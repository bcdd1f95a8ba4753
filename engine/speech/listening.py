"""Make listeners, alike for the terminal and the window."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.audio.devices import AudioNotice, WantedDevice
from engine.hub.catalogue import quicker_speech_model
from engine.speech import vad
from engine.speech.direct.direct_recognizer import DirectModel
from engine.speech.events import Heard, Noticed
from engine.speech.listener import Feed, Lane, Listener, ListeningSettings, Recognition
from engine.speech.recognizer import SpeechModel
from engine.speech.streaming import StreamingModel


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedFile:
    """An audio or video file to listen to.

    Attributes:
        path: of the file.
        real_time: read it at its own pace, not as fast as possible.
    """

    path: Path
    real_time: bool = False


Wanted = WantedDevice | WantedFile
"""A source of sound."""


def noticed(lane: str, report: Callable[[Heard], None]) -> Callable[[AudioNotice], None]:
    """Return what takes the notices of the source of a lane."""
    return lambda notice: report(Noticed(lane=lane, notice=notice))


def make_listening(
    lanes: Sequence[Lane],
    feed: Feed,
    load: Callable[[], SpeechModel | StreamingModel | DirectModel],
    report: Callable[[Heard], None],
    *,
    recognizer: str,
    n_words: Counter[str] | None = None,
) -> Listener:
    """Return a listener, which is not started.

    Args:
        lanes: with different names.
        feed: takes the words.
        load: loads the speech model, on the recogniser's thread.
        report: receives the events.
        recognizer: name of the speech model.
        n_words: counts the words of each lane, from one listener to the next.
    """
    recognition = Recognition(
        make_model=load,
        make_detector=lambda: vad.SileroDetector(),  # noqa: PLW0108  found when it is made
        n_words=Counter() if n_words is None else n_words,
    )
    settings = ListeningSettings(smaller_model=quicker_speech_model(recognizer))
    return Listener(lanes, feed, recognition, report, settings)
