"""One conversation with a model: rows in, the next id out, whichever library computes it.

``engine.runtime.torch.torch_store`` computes by torch, ``engine.runtime.onnx.onnx_store`` by ONNX
Runtime. The code that feeds rows knows neither: it is a generator that yields what is to be
computed and receives it, so that it may be run alone (``answered``) or beside others
(``engine.runtime.together``).
"""

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.layout.planner import Eviction
from engine.layout.rows import Row
from engine.runtime.flops import Arithmetic
from engine.runtime.rows import RowBook
from engine.settings import LayoutSettings

if TYPE_CHECKING:  # each library where it computes
    from torch import Tensor

    from engine.runtime.vectors import Vectors

Numbers: TypeAlias = "Tensor | NDArray[np.float32]"
"""Of the library that computes."""

_UNLIKELY = -30.0

Result = TypeVar("Result")


class AnyModel(Protocol):
    """The network that computes for a system, as every system shows it.

    Attributes:
        tokens_fed: rows fed so far; like the other counters it never decreases.
        forwards: forward passes so far.
        flops: floating-point operations so far.
        last_flops: of the newest forward pass.
    """

    tokens_fed: int
    forwards: int
    flops: int
    last_flops: int

    @property
    def n_rows(self) -> int:
        """Rows in the cache."""

    @property
    def peak_memory_bytes(self) -> int:
        """The most memory held so far, see ``engine.runtime.flops``."""

    def run(self, work: "Asking[Result]") -> Result:
        """Compute what the work asks for as it asks; return its result."""

    def truncate(self, n_rows: int) -> None:
        """Keep the first ``n_rows`` rows in arrival order."""

    def use(self, layout: LayoutSettings) -> None:
        """Use this layout for later rows; raise ModelError if the network does not support it."""

    def forget_steps(self) -> None:
        """Drop what was prepared for small passes, after a change of the network's layers."""


class Ask(NamedTuple):
    """Rows of a lane that are to be computed in one forward pass, and kept.

    Attributes:
        suppressed: ids that may not follow; None if no id is asked for, in a pass that prepares
            nothing for further ones.
        keep_states: of the rows.
        vectors: of the rows that carry one, float32, shape (n, width); None where none does.
    """

    lane: int
    rows: Sequence[Row]
    suppressed: Sequence[int] | None = None
    keep_states: bool = False
    vectors: NDArray[np.float32] | None = None


class Computed(NamedTuple):
    """The answer, in memory that no other pass overwrites.

    Attributes:
        logits: of the last row, shape (V,); -inf if suppressed.
        states: of the rows, shape (Q, width), if they were to be kept.
    """

    logits: Numbers
    states: "Numbers | None" = None


class Store(Protocol):
    """A network with keys and values of as many conversations as its book has lanes.

    Attributes:
        book: of the rows.
        max_positions: that the network was trained for.
        arithmetic: of the network.
    """

    book: RowBook
    max_positions: int
    arithmetic: Arithmetic

    @property
    def peak_memory_bytes(self) -> int:
        """See ``AnyModel``."""

    def use(self, layout: LayoutSettings) -> None:
        """See ``AnyModel``; in all lanes."""

    def forget_steps(self) -> None:
        """See ``AnyModel``."""

    def evict(self, lane: int, gone: Eviction) -> None:
        """Drop rows in the middle of a lane, and move the later ones up."""

    def compute(self, ask: Ask) -> Computed:
        """Compute rows and keep them.

        Raises:
            CacheFullError: the cache has no room for them.
        """

    def feed(self, asked: Sequence[Ask]) -> list[Computed]:
        """Compute rows of several lanes, in rising order, and keep them."""


Asking: TypeAlias = Generator[Ask, Computed, Result]
"""Work that yields what its model is to compute, receives that, and returns a result."""


def answered(work: Asking[Result], compute: Callable[[Ask], Computed]) -> Result:
    """Compute what the work asks for as it asks; return its result.

    Errors of computing are raised in the work, where it asks.
    """
    try:
        asked = next(work)
        while True:
            try:
                computed = compute(asked)
            except Exception as error:  # noqa: BLE001  the work may raise it again
                asked = work.throw(error)
            else:
                asked = work.send(computed)
    except StopIteration as end:
        result: Result = end.value
        return result


def likeliest(logits: Numbers) -> int:
    """Choose the likeliest id."""
    return int(logits.argmax())


class CausalModel:
    """One conversation with a model: feed rows, get the next id, truncate.

    A verb that begins with ``ask`` is work that asks, see ``Asking``; ``feed`` and ``next_id`` are
    the same, computed at once. The counters never decrease, see ``AnyModel``.

    Attributes:
        choose: chooses the next id by its logits, shape (V,), -inf if suppressed.
        vectors: that rows carry which are fed now; None where all rows are tokens.
    """

    def __init__(self, store: Store, lane: int = 0) -> None:
        """Take a lane of a store."""
        self._store = store
        self._lane = lane
        self._newest = Computed(np.zeros(0, dtype=np.float32))
        self.choose: Callable[[Numbers], int] = likeliest
        self.vectors: Vectors | None = None
        self.max_positions = store.max_positions  # that the network was trained for
        self.tokens_fed = self.forwards = self.flops = self.last_flops = 0

    @property
    def n_rows(self) -> int:
        """Rows in the cache."""
        return self._store.book.n_rows[self._lane]

    @property
    def capacity(self) -> int:
        """The largest number of rows in the cache."""
        return self._store.book.capacity

    @property
    def peak_memory_bytes(self) -> int:
        """The most memory held so far, on a CUDA device or in the process."""
        return self._store.peak_memory_bytes

    def truncate(self, n_rows: int) -> None:
        """Keep the first ``n_rows`` rows in arrival order."""
        self._store.book.truncate(self._lane, n_rows)

    def use(self, layout: LayoutSettings) -> None:
        """Use this layout for later rows; raise ModelError if the network does not support it."""
        self._store.use(layout)

    def forget_steps(self) -> None:
        """Drop what was prepared for small passes, after a change of the network's layers."""
        self._store.forget_steps()

    def evict(self, gone: Eviction) -> None:
        """Drop rows in the middle of the cache, and move the later ones up."""
        self._store.evict(self._lane, gone)

    def run(self, work: Asking[Result]) -> Result:
        """Compute what the work asks for as it asks; return its result."""
        return answered(work, self._store.compute)

    def feed(self, rows: Sequence[Row]) -> Numbers:
        """Compute rows in one forward pass and keep them; return the logits of the last, (V,).

        Raises:
            CacheFullError: the cache has no room for them.
        """
        return self.run(self.ask(rows))

    def next_id(
        self, rows: Sequence[Row], suppressed: Sequence[int], *, keep_states: bool = False
    ) -> int:
        """Feed rows and choose the next id among those that are not suppressed.

        ``keep_states``: so that ``states`` returns those of the rows.
        """
        return self.run(self.ask_id(rows, suppressed, keep_states=keep_states))

    def ask(
        self,
        rows: Sequence[Row],
        suppressed: Sequence[int] | None = None,
        *,
        keep_states: bool = False,
    ) -> Asking[Numbers]:
        """See ``feed``, and ``Ask`` for the arguments."""
        vectors = None if self.vectors is None else self.vectors.of(rows)
        self._newest = yield Ask(self._lane, rows, suppressed, keep_states, vectors)
        self.tokens_fed += len(rows)
        self.forwards += 1
        self.last_flops = self._store.arithmetic.flops(len(rows), self.n_rows)
        self.flops += self.last_flops
        return self._newest.logits

    def ask_id(
        self, rows: Sequence[Row], suppressed: Sequence[int], *, keep_states: bool = False
    ) -> Asking[int]:
        """See ``next_id``."""
        logits = yield from self.ask(rows, suppressed, keep_states=keep_states)
        return self.choose(logits)

    def logits(self) -> NDArray[np.float32]:
        """Return those of the newest pass, shape (V,); -inf if suppressed."""
        return float32(self._newest.logits)

    def states(self) -> NDArray[np.float32]:
        """Return the states of the rows of the newest pass, which kept them, shape (Q, width).

        A state is the last layer's output as the output layer reads it.
        """
        assert self._newest.states is not None, "they were to be kept"
        return float32(self._newest.states)


def float32(numbers: Numbers) -> NDArray[np.float32]:
    """Return numbers of either library as an array."""
    if isinstance(numbers, np.ndarray):
        return numbers.astype(np.float32, copy=False)
    array: NDArray[np.float32] = numbers.float().numpy(force=True)
    return array


def probability_of_others(logits: NDArray[np.float32], id_: int) -> float:
    """Return how likely any id but this one is by the logits, shape (V,): 0 only if none can be.

    In float64, and summed over the others: 1 - p would be 0 where the id is nearly certain.
    """
    shares = np.exp(logits.astype(np.float64) - float(logits.max()))  # (V,)
    others = float(shares[:id_].sum() + shares[id_ + 1 :].sum())
    return others / (others + float(shares[id_]))


def log_probability(logits: NDArray[np.float32], id_: int) -> float:
    """Return how likely an id is by its logits, shape (V,): in nats, at least ``_UNLIKELY``."""
    if logits[id_] == -np.inf:
        return _UNLIKELY
    top = logits.max()
    return max(_UNLIKELY, float(logits[id_] - top - np.log(np.exp(logits - top).sum())))
