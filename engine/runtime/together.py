"""Conversations side by side: each translates by the same code as one alone, all compute together.

Work is a generator that yields what it asks of the network. When all have asked, the network
computes it in one pass. So what one of them says does not depend on the others, but for the
rounding of sums. Work may begin in a free lane, and be ended, between any two passes.
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


class Together:
    """The works of all lanes. Rows that a lane has cached stay there from one work to the next.

    A lane that has no room for what its work asks for raises CacheFullError there; other errors of
    the network are raised there, too. An error of a work itself ends it and is raised by the verb
    that ran it; the others may go on.
    """

    def __init__(self, store: SharedStore) -> None:
        """Start without work."""
        self._store = store
        self._works = dict[int, Asking[None]]()
        self._asked = dict[int, Ask]()  # by lane, of each work

    @property
    def n_asked(self) -> int:
        """How many works wait for a pass."""
        return len(self._asked)

    def begin(self, lane: int, work: Asking[None]) -> None:
        """Run work, which asks for rows of a lane that has none, until it first asks."""
        assert lane not in self._works, "one after the other"
        self._works[lane] = work
        self._go_on(lane, None)

    def compute(self) -> None:
        """Compute in one pass what all works ask for, and run each until it asks again."""
        lanes = sorted(self._asked)
        asked = [self._asked[lane] for lane in lanes]
        try:
            answers: Sequence[Computed | Exception] = self._store.feed(asked)
        except Exception as error:  # noqa: BLE001  each work may raise it again
            answers = [error] * len(lanes)
        for lane, answer in zip(lanes, answers, strict=True):
            self._go_on(lane, answer)

    def is_busy(self, lane: int) -> bool:
        """Return whether work of a lane has not ended."""
        return lane in self._works

    def end(self, lane: int) -> None:
        """End the work of a lane, if there is any."""
        self._asked.pop(lane, None)
        work = self._works.pop(lane, None)
        if work is not None:
            work.close()

    def _go_on(self, lane: int, answer: Computed | Exception | None) -> None:
        """Send work what it asked for, and note what it asks for next; forget it where it ends."""
        work = self._works[lane]
        self._asked.pop(lane, None)
        try:
            self._asked[lane] = self._next_ask(work, answer)
        except StopIteration:
            del self._works[lane]
        except BaseException:
            del self._works[lane]
            raise

    def _next_ask(self, work: Asking[None], answer: Computed | Exception | None) -> Ask:
        while True:
            if answer is None:
                asked = next(work)
            elif isinstance(answer, Exception):
                asked = work.throw(answer)
            else:
                asked = work.send(answer)
            try:
                self._store.book.end_after(asked.lane, asked.rows)
            except CacheFullError as error:
                answer = error
            else:
                return asked


def run_together(store: SharedStore, works: Sequence[Asking[None]]) -> Iterator[None]:
    """Run work in each lane to its end; yield after every pass of the network.

    Args:
        store: with at least as many lanes as there are works; its rows are dropped.
        works: the first asks for rows of lane 0, and so on.

    Raises:
        Exception: what a work raises. The others are closed then, as they are when the iterator is.
    """
    together = Together(store)
    try:
        for lane, work in enumerate(works):
            store.book.truncate(lane, 0)
            together.begin(lane, work)
        while together.n_asked:
            together.compute()
            yield
    finally:
        for work in works:
            work.close()
