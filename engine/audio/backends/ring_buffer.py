"""A ring of samples between the thread that records and the thread that reads.

One thread writes and one reads, without a lock: each advances its own counter, and only after the
samples are copied. Unread samples are never overwritten: samples that do not fit are dropped and
counted.
"""

import numpy as np

from engine.audio.chunks import Samples


class Ring:
    """A queue of samples.

    Invariant: samples read, waiting and dropped together are the samples written.

    Attributes:
        n_dropped: samples that did not fit.
    """

    def __init__(self, capacity: int) -> None:
        """Allocate room for ``capacity`` samples (at least 1); ``write`` allocates nothing."""
        if capacity < 1:
            msg = f"a ring needs room for at least one sample, got {capacity}"
            raise ValueError(msg)
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
        """Remove all samples and return them."""
        capacity = len(self._samples)
        n_waiting = self._n_written - self._n_read
        start = self._n_read % capacity
        n_first = min(n_waiting, capacity - start)
        block = np.concatenate(
            (self._samples[start : start + n_first], self._samples[: n_waiting - n_first])
        )
        self._n_read += n_waiting
        return block
