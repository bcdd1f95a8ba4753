"""One device from opening to closing: its sound, resampled and with times."""

from collections.abc import Callable, Iterator

from engine.audio.chunks import AudioChunk, Samples, Tap
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.audio.resampler import Resampler
from engine.audio.sample_clock import SampleClock
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
