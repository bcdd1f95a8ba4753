"""Record one device after another as one stream of chunks, as the device monitor decides.

There is no thread here, and only ``step`` waits, so that a test can call it step by step.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import av
import numpy as np

from engine.audio.chunks import SILENT, AudioChunk, Samples, SoundSystem, Tap
from engine.audio.device_monitor import DeviceMonitor
from engine.audio.devices import SAMPLE_RATE_HZ, AudioDevice, AudioNotice, NoticeKind, WantedDevice
from engine.errors import AudioError, NoSoundError, TapEndedError
from engine.messages import Code

# FFmpeg's resampler, through PyAV: the training data of Whisper was resampled by it, and PyAV is
# needed for files anyway: docs/decisions/0005-audio.md has the figures.


class Resampler:
    """Resample one channel piece by piece.

    Invariant: everything ``feed`` returned, followed by ``flush``, is what resampling everything
    at once gives.
    """

    def __init__(self, rate_hz: int) -> None:
        """Prepare for sound of this rate; 16 kHz passes through unchanged."""
        self._rate_hz = rate_hz
        self._resampler = (
            None
            if rate_hz == SAMPLE_RATE_HZ
            else av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE_HZ)
        )
        self._was_fed = False

    def feed(self, block: Samples) -> Samples:
        """Return the resampled sound that is certain so far."""
        if self._resampler is None or not len(block):
            return block
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(block, np.float32)[None], format="flt", layout="mono"
        )
        frame.sample_rate = self._rate_hz
        self._was_fed = True
        return _joined(self._resampler.resample(frame))

    def flush(self) -> Samples:
        """Return the rest; nothing may be fed after it."""
        if self._resampler is None or not self._was_fed:
            return _joined([])
        return _joined(self._resampler.resample(None))


def _joined(frames: list[av.AudioFrame]) -> Samples:
    parts = [frame.to_ndarray()[0].astype(np.float32, copy=False) for frame in frames]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


# One device from opening to closing: its sound, resampled and with times.

_DRAINED_S = 0.05
"""A read of less than this has caught up with the device."""


class DeviceStream:
    """Feed blocks of the tap; ``finish`` reads the rest and closes it."""

    def __init__(self, tap: Tap, *, start_s: float, clock_s: float) -> None:
        """Start at ``start_s`` on the timeline or later; ``clock_s`` is the clock at that time."""
        self.tap = tap
        self._moved_to = tap.moved_to
        self._resampler = Resampler(tap.rate_hz)
        self._clock = SampleClock(SAMPLE_RATE_HZ, start_s=start_s, clock_s=clock_s)

    @property
    def n_dropped(self) -> int:
        """The number of 16 kHz samples that should have come and did not."""
        discarded_s = self.tap.n_dropped / self.tap.rate_hz
        return round((discarded_s + self._clock.lost_s) * SAMPLE_RATE_HZ)

    def take_move(self) -> int | None:
        """Return the number of the device the recording was moved to since the last call."""
        moved_to = self.tap.moved_to
        if moved_to == self._moved_to:
            return None
        self._moved_to = moved_to
        return moved_to

    def feed(self, block: Samples, now_s: float) -> Iterator[AudioChunk]:
        yield from self._timed(self._resampler.feed(block), now_s)

    def finish(self, clock: Callable[[], float]) -> Iterator[AudioChunk]:
        """Yield the rest of the recording, and close the device; ``clock`` returns the time."""
        try:
            n_read = self.tap.rate_hz
            while n_read > _DRAINED_S * self.tap.rate_hz:
                block = self.tap.read(_DRAINED_S)
                n_read = len(block)
                yield from self.feed(block, clock())
        except TapEndedError:
            pass  # and all of its sound was read before
        self.tap.close()
        yield from self._timed(self._resampler.flush(), clock())

    def _timed(self, samples: Samples, now_s: float) -> Iterator[AudioChunk]:
        if len(samples):
            start_s = self._clock.feed(len(samples), now_s)
            yield AudioChunk(samples=samples, start_s=start_s, heard_at_s=now_s)


WINDOW_S = 2.0
"""No thread is delayed for this long without catching up in between."""

LEAST_LOSS_S = 0.2
"""A smaller lateness is attributed to a changed buffer in the system."""


class SampleClock:
    """Compute the times of one recording, and how many samples were lost without a report.

    Drivers and sound servers drop samples silently. When fewer samples came than time has passed,
    and that stays so, the difference was lost. A delayed thread is late as well, but catches up
    with the next samples; so the lateness that counts is the smallest within a window. A device's
    clock is never exact: slow growth is its drift.

    Invariant: between losses, times are contiguous: a block starts where the last one ended.

    Attributes:
        lost_s: seconds of sound that should have come and did not.
    """

    def __init__(self, rate_hz: int, *, start_s: float, clock_s: float) -> None:
        """Start at ``start_s`` on the timeline or later; ``clock_s`` is the clock at that time."""
        self._rate_hz = rate_hz
        self._start_s = start_s
        self._zero_s = clock_s - start_s  # the clock at 0 on the timeline
        self._end_s: float | None = None  # on the timeline, of the samples so far
        self._usual_s = 0.0  # lateness when nothing is lost
        self._least_s = float("inf")  # of this window
        self._window_end_s = 0.0
        self.lost_s = 0.0

    def feed(self, n_samples: int, now_s: float) -> float:
        """Return the time of the first of ``n_samples`` (at least 1) that have just come."""
        heard_s = now_s - self._zero_s
        length_s = n_samples / self._rate_hz
        if self._end_s is None:
            self._end_s = max(heard_s - length_s, self._start_s)
            self._window_end_s = heard_s + WINDOW_S
            self._usual_s = heard_s - (self._end_s + length_s)
        start_s = self._end_s
        self._end_s += length_s
        self._least_s = min(self._least_s, heard_s - self._end_s)
        if heard_s >= self._window_end_s:
            self._close_window(heard_s)
        return start_s

    def _close_window(self, heard_s: float) -> None:
        rise_s = self._least_s - self._usual_s
        if rise_s >= LEAST_LOSS_S and self._end_s is not None:
            self.lost_s += rise_s
            self._end_s += rise_s
        else:
            self._usual_s = self._least_s
        self._least_s = float("inf")
        self._window_end_s = heard_s + WINDOW_S


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
            report: called with notices during ``step``.
            clocks: None for the computer's own.
            wait: sleeps, in seconds, while there is no device to wait for.
            patience_s: after so long without any answer of the system, ``step`` raises its last
                error;
                None: it waits without end, as it does for one that has answered before.
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
        """Yield the new sound, waiting up to ``STEP_S``; open and close devices as decided."""
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
