"""Vectors that rows carry in the place of a token: ``Row.id`` is then -1 minus an index."""

from collections.abc import Iterable, Sized

import numpy as np
from numpy.typing import NDArray

from engine.layout.rows import Row

Vector = NDArray[np.float32]
"""In the place of an embedding, shape (width,)."""


class Vectors:
    """The vectors of one utterance, by the ids of their rows. They are kept until forgotten."""

    def __init__(self) -> None:
        self._vectors = dict[int, Vector]()
        self._n_added = 0

    def __len__(self) -> int:
        """Count the vectors that are kept."""
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
