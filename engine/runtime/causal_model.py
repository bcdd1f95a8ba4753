"""One conversation with a model: rows in, the next id out, whichever library computes it.

``engine.runtime.torch.torch_store`` computes by torch, ``engine.runtime.onnx.onnx_store`` by ONNX
Runtime. The code that feeds rows knows neither: it is a generator that yields what is to be
computed and receives it, so that it may be run alone (``answered``) or beside others
(``Together``).
"""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.errors import CacheFullError
from engine.layout.planner import Eviction
from engine.layout.rows import Row
from engine.runtime.rows import RowBook
from engine.settings import LayoutSettings

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

    from engine.runtime.rows import Vectors


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Floating-point operations of a network, a multiplication and an addition counted apart.

    Twice the parameters for every row fed, plus attention (Kaplan et al. 2020, section 2.1,
    https://arxiv.org/abs/2001.08361; without softmax, norms and rotations). Our choices: an
    embedding table that is not also the output layer is only looked up, so it does not count; the
    output layer counts for every row, though only that of the last is needed.

    Attributes:
        parameters: those that multiply.
        per_sight: operations of one query with one cached row, in all layers.
    """

    parameters: int
    per_sight: int

    @classmethod
    def of(cls, network: "PreTrainedModel") -> Self:
        config = network.config
        n_heads = config.num_attention_heads
        head_size = getattr(config, "head_dim", None) or config.hidden_size // n_heads
        table = network.get_input_embeddings()
        looked_up = sum(parameter.numel() for parameter in table.parameters())
        tied = bool(config.tie_word_embeddings)
        return cls(
            parameters=network.num_parameters() - (0 if tied else looked_up),
            # queries times keys, then weights times values: two products of two operations
            per_sight=4 * config.num_hidden_layers * n_heads * head_size,
        )

    def flops(self, n_rows: int, n_cached: int) -> int:
        """Count a forward pass of ``n_rows``, with ``n_cached`` rows in the cache after it.

        A dense kernel computes masked rows too, so all of them count.
        """
        return n_rows * (2 * self.parameters + self.per_sight * n_cached)


def peak_memory_bytes() -> int:
    """Return the peak memory of the process (resident set); 0 if unknown.

    Linux counts that of the process that started this one into ``ru_maxrss`` (getrusage(2), Notes),
    so it is read from ``/proc`` there.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass  # another system
    try:
        import resource  # noqa: PLC0415  there is none on Windows
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


Numbers: TypeAlias = "Tensor | NDArray[np.float32]"
"""Of the library that computes."""

_UNLIKELY = -30.0

Result = TypeVar("Result")


class AnyModel(Protocol):
    """The network that computes for a system; its counters never decrease.

    ``tokens_fed`` counts rows, ``flops`` floating-point operations; ``last_flops``: of the newest
    forward pass.
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
        """The most memory held so far."""

    def run(self, work: "Asking[Result]") -> Result:
        """Answer the generator until it ends; return its result."""

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
    """Keys and values of as many conversations as its ``book`` has lanes, with their network.

    ``max_positions``: that the network was trained for.
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
        """Compute rows and keep them; raise CacheFullError if the cache has no room for them."""

    def feed(self, asked: Sequence[Ask]) -> list[Computed]:
        """Compute rows of several lanes, in rising order, and keep them."""


Asking: TypeAlias = Generator[Ask, Computed, Result]
"""Work that yields what its model is to compute, receives that, and returns a result."""


def answered(work: Asking[Result], compute: Callable[[Ask], Computed]) -> Result:
    """Answer a generator until it ends; return its result.

    Errors of computing are raised in the generator, where it asks.
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
    return int(logits.argmax())


class CausalModel:
    """One conversation with a model: feed rows, get the next id, truncate.

    A verb that begins with ``ask`` returns a generator, see ``Asking``; ``feed`` and ``next_id``
    are the same, computed at once. The counters never decrease.

    Attributes:
        choose: chooses the next id by its logits, shape (V,), -inf if suppressed.
        vectors: of the rows fed now; None where all rows are tokens.
    """

    def __init__(self, store: Store, lane: int = 0) -> None:
        self._store = store
        self._lane = lane
        self._newest = Computed(np.zeros(0, dtype=np.float32))
        self.choose: Callable[[Numbers], int] = likeliest
        self.vectors: Vectors | None = None
        self.max_positions = store.max_positions  # that the network was trained for
        self.tokens_fed = self.forwards = self.flops = self.last_flops = 0

    @property
    def n_rows(self) -> int:
        return self._store.book.n_rows[self._lane]

    @property
    def capacity(self) -> int:
        return self._store.book.capacity

    @property
    def peak_memory_bytes(self) -> int:
        return self._store.peak_memory_bytes

    def truncate(self, n_rows: int) -> None:
        self._store.book.truncate(self._lane, n_rows)

    def use(self, layout: LayoutSettings) -> None:
        self._store.use(layout)

    def forget_steps(self) -> None:
        self._store.forget_steps()

    def evict(self, gone: Eviction) -> None:
        self._store.evict(self._lane, gone)

    def run(self, work: Asking[Result]) -> Result:
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
        """Feed rows and choose the next id among those that are not suppressed."""
        return self.run(self.ask_id(rows, suppressed, keep_states=keep_states))

    def ask(
        self,
        rows: Sequence[Row],
        suppressed: Sequence[int] | None = None,
        *,
        keep_states: bool = False,
    ) -> Asking[Numbers]:
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
        logits = yield from self.ask(rows, suppressed, keep_states=keep_states)
        return self.choose(logits)

    def logits(self) -> NDArray[np.float32]:
        """Return the logits of the newest pass, shape (V,); -inf if suppressed."""
        return float32(self._newest.logits)

    def states(self) -> NDArray[np.float32]:
        """Return the states of the rows of the newest pass, which kept them, shape (Q, width).

        A state is the last layer's output as the output layer reads it.
        """
        assert self._newest.states is not None, "they were to be kept"
        return float32(self._newest.states)


def float32(numbers: Numbers) -> NDArray[np.float32]:
    if isinstance(numbers, np.ndarray):
        return numbers.astype(np.float32, copy=False)
    array: NDArray[np.float32] = numbers.float().numpy(force=True)
    return array


def log_probability(logits: NDArray[np.float32], id_: int) -> float:
    """Return how likely an id is by its logits, shape (V,): in nats, at least ``_UNLIKELY``."""
    if logits[id_] == -np.inf:
        return _UNLIKELY
    top = logits.max()
    return max(_UNLIKELY, float(logits[id_] - top - np.log(np.exp(logits - top).sum())))


class Together:
    """Generators that ask for rows, one in each lane; what all ask for is computed in one pass.

    Rows that a lane has cached stay there from one generator to the next. Errors of the network,
    as CacheFullError for a lane without room, are raised in the generator. An error of a generator
    itself ends it and is raised by the verb that ran it; the others may go on.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._works = dict[int, Asking[None]]()
        self._asked = dict[int, Ask]()  # by lane, of each work

    @property
    def n_asked(self) -> int:
        """How many generators wait for a pass."""
        return len(self._asked)

    def begin(self, lane: int, work: Asking[None]) -> None:
        """Run a generator until it first asks; its lane has none."""
        assert lane not in self._works, "one after the other"
        self._works[lane] = work
        self._go_on(lane, None)

    def compute(self) -> None:
        """Compute in one pass what all ask for, and run each until it asks again."""
        lanes = sorted(self._asked)
        asked = [self._asked[lane] for lane in lanes]
        try:
            answers: Sequence[Computed | Exception] = self._store.feed(asked)
        except Exception as error:  # noqa: BLE001  each work may raise it again
            answers = [error] * len(lanes)
        for lane, answer in zip(lanes, answers, strict=True):
            self._go_on(lane, answer)

    def is_busy(self, lane: int) -> bool:
        """Return whether the generator of a lane has not ended."""
        return lane in self._works

    def end(self, lane: int) -> None:
        """End the generator of a lane, if there is any."""
        self._asked.pop(lane, None)
        work = self._works.pop(lane, None)
        if work is not None:
            work.close()

    def _go_on(self, lane: int, answer: Computed | Exception | None) -> None:
        """Send a generator its answer, and note what it asks for next; forget it where it ends."""
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


def run_together(store: Store, works: Sequence[Asking[None]]) -> Iterator[None]:
    """Run a generator in each lane to its end; yield after every pass of the network.

    The store has a lane for each and drops its rows. An error of one closes the others, as the end
    of this iterator does.
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
