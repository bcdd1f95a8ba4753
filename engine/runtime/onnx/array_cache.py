"""The slot KV cache in arrays of numpy: allocated once, written in place by ONNX Runtime.

The counterpart of ``engine.runtime.torch.slot_cache``, with its invariants: rows are in order of
arrival, and their positions and times are kept beside the keys.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import CacheFullError
from engine.layout.rows import NEVER, Row, visible
from engine.models.llama_shape import LlamaShape
from engine.models.zeros import zeros

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

_HIDDEN = np.finfo(np.float32).min


class ArrayCache:
    """Keys and values of one conversation.

    A forward pass: ``begin(rows)``, the runtime writes behind the valid rows, ``arrange`` if they
    arrived in another order, ``commit``.

    Invariants: ``n_rows`` rows are valid; no array is allocated after construction; truncating and
    feeding again gives the same result as feeding.

    Attributes:
        layers: keys and values of all layers, shape (layers, 2, 1, H, K, D); the runtime holds
            their addresses.
    """

    def __init__(self, shape: LlamaShape, capacity: int) -> None:
        sizes = (shape.layers, 2, 1, shape.kv_heads, capacity, shape.head_size)
        self.layers: Floats = zeros(sizes)
        self.capacity = capacity
        self.n_rows = 0
        self._n_new = 0
        self._position: Integers = np.zeros(capacity, dtype=np.int64)
        self._time: Integers = np.full(capacity, NEVER, dtype=np.int64)

    def begin(self, rows: Sequence[Row]) -> Floats:
        """Reserve the rows of a forward pass; return its mask, shape (1, 1, Q, K).

        Raises:
            CacheFullError: they do not fit; the cache is unchanged.
        """
        start, end = self.n_rows, self.n_rows + len(rows)
        if end > self.capacity:
            raise CacheFullError(capacity=self.capacity, wanted=end)
        self._position[start:end] = [row.position for row in rows]
        self._time[start:end] = [row.time for row in rows]
        self._n_new = len(rows)
        position, time = self._position[:end], self._time[:end]
        sight = visible(position[start:], time[start:], position, time)  # (Q, K)
        return np.where(sight, np.float32(0), _HIDDEN)[None, None]  # (1, 1, Q, K)

    def arrange(self, order: Sequence[int]) -> None:
        """Put the computed rows of the forward pass in another order: indexes into them."""
        end = self.n_rows + self._n_new
        places = self.n_rows + np.array(order)
        self.layers[..., self.n_rows : end, :] = self.layers[..., places, :]
        for column in (self._position, self._time):
            column[self.n_rows : end] = column[places]

    def commit(self) -> None:
        """Count the rows of the forward pass as valid."""
        self.n_rows += self._n_new
        self._n_new = 0

    def truncate(self, n_rows: int) -> None:
        """Keep the first ``n_rows`` rows in arrival order."""
        if not 0 <= n_rows <= self.n_rows:
            msg = f"a cache of {self.n_rows} rows cannot be truncated to {n_rows}"
            raise ValueError(msg)
        self.n_rows = n_rows

    def evict(self, start: int, stop: int, distance: int, turn: tuple[Floats, Floats]) -> None:
        """Drop the rows [start, stop) in arrival order; later rows move up.

        Their keys are turned back: rotations compose, so no key is computed again.

        Args:
            start: in arrival order.
            stop: likewise.
            distance: positions that the later rows move towards the start.
            turn: cosine and sine of the rotation of that distance, shape (D / 2,) each.
        """
        end = start + self.n_rows - stop
        keys, values = self.layers[:, 0], self.layers[:, 1]  # (layers, 1, H, K, D)
        values[..., start:end, :] = values[..., stop : self.n_rows, :].copy()
        first, second = np.split(keys[..., stop : self.n_rows, :], 2, axis=-1)  # (.., D / 2)
        cos, sin = turn
        back = (first * cos + second * sin, second * cos - first * sin)
        keys[..., start:end, :] = np.concatenate(back, axis=-1)
        for column, moved in ((self._position, distance), (self._time, 0)):
            column[start:end] = column[stop : self.n_rows] - moved
        self.n_rows = end
