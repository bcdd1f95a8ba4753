"""One device from opening to closing: its sound, resampled and with times."""

from collections.abc import Callable, Iterator

from engine.audio.chunks import AudioChunk, Samples, Tap
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.audio.resampler import Resampler
from engine.errors import TapEndedError

_DRAINED_S = 0.05
"""A read of less than this has caught up with the device."""


class DeviceStream:
    """Feed blocks of the tap; ``finish`` reads the rest.

    Attributes:
        tap: the open device; closed by ``finish``.
    """

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
        """Yield the sound that is certain after a block that has just come."""
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
