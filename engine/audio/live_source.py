"""Record a microphone, or the sound that the computer plays, on a thread of its own."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from engine.audio.chunks import AudioChunk, Samples, SoundSystem
from engine.audio.devices import (
    FLOOR_DB,
    SAMPLE_RATE_HZ,
    AudioNotice,
    Level,
    NoticeKind,
    WantedDevice,
)
from engine.audio.recorder import Recorder
from engine.errors import NoSoundError
from engine.messages import Code, Message

_log = logging.getLogger(__name__)

CAPACITY_S = 600.0
"""Sound kept for a slow reader (38 MB); once it is full, new sound is dropped and reported."""

HANDOVER_S = 3.0
"""How long a source records beside the one that takes its place and has no sound yet."""

_LEVEL_HOLDS_S = 0.5  # a device that delivers nothing for longer counts as silent


def measure_level(samples: Samples) -> Level:
    """Measure a piece of sound; an empty one is silent."""
    if not len(samples):
        return Level(rms_db=FLOOR_DB, peak_db=FLOOR_DB)
    exact = samples.astype(np.float64)  # squares of quiet samples would vanish in float32
    return Level(
        rms_db=_decibels(float(np.sqrt(np.mean(exact * exact)))),
        peak_db=_decibels(float(np.max(np.abs(exact)))),
    )


_SILENT = measure_level(np.zeros(0, np.float32))


class LiveSource:
    """Record until ``stop``, across unplugged devices and restarted sound servers.

    Notices are reported on the recording thread.
    """

    def __init__(
        self,
        system: SoundSystem,
        wanted: WantedDevice,
        report: Callable[[AudioNotice], None],
        *,
        capacity_s: float = CAPACITY_S,
        patience_s: float | None = None,
    ) -> None:
        """Prepare to record; this source owns ``system``. ``patience_s`` is that of a recorder."""
        self._system = system
        self._wanted = wanted
        self._report = report
        self._patience_s = patience_s
        self._capacity = round(capacity_s * SAMPLE_RATE_HZ)
        self._waiting: deque[AudioChunk] = deque()
        self._n_waiting = 0  # samples
        self._n_overflown = 0
        self._overflows = False
        self._recorder: Recorder | None = None
        self._before: LiveSource | None = None  # it records until sound comes from this one
        self._alone_since_s = 0.0
        self._level, self._level_at_s = _SILENT, 0.0
        self._changed = threading.Condition()  # guards all of the above but the first five
        self._stopping = threading.Event()
        self._over = False
        self._thread = threading.Thread(target=self._run, name="surtitle-audio", daemon=True)

    def follow(self, before: "LiveSource") -> None:
        """Take the place of a source, before ``start``: it is stopped once this one has sound.

        It is also stopped with this one, and after ``HANDOVER_S``. While both record, its sound is
        taken.
        """
        if not before._stopping.is_set():
            self._before = before

    def start(self) -> None:
        self._thread.start()

    def read(self, timeout_s: float) -> AudioChunk | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._over, timeout_s)
            if not self._waiting:
                return None
            chunk = self._waiting.popleft()
            self._n_waiting -= len(chunk.samples)
            return chunk

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._end_before()
        with self._changed:
            self._over = True
            self._changed.notify_all()

    @property
    def ended(self) -> bool:
        with self._changed:
            return self._over and not self._waiting

    @property
    def n_dropped(self) -> int:
        """The number of 16 kHz samples lost while recording, or because the reader was too slow."""
        recorder = self._recorder
        return self._n_overflown + (recorder.n_dropped if recorder else 0)

    @property
    def level(self) -> Level:
        is_fresh = time.monotonic() - self._level_at_s < _LEVEL_HOLDS_S
        return self._level if is_fresh else _SILENT

    @property
    def sounding(self) -> str | None:
        """The name of the device that sound came from last; None before any."""
        recorder = self._recorder
        return recorder.sounding if recorder else None

    def _run(self) -> None:
        try:
            self._record()
        except NoSoundError as error:
            self._fail(error.message)
        except Exception as error:  # noqa: BLE001  the top of the thread: any failure is reported
            _log.exception("the recording stopped")
            self._fail(Code.RECORDING_STOPPED(reason=str(error)))
        finally:
            self._end_before()
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def _fail(self, message: Message) -> None:
        self._report(AudioNotice(kind=NoticeKind.FAILED, device="", message=message))

    def _record(self) -> None:
        recorder = Recorder(
            self._system,
            self._wanted,
            self._report,
            wait=self._stopping.wait,
            patience_s=self._patience_s,
        )
        self._recorder = recorder
        patience_ends_s = time.monotonic() + HANDOVER_S
        while not self._stopping.is_set():
            self._keep(self._taken_over(recorder.step()))
            if time.monotonic() > patience_ends_s:
                self._end_before()
        self._keep(self._taken_over(recorder.finish()))

    def _taken_over(self, chunks: Iterator[AudioChunk]) -> Iterator[AudioChunk]:
        """Stop the source before at the first chunk; yield those that it has not recorded."""
        for chunk in chunks:
            self._end_before()
            if chunk.heard_at_s >= self._alone_since_s:
                yield chunk

    def _end_before(self) -> None:
        with self._changed:
            before, self._before = self._before, None
        if before is not None:
            before.stop()
            self._alone_since_s = time.monotonic()

    def _keep(self, chunks: Iterator[AudioChunk]) -> None:
        for chunk in chunks:
            self._level, self._level_at_s = measure_level(chunk.samples), chunk.heard_at_s
            with self._changed:
                has_room = self._n_waiting + len(chunk.samples) <= self._capacity
                if has_room:
                    self._waiting.append(chunk)
                    self._n_waiting += len(chunk.samples)
                    self._changed.notify_all()
                else:
                    self._n_overflown += len(chunk.samples)
            if not has_room and not self._overflows:
                self._overflows = True
                message = Code.SOUND_OVERFLOWS(seconds=self._capacity // SAMPLE_RATE_HZ)
                self._report(AudioNotice(kind=NoticeKind.DROPPED, device="", message=message))
            elif has_room and self._n_waiting <= self._capacity // 2:
                self._overflows = False


def _decibels(amplitude: float) -> float:
    if amplitude <= 0:
        return FLOOR_DB
    return min(max(20 * float(np.log10(amplitude)), FLOOR_DB), 0.0)
