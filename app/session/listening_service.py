"""Listens for the windows: slow work runs on other threads and reports by signals."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.config.background import BackgroundQueue
from app.config.preferences import FILE, SOURCE_LANGUAGE
from app.config.translations import error_text, worded
from engine.audio.devices import Level, WantedDevice
from engine.errors import FetchCancelledError, ModelError, SurtitleError, message_of
from engine.events import Event, Flushed
from engine.speech.events import (
    Heard,
    ListeningEnded,
    ListeningFailed,
    Noticed,
    RecognizerReady,
    TailChanged,
)
from engine.speech.speed import SpeechPace

if TYPE_CHECKING:  # most of it stands on numpy, which the window does without
    from app.session.recognition import Run, SpeechEngine
    from engine.audio.live_source import LiveSource
    from engine.messages import Message
    from engine.speech.listener import Feed, Wanted


_MEASURES, _MEASURE_AGAIN_MS = 2, 500  # of the computer's speed, in five seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """The language that is spoken, and names and the like that are to be expected."""

    language: str = SOURCE_LANGUAGE
    words: tuple[str, ...] = ()


MakeSpeechEngine = Callable[[Path, str], "SpeechEngine"]
"""Makes the recognition; gets the folder of recognisers and where to compute. Runs on a thread."""


def make_speech_engine(library: Path, device: str) -> "SpeechEngine":
    from app.session.recognition import SpeechEngine  # noqa: PLC0415  numpy and the hub are slow to import

    return SpeechEngine(library, device)


class ListeningService(QObject):
    """List devices, download recognisers, listen. Only ``close`` blocks.

    Other sources start another run: it records at once, and recognises after the previous run has
    finished: ``take`` tells it that all its words are translated.

    Attributes:
        pace: how fast the models of speech are on this computer.
        spoken: code of what is spoken, and names and the like that the speech model prefers, for
            the runs from now on.

    Signals, emitted on threads, so connect them to methods of QObjects only:
        devices_listed(list of AudioDevice): the current devices.
        recognizer_missing(str): this recogniser is not downloaded; nothing else has changed.
        recognizer_looked_for(str, object): None if this recogniser is here, an empty text if it can
            be downloaded, else why it cannot be used.
        progressed(str, int, int): name, downloaded bytes, total bytes.
        looked_up(dict of str to str or None): for each speech model None if it is here, an empty
            text if it can be downloaded, else why it cannot be used.
        speed_measured(float, bool): the most billions of operations a second that were measured,
            see ``engine.speech.speed``; whether it is measured again.
        fetched(str): this recogniser is downloaded.
        fetch_failed(str): one sentence; empty if it was cancelled.
        begins(): recording is about to start; comes before whatever is reported of it.
        began(): recording has started; the recogniser may still be loading.
        reported(event): one of ``engine.speech.events``, of any run.
        ended(): recording has stopped and all words are translated.
        failed(str): listening failed; one sentence.
        file_lacks_model(): the speech model for the file is not downloaded.
        file_began(): the file is recognised from now on.
        file_noticed(str): a sentence about the file, while it is read.
        file_ended(Message or None): all words of the file are translated; why, if it failed.
    """

    devices_listed = Signal(list)
    recognizer_missing = Signal(str)
    recognizer_looked_for = Signal(str, object)
    progressed = Signal(str, object, object)  # bytes do not fit into Qt's int
    looked_up = Signal(dict)
    speed_measured = Signal(float, bool)
    fetched = Signal(str)
    fetch_failed = Signal(str)
    begins = Signal()
    began = Signal()
    reported = Signal(object)
    ended = Signal()
    failed = Signal(str)
    file_lacks_model = Signal()
    file_began = Signal()
    file_noticed = Signal(str)
    file_ended = Signal(object)

    def __init__(
        self,
        make: MakeSpeechEngine,
        library: Path,
        device: str,
        feed: "Feed",
        parent: QObject | None = None,
    ) -> None:
        """Keep the settings.

        Args:
            library: folder of downloaded recognisers.
            feed: takes the words for the session.
        """
        super().__init__(parent)
        self._feed = feed
        self._library = library
        self.spoken = Spoken()
        self._make: Callable[[], SpeechEngine] = partial(make, library, device)
        self._speech: SpeechEngine | None = None
        self._making = threading.Lock()
        self._runs: list[Run] = []  # the oldest first; threads append, and delete what ended
        self._guard = threading.Lock()  # of the runs
        self._cancelled = threading.Event()
        self._holds_files = False
        self._background = BackgroundQueue(self.failed.emit)
        self._file_failure: Message | None = None
        self._fetcher = BackgroundQueue(self.fetch_failed.emit)
        self._lister = BackgroundQueue(lambda _message: self.devices_listed.emit([]))
        self._examiner = BackgroundQueue(lambda _message: None)
        self._closing = threading.Event()
        self.pace = SpeechPace()
        self._gflops = 0.0  # the most that was measured
        self._n_measures = 0  # that are still to come
        self._measuring = QTimer(self, singleShot=True, interval=_MEASURE_AGAIN_MS)
        self._measuring.timeout.connect(self._measure_once)
        self.speed_measured.connect(self._take_speed)

    @property
    def is_listening(self) -> bool:
        """Whether sound is being recorded, or recorded sound is not fully translated."""
        return bool(self._living())

    @Slot()
    def list_devices(self) -> None:
        """List the devices; ``devices_listed`` is emitted."""
        self._lister.run(lambda: self.devices_listed.emit(list(self._made().devices())))

    def look_for(self, recognizer: str) -> None:
        """Look whether a recogniser is downloaded; nothing else is loaded for that."""
        self._lister.run(partial(self._look_for, recognizer))

    def look_up(self, recognizers: Sequence[str]) -> None:
        """Find which speech models are on this computer; ``looked_up`` is emitted."""
        self._examiner.run(partial(self._look_up, tuple(recognizers)))

    def measure_speed(self) -> None:
        """Measure how fast this computer is, some times, since it may be busy at first.

        ``speed_measured`` is emitted after each.
        """
        self._n_measures = _MEASURES
        self._measuring.stop()
        self._measure_once()

    @Slot()
    def _measure_once(self) -> None:
        self._n_measures -= 1
        self._examiner.run(partial(self._measure_speed, again=self._n_measures > 0))

    @Slot(float, bool)
    def _take_speed(self, gflops: float, again: bool) -> None:  # noqa: FBT001  what the signal carries
        self.pace.take_speed(gflops, again=again)
        if again and not self._closing.is_set():
            self._measuring.start()

    def fetch(self, recognizer: str, *, again: bool = False) -> None:
        """Download a recogniser, or ``again`` what is damaged of it; resume a broken download."""
        self._cancelled.clear()
        self._fetcher.run(partial(self._fetch, recognizer, again=again))

    @Slot()
    def cancel_fetch(self) -> None:
        """Stop the download; it resumes next time."""
        self._cancelled.set()

    def listen(self, wanted: Sequence[WantedDevice], recognizer: str, instead: str = "") -> None:
        """Listen to these sources, or to none; recorded sound is still translated.

        Args:
            instead: the one that goes on if that cannot be loaded; empty for none.
        """
        job = partial(self._listen, tuple(wanted), recognizer, self.spoken, instead)
        self._background.run(job)

    def caption_file(self, path: Path, recognizer: str, *, real_time: bool) -> None:
        """Recognise an audio or video file; recording stops. ``file_ended`` is emitted."""
        job = partial(self._caption_file, path, recognizer, self.spoken, real_time=real_time)
        self._background.run(job)

    @Slot()
    def stop_file(self) -> None:
        """Stop reading the file; what was read is still translated."""
        for run in self._living():
            if run.file is not None:
                run.listener.stop()

    def pause_file(self, *, paused: bool) -> None:
        """Hold reading this file and those to come, or go on."""
        with self._guard:
            self._holds_files = paused
            files = [run.file for run in self._runs if run.file is not None]
        for file in files:
            file.pause(paused=paused)

    @property
    def file_position_s(self) -> tuple[float, float]:
        """Seconds of the file that were read, and its length; zeros without a file."""
        files = [run.file for run in self._living() if run.file is not None]
        return (files[-1].position_s, files[-1].duration_s) if files else (0.0, 0.0)

    @Slot(object)
    def take(self, event: Event) -> None:
        """Receive an event of the session; another one goes on where a session fails."""
        if isinstance(event, Flushed):
            for run in self._living():
                run.listener.take(event)

    def levels(self) -> dict[str, Level]:
        return {
            lane: source.level
            for run in self._living()[-1:]
            for lane, source in run.sources.items()
        }

    def sounding(self) -> dict[str, str]:
        """Return the device that sound came from last, of each lane from which any came."""
        names = {
            lane: source.sounding
            for run in self._living()[-1:]
            for lane, source in run.sources.items()
        }
        return {lane: name for lane, name in names.items() if name}

    def waiting_since_s(self) -> float | None:
        """Return when the oldest live sound began that is not recognised; None if none waits."""
        waiting = (run.listener.waiting_since_s for run in self._living())
        return min((one for one in waiting if one is not None), default=None)

    @property
    def n_dropped(self) -> int:
        """Return the number of lost 16 kHz samples."""
        return sum(run.listener.n_dropped for run in self._living())

    def close(self) -> None:
        """End all threads and wait for them."""
        self._closing.set()
        self._measuring.stop()
        self.cancel_fetch()
        for background in (self._background, self._fetcher, self._lister, self._examiner):
            background.close()
        for run in self._living():
            run.listener.close()

    # Below here what is no slot runs on threads, and speaks by signals alone.

    def _made(self) -> "SpeechEngine":
        with self._making:
            self._speech = self._speech or self._make()
            return self._speech

    def _look_for(self, recognizer: str) -> None:
        from engine.speech.speech_models import found_speech_model  # noqa: PLC0415  the hub is slow to import

        try:
            obstacle = "" if found_speech_model(recognizer, self._library) is None else None
        except ModelError as error:
            obstacle = error_text(error)
        except OSError as error:
            obstacle = str(error)
        self.recognizer_looked_for.emit(recognizer, obstacle)

    def _living(self) -> "list[Run]":
        with self._guard:
            return list(self._runs)

    def _listen(
        self, wanted: tuple[WantedDevice, ...], recognizer: str, spoken: Spoken, instead: str
    ) -> None:
        if self._record(wanted, recognizer, spoken, self._report, instead=instead):
            self.began.emit()
        elif wanted and not self._made().has(recognizer):
            self.recognizer_missing.emit(recognizer)

    def _caption_file(
        self, path: Path, recognizer: str, spoken: Spoken, *, real_time: bool
    ) -> None:
        from engine.speech.listener import WantedFile  # noqa: PLC0415  as above

        self._file_failure = None
        wanted = (WantedFile(path=path, real_time=real_time),)
        try:
            if not self._record(wanted, recognizer, spoken, self._report_file):
                self.file_lacks_model.emit()
        except (SurtitleError, ImportError) as error:
            self.file_ended.emit(message_of(error))

    def _record(
        self,
        wanted: "Sequence[Wanted]",
        recognizer: str,
        spoken: Spoken,
        report: Callable[[Heard], None],
        *,
        instead: str = "",
    ) -> bool:
        """Record from these sources in place of those before; return whether it has begun.

        Without the speech model nothing changes.
        """
        speech = self._made()
        if wanted and not speech.has(recognizer):
            return False
        newest = next(reversed(self._living()), None)
        with contextlib.ExitStack() as unless_followed:
            if newest is not None:
                unless_followed.callback(newest.listener.stop)
            if not wanted:
                return False
            speech.language, speech.words = spoken.language, spoken.words
            after = None if newest is None else newest.listener
            run = speech.prepare(wanted, recognizer, self._feed, report, after, instead=instead)
            ending = None if newest is None else _handed_over(newest, run)
            with self._guard:
                self._runs.append(run)
                if run.file is not None:
                    run.file.pause(paused=self._holds_files)
            self.begins.emit()
            try:
                run.listener.start()  # now that it is among those that events go to
            except SurtitleError:
                with self._guard:
                    self._runs.remove(run)
                raise
            if ending is not None:
                unless_followed.pop_all()
                for source in ending:
                    source.stop()
        return True

    def _report_file(self, event: Heard) -> None:
        match event:
            case RecognizerReady():
                self.file_began.emit()
            case TailChanged(lane=lane) if lane != FILE:
                self.reported.emit(event)
            case Noticed(notice=notice):
                self.file_noticed.emit(worded(notice.message))
            case ListeningFailed(message=message):
                self._file_failure = message
            case ListeningEnded():
                self._report(event)
                self.file_ended.emit(self._file_failure)

    def _report(self, event: Heard) -> None:
        if isinstance(event, ListeningEnded):
            with self._guard:
                del self._runs[:1]
                is_last = not self._runs
            if is_last:
                self.ended.emit()
        else:
            self.reported.emit(event)

    def _look_up(self, recognizers: tuple[str, ...]) -> None:
        found = dict[str, str | None]()
        for name in recognizers:
            try:
                found[name] = None if self._made().has(name) else ""
            except (SurtitleError, ImportError) as error:
                found[name] = error_text(error)
        self.looked_up.emit(found)

    def _measure_speed(self, *, again: bool) -> None:
        from engine.speech.speed import computer_gflops  # noqa: PLC0415  numpy is slow to import

        try:  # Other programs make a measure lower and never higher, so the highest one counts.
            self._gflops = max(self._gflops, computer_gflops(self._closing.wait))
        finally:
            self.speed_measured.emit(self._gflops, again)

    def _fetch(self, recognizer: str, *, again: bool) -> None:
        tell = partial(self.progressed.emit, recognizer)
        try:
            self._made().fetch(recognizer, tell, self._cancelled.is_set, again=again)
        except FetchCancelledError:
            self.fetch_failed.emit("")
        else:
            self.fetched.emit(recognizer)


def _handed_over(before: "Run", after: "Run") -> "list[LiveSource] | None":
    """Let sources record until those that take their place have sound; return the others.

    None if nothing takes a place: then the whole run is stopped.
    """
    for lane, source in after.sources.items():
        if lane in before.sources:
            source.follow(before.sources[lane])
    left = [source for lane, source in before.sources.items() if lane not in after.sources]
    return left if len(left) < len(before.sources) else None
