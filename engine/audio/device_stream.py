"""A device from opening to closing: what it gives, resampled and placed in time."""

from collections.abc import Callable, Iterator

from engine.audio.chunks import AudioChunk, Samples, Tap
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.audio.resampler import Resampler
from engine.audio.sample_clock import SampleClock
from engine.errors import TapEndedError

_DRAINED_S = 0.05
"""Who gets less than this at once has caught up with the device."""


class DeviceStream:
    """Feed blocks of the tap, or have them read by ``finish``.

    Attributes:
        tap: the open device; closed by ``finish``.
    """

    def __init__(self, tap: Tap, *, start_s: float, clock_s: float) -> None:
        """Begin.

        Args:
            tap: the open device.
            start_s: the earliest time its sound may have on the timeline.
            clock_s: what the clock says at that time.
        """
        self.tap = tap
        self._moved_to = tap.moved_to
        self._resampler = Resampler(tap.rate_hz)
        self._clock = SampleClock(SAMPLE_RATE_HZ, start_s=start_s, clock_s=clock_s)

    @property
    def n_dropped(self) -> int:
        """Count the 16 kHz samples that should have come and did not."""
        thrown_away_s = self.tap.n_dropped / self.tap.rate_hz
        return round((thrown_away_s + self._clock.lost_s) * SAMPLE_RATE_HZ)

    def take_move(self) -> int | None:
        """Return the number of the device the recording was moved to since the last call."""
        moved_to = self.tap.moved_to
        if moved_to == self._moved_to:
            return None
        self._moved_to = moved_to
        return moved_to

    def feed(self, block: Samples, now_s: float) -> Iterator[AudioChunk]:
        """Yield what can be said of a block that has just come."""
        yield from self._placed(self._resampler.feed(block), now_s)

    def finish(self, clock: Callable[[], float]) -> Iterator[AudioChunk]:
        """Yield what the device gave until now, and close it; ``clock`` tells the time."""
        try:
            n_read = self.tap.rate_hz
            while n_read > _DRAINED_S * self.tap.rate_hz:
                block = self.tap.read(_DRAINED_S)
                n_read = len(block)
                yield from self.feed(block, clock())
        except TapEndedError:
            pass  # and all it gave was read before
        self.tap.close()
        yield from self._placed(self._resampler.flush(), clock())

    def _placed(self, samples: Samples, now_s: float) -> Iterator[AudioChunk]:
        if len(samples):
            start_s = self._clock.feed(len(samples), now_s)
            yield AudioChunk(samples=samples, start_s=start_s, heard_at_s=now_s)
