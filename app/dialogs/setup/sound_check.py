"""Measures the level of a microphone and of the computer's own sound; records nothing."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.system.translations import error_text, worded
from engine.audio.devices import AudioNotice, DeviceKind, WantedDevice
from engine.errors import SurtitleError

if TYPE_CHECKING:
    from engine.audio.sources import AudioSources

_READ_S = 0.1

MakeSources = Callable[[], "AudioSources"]
"""Returns the sources of this computer; called on a thread."""


def make_sources() -> "AudioSources":
    """Return the sources of this computer."""
    from engine.audio.sources import AudioSources  # noqa: PLC0415  numpy is slow to import

    return AudioSources()


class SoundCheck(QObject):
    """Measure both kinds of device, each on a thread, between ``start`` and ``stop``.

    Signals:
        level_came(DeviceKind, Level): current level of a kind of device.
        reported(DeviceKind, str): state of a kind of device, one sentence.
    """

    level_came = Signal(object, object)
    reported = Signal(object, str)

    def __init__(self, make: MakeSources = make_sources, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._stopping: threading.Event | None = None
        self._threads = list[threading.Thread]()

    def start(self) -> None:
        """Start listening unless it is already running."""
        if self._stopping is not None:
            return
        stopping = self._stopping = threading.Event()
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        for kind in DeviceKind:
            name = f"surtitle-check-{kind}"
            thread = threading.Thread(target=self._listen, args=(kind, stopping), name=name)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Stop listening; the devices are released soon after."""
        if self._stopping is not None:
            self._stopping.set()
            self._stopping = None

    def close(self) -> None:
        """Stop listening and wait until the devices are released."""
        self.stop()
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    # The methods below run on the threads and only emit signals.

    def _listen(self, kind: DeviceKind, stopping: threading.Event) -> None:
        def report(notice: AudioNotice) -> None:
            if not stopping.is_set():
                self.reported.emit(kind, worded(notice.message))

        try:
            self._hear(kind, stopping, report)
        except (SurtitleError, ImportError) as error:
            if not stopping.is_set():
                self.reported.emit(kind, error_text(error))

    def _hear(
        self, kind: DeviceKind, stopping: threading.Event, report: Callable[[AudioNotice], None]
    ) -> None:
        sources = self._make()
        from engine.audio.level import measure_level  # noqa: PLC0415  as above

        source = sources.live(WantedDevice(kind=kind), report)
        source.start()
        try:
            while not (stopping.is_set() or source.ended):
                chunk = source.read(_READ_S)
                if chunk is not None and not stopping.is_set():
                    self.level_came.emit(kind, measure_level(chunk.samples))
        finally:
            source.stop()
