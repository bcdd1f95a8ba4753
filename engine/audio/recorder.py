"""Record one device after another as one stream of chunks, as the device monitor decides.

There is no thread here, and only ``step`` waits, so that a test can call it step by step.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from engine.audio.chunks import SILENT, AudioChunk, SoundSystem
from engine.audio.device_monitor import DeviceMonitor
from engine.audio.device_stream import DeviceStream
from engine.audio.devices import SAMPLE_RATE_HZ, AudioDevice, AudioNotice, NoticeKind, WantedDevice
from engine.errors import AudioError, NoSoundError, TapEndedError
from engine.messages import Code

STEP_S = 0.05
"""The longest time that a step waits for sound."""

_LIST_S = 0.25  # a dragged volume control sends hundreds of changes a second
_LIST_ANYWAY_S = 10.0  # a server that hangs sends no changes
_LIST_WAITING_S = 1.0  # while there is nothing to record; PortAudio never sends changes
_ASLEEP_S = 1.0
_REPORT_LOSS_S = 1.0
_NOTICED_S = 5.0  # a loss is known at the latest so long after its end


def asleep_s() -> float:
    """Return the seconds this computer has slept since an arbitrary start.

    Only Linux reports this. Elsewhere a jump of the wall clock counts as sleep, so setting the time
    reopens the device needlessly.
    """
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.time() - time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """The time, and how much of it the computer slept; in seconds, from an arbitrary start."""

    now_s: Callable[[], float] = time.monotonic
    asleep_s: Callable[[], float] = asleep_s


class Recorder:
    """Call ``step`` repeatedly, then ``finish``.

    Invariant: chunks never overlap, and hold all the sound of devices while they were open.
    """

    def __init__(
        self,
        system: SoundSystem,
        wanted: WantedDevice,
        report: Callable[[AudioNotice], None],
        *,
        clocks: Clocks | None = None,
        wait: Callable[[float], object] = time.sleep,
        patience_s: float | None = None,
    ) -> None:
        """Start the timeline.

        Args:
            system: lists and opens devices; closed by ``finish``.
            wanted: the device that the user chose.
            report: called with notices during ``step``.
            clocks: the time; None for the computer's own.
            wait: sleeps, in seconds, while there is no device to wait for.
            patience_s: after so long without any answer of the system, ``step`` raises what it said
                last; None: it waits without an end, as it does for one that has answered before.
        """
        self._system = system
        self._monitor = DeviceMonitor(wanted)
        self._report = report
        self._clocks = clocks or Clocks()
        self._wait = wait
        self._patience_s = patience_s  # None once the system has answered
        self._begun_s = self._clocks.now_s()
        self._asleep_s = self._clocks.asleep_s()
        self._stream: DeviceStream | None = None
        self._opening = 0
        self._hears = False  # sound came in this step
        self._unanswered = False  # the last listing failed
        self._end_s = 0.0  # of the newest chunk
        self._must_list = True
        self._listed_s: float | None = None
        self._sounded_s = self._begun_s  # when sound was last heard that was not silent
        self._n_dropped_before = 0  # by devices that are closed
        self._n_reported = 0
        self._reported_s = self._begun_s

    @property
    def n_dropped(self) -> int:
        """The number of 16 kHz samples that devices should have delivered and did not."""
        return self._n_dropped_before + (self._stream.n_dropped if self._stream else 0)

    @property
    def sounding(self) -> str | None:
        """The name of the device that sound came from last; None before any."""
        return self._monitor.sounding

    def step(self) -> Iterator[AudioChunk]:
        """Yield the new sound, waiting up to ``STEP_S``; open and close devices as decided.

        Raises:
            NoSoundError: the system never answered, and the patience is over.
        """
        self._list()
        yield from self._read()  # after listing, which may have delayed reading
        self._check_sleep()
        self._check_move()
        if self._unanswered and not self._hears:  # a server that delivers sound is only busy
            self._monitor.see_devices(None)
        decision = self._monitor.decide(self._clocks.now_s())
        for notice in decision.notices:
            self._report(notice)
        if decision.device is None or decision.opening != self._opening:
            yield from self._close()
        if decision.device is not None and decision.opening != self._opening:
            self._open(decision.device)
        self._opening = decision.opening
        self._report_loss(decision.device)

    def finish(self) -> Iterator[AudioChunk]:
        """Yield the rest of the recording, and close everything."""
        yield from self._close()
        self._system.close()

    def _read(self) -> Iterator[AudioChunk]:
        self._hears = False
        if self._stream is None:
            self._wait(STEP_S)
            return
        try:
            block = self._stream.tap.read(STEP_S)
        except TapEndedError:
            yield from self._close()
            self._list(at_once=True)
            self._monitor.see_end(self._clocks.now_s())
            return
        if len(block):
            self._hears = True
            now_s = self._clocks.now_s()
            if float(np.abs(block).max()) > SILENT:
                self._sounded_s = now_s
            self._monitor.see_sound(now_s, is_zero=not block.any())
            yield from self._follow(self._stream.feed(block, now_s))

    def _follow(self, chunks: Iterator[AudioChunk]) -> Iterator[AudioChunk]:
        for chunk in chunks:
            self._end_s = chunk.end_s
            yield chunk

    def _check_sleep(self) -> None:
        now_asleep_s = self._clocks.asleep_s()
        if now_asleep_s - self._asleep_s >= _ASLEEP_S:
            self._list(at_once=True)
            self._monitor.see_sleep(now_asleep_s - self._asleep_s)
        self._asleep_s = now_asleep_s

    def _check_move(self) -> None:
        moved_to = self._stream.take_move() if self._stream else None
        if moved_to is not None:
            self._list(at_once=True)
            self._monitor.see_move(moved_to, self._clocks.now_s())

    def _list(self, *, at_once: bool = False) -> None:
        if self._system.changed():
            self._must_list = True
        now_s = self._clocks.now_s()
        due_s = _LIST_ANYWAY_S if self._stream else _LIST_WAITING_S
        if self._must_list:
            due_s = _LIST_S
        if not at_once and self._listed_s is not None and now_s - self._listed_s < due_s:
            return
        try:
            self._monitor.see_devices(self._system.devices())
            self._must_list = self._unanswered = False
            self._patience_s = None
        except NoSoundError:
            self._must_list = self._unanswered = True
            waited_s = self._clocks.now_s() - self._begun_s
            if self._patience_s is not None and waited_s >= self._patience_s:
                raise
        self._listed_s = self._clocks.now_s()

    def _close(self) -> Iterator[AudioChunk]:
        stream = self._stream
        if stream is not None:
            yield from self._follow(stream.finish(self._clocks.now_s))
            self._n_dropped_before += stream.n_dropped
            self._stream = None

    def _open(self, device: AudioDevice) -> None:
        try:
            tap = self._system.open(device)
        except AudioError:
            self._monitor.see_end(self._clocks.now_s())
            return
        self._stream = DeviceStream(tap, start_s=self._end_s, clock_s=self._begun_s + self._end_s)
        self._must_list = True  # a failure of the device may have been the server's

    def _report_loss(self, device: AudioDevice | None) -> None:
        now_s, n_lost = self._clocks.now_s(), self.n_dropped - self._n_reported
        if n_lost > 0 and now_s - self._reported_s >= _REPORT_LOSS_S:
            self._n_reported, self._reported_s = self._n_reported + n_lost, now_s
            if now_s - self._sounded_s > n_lost / SAMPLE_RATE_HZ + _NOTICED_S:
                return  # there was silence before it and after it: nothing that anybody misses
            name = device.description if device else ""
            code = Code.SOUND_LOST_FROM if name else Code.SOUND_LOST
            message = code(seconds=n_lost / SAMPLE_RATE_HZ, device=name)
            self._report(AudioNotice(kind=NoticeKind.DROPPED, device=name, message=message))
