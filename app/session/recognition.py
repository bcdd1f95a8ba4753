"""Speech recognition for the windows: devices, recognisers, and one run of listening. No Qt.

It is imported on a thread when listening first starts, since its libraries are slow to import.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.config.preferences import FILE, LANES, SOURCE_LANGUAGE, THEM
from engine.audio.devices import AudioDevice
from engine.audio.file_source import FileSource
from engine.audio.live_source import LiveSource
from engine.audio.sources import AudioSources
from engine.errors import ModelError
from engine.hub.download import Fetching, HubSettings, Progress
from engine.speech.events import Heard, RecognizerKept
from engine.speech.listener import Feed, Lane, Listener, Wanted, WantedFile, make_listening, noticed
from engine.speech.recognizer import SpeechModel
from engine.speech.speech_models import (
    found_speech_model,
    load_speech_model,
    speech_model_folder,
)
from engine.speech.streaming import StreamingModel

_Loaded = tuple[Path, str, tuple[str, ...]]
"""A loaded recogniser: its folder, what is spoken, and the words it prefers."""


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
        words: names and the like that the recogniser prefers in the next runs.
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
        self.words: tuple[str, ...] = ()
        self._sources = AudioSources()
        self._n_words = Counter[str]()  # of each lane, in all runs
        self._loaded: tuple[_Loaded, SpeechModel | StreamingModel] | None = None

    def devices(self) -> tuple[AudioDevice, ...]:
        """Return the devices; raise AudioError if there are none or a library is missing."""
        return self._sources.devices()

    def has(self, recognizer: str) -> bool:
        """Return whether a recogniser is on this computer, without network access."""
        return found_speech_model(recognizer, self._library) is not None

    def fetch(
        self,
        recognizer: str,
        progress: Progress,
        cancelled: Callable[[], bool],
        *,
        again: bool = False,
    ) -> None:
        """Download a recogniser by its name, or resume its download.

        One that is here and may be damaged is fetched ``again``: its whole files stay.
        """
        wanted = Fetching(settings=self._hub, progress=progress, cancelled=cancelled)
        speech_model_folder(recognizer, self._library, wanted, again=again)

    def prepare(
        self,
        wanted: Sequence[Wanted],
        recognizer: str,
        feed: Feed,
        report: Callable[[Heard], None],
        after: Listener | None = None,
        *,
        instead: str = "",
    ) -> Run:
        """Return a run, which the caller starts; it records from then on.

        Args:
            wanted: at least one source; a file is in the lane of the others' voices, or
                in its own if it is captioned as fast as it goes.
            recognizer: name or folder of one that is on this computer.
            feed: takes the words for the session.
            report: gets the events, on other threads.
            after: the previous run, whose sound is recognised first.
            instead: a recogniser that is loaded if the other one cannot be, which is reported.
        """
        folder = speech_model_folder(recognizer, self._library)
        kept = found_speech_model(instead, self._library) if instead else None
        language, words = self.language, self.words

        def load() -> SpeechModel | StreamingModel:
            if after is not None:
                after.join()  # words of two runs must not mix
            try:
                return self._model(folder, language, words)
            except ModelError as error:
                if kept is None:
                    raise
                model = self._model(kept, language, words)
                report(RecognizerKept(message=error.message))
                return model

        lanes, sources, file = list[Lane](), dict[str, LiveSource](), None
        for one in wanted:
            if isinstance(one, WantedFile):
                lane, is_live, title = THEM if one.real_time else FILE, one.real_time, one.path.name
                tell = noticed(lane, report)
                file = self._sources.file(one.path, tell, real_time=is_live, language=language)
                lanes.append(
                    Lane(name=lane, source=file, live=is_live, whole=not is_live, title=title)
                )
            else:
                lane = LANES[one.kind]
                sources[lane] = self._sources.live(one, noticed(lane, report))
                lanes.append(Lane(name=lane, source=sources[lane]))
        listener = make_listening(
            lanes, feed, load, report, recognizer=recognizer, n_words=self._n_words
        )
        return Run(listener=listener, sources=sources, file=file)

    def _model(
        self, folder: Path, language: str, words: tuple[str, ...]
    ) -> SpeechModel | StreamingModel:
        """Return the recogniser, loaded if necessary; the runs call this one after the other."""
        wanted = (folder, language, words)
        if self._loaded is None or self._loaded[0] != wanted:
            self._loaded = None  # there may not be room for both
            model = load_speech_model(folder, self._device, language, words)
            self._loaded = (wanted, model)
        return self._loaded[1]
