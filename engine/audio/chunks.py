"""Chunks of sound, and the protocols of the sources, taps and sound systems that supply them.

Each source has its own timeline: seconds since its start, or since the beginning of a file. Where
sound is missing (a device was unplugged), the next chunk starts later than the previous one ended.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.audio.devices import SAMPLE_RATE_HZ, AudioDevice

Samples = NDArray[np.float32]
"""Sound of one channel, shape (n_samples,), float32 from -1 to 1."""


SILENT = 0.003
"""The loudest sample of sound whose loss nobody needs to be told."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AudioChunk:
    """A piece of sound; its receiver owns the samples.

    Attributes:
        samples: shape (n_samples,), 16 kHz mono, at least one.
        start_s: time of the first sample on the source's timeline.
        heard_at_s: ``time.monotonic()`` when the last sample was recorded.
    """

    samples: Samples
    start_s: float
    heard_at_s: float = 0.0

    @property
    def end_s(self) -> float:
        return self.start_s + len(self.samples) / SAMPLE_RATE_HZ


class AudioSource(Protocol):
    """A supply of chunks. One thread reads; any thread may stop it."""

    def start(self) -> None:
        """Start recording and the timeline; a missing device is reported, then waited for.

        Raises:
            AudioError: a file cannot be read.
        """

    def read(self, timeout_s: float) -> AudioChunk | None:
        """Return the next chunk; None if none came in time, or none will come any more.

        Raises:
            AudioError: a file cannot be read any further.
        """

    def stop(self) -> None:
        """Stop recording and wait for its thread; recorded chunks can still be read."""

    @property
    def ended(self) -> bool:
        """Whether ``read`` will never return a chunk again."""

    @property
    def n_dropped(self) -> int:
        """The number of 16 kHz samples that were lost."""


class Tap(Protocol):
    """An open device, closed by its owner."""

    @property
    def rate_hz(self) -> int:
        """Samples per second of ``read``."""

    @property
    def n_dropped(self) -> int:
        """The number of samples that this tap had to discard."""

    @property
    def moved_to(self) -> int | None:
        """The number of the device the system has moved this recording to, or None."""

    def read(self, timeout_s: float) -> Samples:
        """Return the new samples, owned by the caller; an empty array if none came in time.

        Raises:
            TapEndedError: the recording has ended, and all of its samples were returned.
        """

    def close(self) -> None:
        """Stop recording; closing twice does no harm."""


class SoundSystem(Protocol):
    """The devices of this computer. One thread uses it."""

    def devices(self) -> tuple[AudioDevice, ...]:
        """List the devices; raises NoSoundError if nothing can be recorded for now."""

    def changed(self) -> bool:
        """Return whether the list of ``devices`` may have changed; this costs nothing."""

    def open(self, device: AudioDevice) -> Tap:
        """Start recording; raises AudioError if the device cannot be opened."""

    def close(self) -> None:
        """Release all resources; the next call acquires them again."""


# One thread writes and one reads, without a lock: each advances its own counter, and only after the
# samples are copied. Unread samples are never overwritten: samples that do not fit are dropped and
# counted.

_POLL_S = 0.01


class Ring:
    """A queue of samples; those read, waiting and dropped together are those written."""

    def __init__(self, capacity: int) -> None:
        """Allocate room for ``capacity`` samples (at least 1); ``write`` allocates nothing."""
        self._samples = np.zeros(capacity, np.float32)
        self._n_written = 0  # changed by the writer alone
        self._n_read = 0  # changed by the reader alone
        self.n_dropped = 0

    def write(self, block: Samples) -> None:
        """Append a block, or as much of its beginning as fits."""
        capacity = len(self._samples)
        n_kept = min(len(block), capacity - (self._n_written - self._n_read))
        start = self._n_written % capacity
        n_first = min(n_kept, capacity - start)
        self._samples[start : start + n_first] = block[:n_first]
        self._samples[: n_kept - n_first] = block[n_first:n_kept]
        self._n_written += n_kept
        self.n_dropped += len(block) - n_kept

    def read(self) -> Samples:
        capacity = len(self._samples)
        n_waiting = self._n_written - self._n_read
        start = self._n_read % capacity
        n_first = min(n_waiting, capacity - start)
        block = np.concatenate(
            (self._samples[start : start + n_first], self._samples[: n_waiting - n_first])
        )
        self._n_read += n_waiting
        return block

    def wait(self, timeout_s: float, is_filled: Callable[[], bool]) -> Samples | None:
        """Read as soon as there is something; None if there is nothing and nothing comes.

        ``is_filled``: whether more may come.
        """
        end_s = time.monotonic() + timeout_s
        while True:
            goes_on = is_filled()  # before reading: what came last is not lost
            block = self.read()
            if len(block) or not goes_on or time.monotonic() >= end_s:
                return block if len(block) or goes_on else None
            time.sleep(_POLL_S)
