"""What hears for the window: devices, recognisers, and one run of listening. No Qt.

It is imported on a thread when somebody first listens, since what it stands on is slow to import.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.captions.lanes import LANES
from engine.audio.devices import AudioDevice, AudioNotice, WantedDevice
from engine.audio.live_source import LiveSource
from engine.audio.sources import AudioSources
from engine.hub.catalogue import smaller_whisper
from engine.hub.transfer import HubSettings, Progress
from engine.speech.events import Heard, Noticed
from engine.speech.listener import Feed, Lane, Listener, ListeningSettings, Recognition
from engine.speech.vad import SileroDetector
from engine.speech.whisper import Whisper, WhisperSettings
from engine.speech.whisper_models import found_whisper, whisper_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of listening, from its start to its end.

    Attributes:
        listener: which runs.
        sources: of its lanes.
    """

    listener: Listener
    sources: Mapping[str, LiveSource]


class SpeechEngine:
    """Everything that hears; one for the whole program.

    A recogniser stays loaded between runs, so that a pause costs nothing.
    """

    def __init__(self, library: Path, device: str, hub: HubSettings | None = None) -> None:
        """Prepare.

        Args:
            library: folder of recognisers that were fetched.
            device: where is computed, one of ``engine.settings.DEVICES``.
            hub: where they are fetched from; None for the usual one.
        """
        self._library = library
        self._device = device if device in ("cpu", "cuda") else "auto"
        self._hub = hub
        self._sources = AudioSources()
        self._loaded: tuple[str, Whisper] | None = None

    def devices(self) -> tuple[AudioDevice, ...]:
        """List what can be listened to.

        Raises:
            AudioError: nothing can be, or a library is missing.
        """
        return self._sources.devices()

    def has(self, recognizer: str) -> bool:
        """Tell whether a recogniser is on this computer; the network is never asked.

        Raises:
            ModelError: there is none of this name.
        """
        return found_whisper(recognizer, self._library) is not None

    def fetch(self, recognizer: str, progress: Progress, cancelled: Callable[[], bool]) -> None:
        """Fetch a recogniser by its name, or what is missing of it.

        Raises:
            HubError: it cannot be fetched.
            FetchCancelledError: ``cancelled`` said so; what is here is kept.
        """
        whisper_folder(recognizer, self._library, self._hub, progress=progress, cancelled=cancelled)

    def prepare(
        self,
        wanted: Sequence[WantedDevice],
        recognizer: str,
        feed: Feed,
        report: Callable[[Heard], None],
        after: Listener | None = None,
    ) -> Run:
        """Make a run, which is started by who asked for it: it records then, and at once.

        Args:
            wanted: at least one source.
            recognizer: name or folder of one that is on this computer.
            feed: takes the words for the session.
            report: gets what happens, on other threads.
            after: the run before; nothing is recognised while it has something left.

        Raises:
            SurtitleError: the recogniser cannot be used, or a library is missing.
        """
        folder = whisper_folder(recognizer, self._library)

        def noticed(lane: str) -> Callable[[AudioNotice], None]:
            return lambda notice: report(Noticed(lane=lane, notice=notice))

        sources = {
            LANES[device.kind]: self._sources.live(device, noticed(LANES[device.kind]))
            for device in wanted
        }

        def load() -> Whisper:
            if after is not None:
                after.join()  # words of two runs must not mix
            return self._whisper(folder)

        listener = Listener(
            [Lane(name=lane, source=source) for lane, source in sources.items()],
            feed,
            Recognition(make_model=load, make_detector=SileroDetector),
            report,
            ListeningSettings(smaller_model=smaller_whisper(recognizer)),
        )
        return Run(listener=listener, sources=sources)

    def _whisper(self, folder: Path) -> Whisper:
        """Load a recogniser, unless it is loaded; one run after the other asks."""
        name = str(folder)
        if self._loaded is None or self._loaded[0] != name:
            self._loaded = None  # there may not be room for both
            self._loaded = (name, Whisper(WhisperSettings(model=name, device=self._device)))
        return self._loaded[1]
