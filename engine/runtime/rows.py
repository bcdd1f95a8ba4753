"""The row book: how many rows a KV cache holds, where they stand and when they came.

Arrival order is not position order: a late source word comes after targets that it precedes. So
positions and times of every row are kept here, beside its keys, whichever library holds those; the
mask is computed from them by ``engine.layout.rows.visible``.

Each conversation is a lane; one alone is lane 0 of one. The rows of a lane stand in arrival order
from the first column on. So lanes need not keep in step: each is truncated and evicted by itself,
and a new one may start beside others.
"""

from collections.abc import Iterable, Sequence, Sized

import numpy as np
from numpy.typing import NDArray

from engine.errors import CacheFullError
from engine.layout.planner import Eviction
from engine.layout.rows import NEVER, Row

Fed = tuple[int, Sequence[Row]]
"""A lane, and the rows it is fed."""

Integers = NDArray[np.int64]


class RowBook:
    """Positions and times of the rows of ``n_lanes`` conversations.

    A forward pass: ``begin(fed)``, the keys are computed, ``commit``. A pass that fails is not
    committed, and leaves no row.

    Invariants: ``n_rows`` rows of each lane are valid, and what stands behind them and those of
    this pass has time ``NEVER``; truncating and feeding again gives the same result as feeding.

    Attributes:
        n_rows: valid rows of each lane.
        places: positions, times and encoded positions, shape (3, B, K), of all lanes.
    """

    def __init__(self, n_lanes: int, capacity: int) -> None:
        self.capacity = capacity
        self.n_rows = [0] * n_lanes
        self.places = _absent(n_lanes, capacity)
        self._new: Sequence[Fed] = ()

    def begin(self, fed: Sequence[Fed]) -> tuple[Integers, Integers]:
        """Reserve the rows of a forward pass: at least one of each lane, lanes in rising order.

        Returns:
            places of the new rows, shape (3, B, Q), padded in front, so that the last column of
            each lane is its last row; and of all in attention, shape (3, B, K).
        """
        ends = [self.end_after(lane, rows) for lane, rows in fed]
        for lane, rows in self._new:  # of a pass that failed
            self.places[1, lane, self.n_rows[lane] : self.n_rows[lane] + len(rows)] = NEVER
        new = _absent(len(fed), max(len(rows) for _, rows in fed))
        for line, ((lane, rows), end) in enumerate(zip(fed, ends, strict=True)):
            places = [(row.position, row.time, row.position + row.shift) for row in rows]
            columns = np.array(places, dtype=np.int64).T  # (3, N)
            new[:, line, -len(rows) :] = columns
            self.places[:, lane, end - len(rows) : end] = columns
        self._new = fed
        return new, self.places[:, [lane for lane, _ in fed], : max(ends)]

    def end_after(self, lane: int, rows: Sequence[Row]) -> int:
        """Return how many rows a lane has after these; raise CacheFullError if they do not fit."""
        end = self.n_rows[lane] + len(rows)
        if end > self.capacity:
            raise CacheFullError(capacity=self.capacity, wanted=end)
        return end

    def arrange(self, lane: int, order: Sequence[int]) -> None:
        """Put the rows of the forward pass in another order: indexes into them."""
        start = self.n_rows[lane]
        moved = self.places[:, lane, start + np.array(order)]  # (3, N)
        self.places[:, lane, start : start + len(order)] = moved

    def commit(self) -> None:
        """Count the rows of the forward pass as valid."""
        for lane, rows in self._new:
            self.n_rows[lane] += len(rows)
        self._new = ()

    def truncate(self, lane: int, n_rows: int) -> None:
        if not 0 <= n_rows <= self.n_rows[lane]:
            msg = f"a cache of {self.n_rows[lane]} rows cannot be truncated to {n_rows}"
            raise ValueError(msg)
        self.places[1, lane, n_rows : self.n_rows[lane]] = NEVER
        self.n_rows[lane] = n_rows

    def evict(self, lane: int, gone: Eviction) -> None:
        """Drop rows in the middle of a lane; later rows move up, and towards the start."""
        kept = self.places[:, lane, gone.stop : self.n_rows[lane]]  # (3, N)
        end = gone.start + kept.shape[-1]
        self.places[:, lane, gone.start : end] = kept - [[gone.distance], [0], [gone.distance]]
        self.truncate(lane, end)


def _absent(n_lanes: int, n_columns: int) -> Integers:
    """Return places of rows that do not exist, shape (3, B, N)."""
    places = np.zeros((3, n_lanes, n_columns), dtype=np.int64)
    places[1] = NEVER
    return places


Vector = NDArray[np.float32]
"""In the place of an embedding, shape (width,)."""


class Vectors:
    """The vectors of one utterance, by the ids of their rows. They are kept until forgotten."""

    def __init__(self) -> None:
        self._vectors = dict[int, Vector]()
        self._n_added = 0

    def __len__(self) -> int:
        return len(self._vectors)

    def add(self, vectors: NDArray[np.float32]) -> tuple[int, ...]:
        """Keep vectors, shape (n, width); return the ids of their rows."""
        ids = tuple(range(-1 - self._n_added, -1 - self._n_added - len(vectors), -1))
        self._vectors |= zip(ids, vectors, strict=True)
        self._n_added += len(vectors)
        return ids

    def of(self, rows: Iterable[Row]) -> NDArray[np.float32] | None:
        """Return the vectors of the rows that carry one, shape (n, width), in their order.

        None if no row carries one.
        """
        carried = [self._vectors[row.id] for row in rows if row.id < 0]
        return np.stack(carried) if carried else None

    def forget_before(self, id_: int) -> None:
        """Forget the vectors that were added before that of this id."""
        for old in [one for one in self._vectors if one > id_]:
            del self._vectors[old]


def check_carried(n_rows: int, vectors: Sized | None) -> None:
    """Raise ValueError unless there is a vector for each row that carries one."""
    n_vectors = 0 if vectors is None else len(vectors)
    if n_rows != n_vectors:
        msg = f"{n_rows} rows carry a vector, and there are {n_vectors}"
        raise ValueError(msg)
