"""Speech recognition for the windows: devices, recognisers, and one run of listening. No Qt.

It is imported on a thread when listening first starts, since its libraries are slow to import.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.config.lanes import LANES, THEM
from app.config.modes import SOURCE_LANGUAGE
from engine.audio.devices import AudioDevice, AudioNotice, WantedDevice
from engine.audio.file_source import FileSource
from engine.audio.live_source import LiveSource
from engine.audio.sources import AudioSources
from engine.errors import ModelError
from engine.hub.catalogue import smaller_whisper
from engine.hub.transfer import HubSettings, Progress
from engine.speech.events import Heard, Noticed, RecognizerKept
from engine.speech.listener import Feed, Lane, Listener, ListeningSettings, Recognition
from engine.speech.vad import SileroDetector
from engine.speech.whisper import Whisper, WhisperSettings
from engine.speech.whisper_models import found_whisper, whisper_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of listening: its listener and the sources of its lanes, or its file."""

    listener: Listener
    sources: Mapping[str, LiveSource] = field(default_factory=dict)
    file: FileSource | None = None


class SpeechEngine:
    """Makes runs of listening; the recogniser stays loaded between them.

    Attributes:
        language: code of what is spoken in the next runs.
    """

    def __init__(self, library: Path, device: str, hub: HubSettings | None = None) -> None:
        """Keep the settings.

        Args:
            library: folder of downloaded recognisers.
            device: where to compute, one of ``engine.settings.DEVICES``.
            hub: to download from; None for the default.
        """
        self._library = library
        self._device = device if device in ("cpu", "cuda") else "auto"
        self._hub = hub
        self.language = SOURCE_LANGUAGE
        self._sources = AudioSources()
        self._n_words = Counter[str]()  # of each lane, in all runs
        self._loaded: tuple[WhisperSettings, Whisper] | None = None

    def devices(self) -> tuple[AudioDevice, ...]:
        """Return the devices; raise AudioError if there are none or a library is missing."""
        return self._sources.devices()

    def has(self, recognizer: str) -> bool:
        """Return whether a recogniser is on this computer, without network access.

        Raises:
            ModelError: there is no such recogniser.
        """
        return found_whisper(recognizer, self._library) is not None

    def fetch(self, recognizer: str, progress: Progress, cancelled: Callable[[], bool]) -> None:
        """Download a recogniser by its name, or resume its download.

        Raises:
            HubError: the download failed.
            FetchCancelledError: ``cancelled`` returned true.
        """
        whisper_folder(recognizer, self._library, self._hub, progress=progress, cancelled=cancelled)

    def prepare(
        self,
        wanted: Sequence[WantedDevice],
        recognizer: str,
        feed: Feed,
        report: Callable[[Heard], None],
        after: Listener | None = None,
        *,
        instead: str = "",
    ) -> Run:
        """Return a run, which the caller starts; it records from then on.

        Args:
            wanted: at least one source.
            recognizer: name or folder of one that is on this computer.
            feed: takes the words for the session.
            report: gets the events, on other threads.
            after: the previous run, whose sound is recognised first.
            instead: a recogniser that is loaded if the other one cannot be, which is reported.

        Raises:
            SurtitleError: the recogniser cannot be used, or a library is missing.
        """
        folder = whisper_folder(recognizer, self._library)
        kept = found_whisper(instead, self._library) if instead else None

        def noticed(lane: str) -> Callable[[AudioNotice], None]:
            return lambda notice: report(Noticed(lane=lane, notice=notice))

        sources = {
            LANES[device.kind]: self._sources.live(device, noticed(LANES[device.kind]))
            for device in wanted
        }

        lanes = [Lane(name=lane, source=source) for lane, source in sources.items()]
        listener = Listener(
            lanes,
            feed,
            self._recognition(folder, after, kept, report),
            report,
            ListeningSettings(smaller_model=smaller_whisper(recognizer)),
        )
        return Run(listener=listener, sources=sources)

    def prepare_file(
        self,
        path: Path,
        recognizer: str,
        feed: Feed,
        report: Callable[[Heard], None],
        after: Listener | None = None,
        *,
        real_time: bool,
    ) -> Run:
        """Return a run over an audio or video file, in the lane of the others' voices.

        Args and errors as for ``prepare``, and:
            path: the file.
            real_time: read it at its own pace, not as fast as possible.
        """

        def noticed(notice: AudioNotice) -> None:
            report(Noticed(lane=THEM, notice=notice))

        folder = whisper_folder(recognizer, self._library)
        source = self._sources.file(path, noticed, real_time=real_time)
        lane = Lane(name=THEM, source=source, live=real_time)
        listener = Listener([lane], feed, self._recognition(folder, after), report)
        return Run(listener=listener, file=source)

    def _recognition(
        self,
        folder: Path,
        after: Listener | None,
        instead: Path | None = None,
        report: Callable[[Heard], None] | None = None,
    ) -> Recognition:
        """Return the models of a run, which are loaded once the previous run has ended."""
        settings = WhisperSettings(model=str(folder), device=self._device, language=self.language)

        def load() -> Whisper:
            if after is not None:
                after.join()  # words of two runs must not mix
            try:
                return self._whisper(settings)
            except ModelError as error:
                if instead is None or report is None:
                    raise
                whisper = self._whisper(replace(settings, model=str(instead)))
                report(RecognizerKept(message=error.message))
                return whisper

        return Recognition(make_model=load, make_detector=SileroDetector, n_words=self._n_words)

    def _whisper(self, settings: WhisperSettings) -> Whisper:
        """Return the recogniser, loaded if necessary; the runs call this one after the other."""
        if self._loaded is None or self._loaded[0] != settings:
            self._loaded = None  # there may not be room for both
            self._loaded = (settings, Whisper(settings))
        return self._loaded[1]
