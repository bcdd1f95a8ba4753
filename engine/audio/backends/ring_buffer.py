"""A ring of samples between the thread that records and the one that reads.

One thread writes and one reads, without a lock: each changes a counter of its own, and a counter is
changed only when the samples it speaks of are in place. Nothing that waits to be read is written
over: what finds no room is dropped, and counted.
"""

import numpy as np

from engine.audio.chunks import Samples


class Ring:
    """Take in what comes and give it out in the same order.

    Invariant: samples read, waiting and dropped together are the samples written.

    Attributes:
        n_dropped: samples that found no room.
    """

    def __init__(self, capacity: int) -> None:
        """Allocate room for so many samples; nothing is allocated later but what ``read`` returns.

        Raises:
            ValueError: there would be no room.
        """
        if capacity < 1:
            msg = f"a ring needs room for at least one sample, got {capacity}"
            raise ValueError(msg)
        self._samples = np.zeros(capacity, np.float32)
        self._n_written = 0  # changed by the writer alone
        self._n_read = 0  # changed by the reader alone
        self.n_dropped = 0

    def write(self, block: Samples) -> None:
        """Append a block, or as much of its beginning as there is room for."""
        capacity = len(self._samples)
        n_kept = min(len(block), capacity - (self._n_written - self._n_read))
        start = self._n_written % capacity
        n_first = min(n_kept, capacity - start)
        self._samples[start : start + n_first] = block[:n_first]
        self._samples[: n_kept - n_first] = block[n_first:n_kept]
        self._n_written += n_kept
        self.n_dropped += len(block) - n_kept

    def read(self) -> Samples:
        """Take out all that waits."""
        capacity = len(self._samples)
        n_waiting = self._n_written - self._n_read
        start = self._n_read % capacity
        n_first = min(n_waiting, capacity - start)
        block = np.concatenate(
            (self._samples[start : start + n_first], self._samples[: n_waiting - n_first])
        )
        self._n_read += n_waiting
        return block
