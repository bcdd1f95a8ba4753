"""Conversations side by side: each translates by the same code as one alone, all compute together.

Work is a generator that yields what it asks of the network. When all have asked, the network
computes it in one pass. So what one of them says does not depend on the others, but for the
rounding of sums.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from engine.errors import CacheFullError
from engine.runtime.causal_model import Ask, Asking, Computed
from engine.runtime.rows import RowBook


class SharedStore(Protocol):
    """A network with keys and values of several conversations, computed together.

    Attributes:
        book: of their rows.
    """

    book: RowBook

    def feed(self, asked: Sequence[Ask]) -> list[Computed]:
        """Compute rows of several lanes, in rising order, and keep them."""


def run_together(store: SharedStore, works: Sequence[Asking[None]]) -> Iterator[None]:
    """Run work in each lane to its end; yield after every pass of the network.

    A lane that has no room for what its work asks for raises CacheFullError there.

    Args:
        store: with at least as many lanes as there are works; its rows are dropped.
        works: the first asks for rows of lane 0, and so on.

    Raises:
        Exception: what a work raises. The others are closed then, as they are when the iterator is.
    """
    try:
        waiting = dict[int, Ask]()  # by lane, in rising order
        for lane, work in enumerate(works):
            store.book.truncate(lane, 0)
            asked = _go_on(store, work, None)
            if asked is not None:
                waiting[lane] = asked
        while waiting:
            lanes = list(waiting)
            for lane, computed in zip(lanes, store.feed(list(waiting.values())), strict=True):
                asked = _go_on(store, works[lane], computed)
                if asked is None:
                    del waiting[lane]
                else:
                    waiting[lane] = asked
            yield
    finally:
        for work in works:
            work.close()


def _go_on(store: SharedStore, work: Asking[None], computed: Computed | None) -> Ask | None:
    """Give work what it asked for; return what it asks for next, or None where it has ended."""
    try:
        asked = next(work) if computed is None else work.send(computed)
        while True:
            try:
                store.book.end_after(asked.lane, asked.rows)
            except CacheFullError as error:
                asked = work.throw(error)
            else:
                return asked
    except StopIteration:
        return None
