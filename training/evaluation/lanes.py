"""Conversations side by side: each translates by the engine's own code, all compute together.

A job is ordinary code that feeds a model and waits for its answer. Here each job has a thread of
its own, and of all threads only one ever runs: it runs until it needs the network; when all jobs
wait, the network computes what they asked for in one pass. So what a job says depends neither on
the operating system nor on the other jobs, but for the rounding of sums.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from engine.errors import CacheFullError
from engine.layout.planner import Eviction
from engine.layout.rows import Row
from engine.runtime.flops import peak_memory_bytes
from engine.runtime.torch.batched_model import BatchedModel
from engine.settings import LayoutSettings

Choice = Callable[[NDArray[np.float64]], int]
"""Chooses an id by its logits, shape (V,), -inf where it may not be chosen."""


def likeliest(logits: NDArray[np.float64]) -> int:
    """Choose the likeliest id."""
    return int(logits.argmax())


class _StoppedError(BaseException):
    """Unwind a job whose answer will not come; nothing on the way may take it for a failure."""


class Lane:
    """One of several conversations: the verbs of ``CausalModel``; computing waits for the others.

    Attributes:
        number: of the lane, from 0.
        choose: chooses the next id.
    """

    def __init__(self, model: BatchedModel, number: int) -> None:
        self._model = model
        self.number = number
        self._asked = SimpleQueue[Sequence[Row] | Exception | None]()  # None: the job has ended
        self._answers = SimpleQueue[Tensor | _StoppedError | None]()  # None: begin
        self._thread: threading.Thread | None = None
        self._logits: NDArray[np.float64] = np.zeros(0)
        self.choose: Choice = likeliest
        self.max_positions = model.max_positions
        self.tokens_fed = 0
        self.forwards = 0
        self.flops = 0
        self.last_flops = 0

    def open(self, _: PreTrainedModel, capacity: int) -> "Lane":
        """Return this lane as a conversation, see ``TorchWeights.conversations``."""
        if capacity > self.capacity:
            msg = f"a lane of {self.capacity} rows cannot hold {capacity}"
            raise ValueError(msg)
        return self

    @property
    def n_rows(self) -> int:
        """Rows in the cache."""
        return self._model.n_rows(self.number)

    @property
    def capacity(self) -> int:
        """The largest number of rows in the cache."""
        return self._model.capacity

    @property
    def peak_memory_bytes(self) -> int:
        """The most memory held so far, on a CUDA device or in the process."""
        if self._model.device.type == "cuda":
            return int(torch.cuda.max_memory_allocated(self._model.device))
        return peak_memory_bytes()

    def truncate(self, n_rows: int) -> None:
        """Keep the first ``n_rows`` rows in arrival order."""
        self._model.truncate(self.number, n_rows)

    def use(self, layout: LayoutSettings) -> None:
        """Use this layout, in all lanes; raise ModelError if the network does not support it."""
        self._model.use(layout)

    def forget_steps(self) -> None:
        """Do nothing: nothing is prepared."""

    def evict(self, gone: Eviction) -> None:
        """Drop rows in the middle of the cache, and move the later ones up."""
        self._model.evict(self.number, gone)

    def feed(self, rows: Sequence[Row]) -> NDArray[np.float64]:
        """Wait until these rows are computed with those of other lanes; see ``CausalModel``."""
        if self.n_rows + len(rows) > self.capacity:
            raise CacheFullError(capacity=self.capacity, wanted=self.n_rows + len(rows))
        self._asked.put(rows)
        answer = self._answers.get()
        if isinstance(answer, _StoppedError):
            raise answer
        assert answer is not None, "a job is begun once"
        self.tokens_fed += len(rows)
        self.forwards += 1
        self.last_flops = self._model.arithmetic.flops(len(rows), self.n_rows)
        self.flops += self.last_flops
        logits: NDArray[np.float64] = answer.double().numpy(force=True)
        return logits

    def next_id(
        self, rows: Sequence[Row], suppressed: Sequence[int], *, keep_states: bool = False
    ) -> int:
        """Feed rows and choose the next id among those that are not suppressed."""
        if keep_states:
            self._model.keep_states(self.number)
        logits = self.feed(rows).copy()
        logits[list(suppressed)] = -np.inf
        self._logits = logits
        return self.choose(logits)

    def logits(self) -> NDArray[np.float32]:
        """Return those that the newest ``next_id`` chose from, shape (V,); -inf if suppressed."""
        return self._logits.astype(np.float32)

    def states(self) -> NDArray[np.float32]:
        """Return the states of the rows that the newest ``next_id`` kept, shape (Q, width)."""
        states: NDArray[np.float32] = self._model.states(self.number).float().numpy(force=True)
        return states

    # for ``run_together``

    def start(self, job: "Job") -> Sequence[Row] | None:
        """Run a job until it asks; return the rows it asks for, or None where it has ended."""
        self._thread = threading.Thread(target=self._run, args=(job,), daemon=True)
        self._thread.start()
        return self.answer(None)

    def answer(self, logits: Tensor | None) -> Sequence[Row] | None:
        """Let the job go on with the logits of its last row; return as ``start``."""
        self._answers.put(logits)
        asked = self._asked.get()
        if isinstance(asked, Exception):
            raise asked
        return asked

    def stop(self) -> None:
        """Unwind the job if it has not ended, and wait until its thread has."""
        if self._thread is not None:
            self._answers.put(_StoppedError())
            self._thread.join()
            self._thread = None

    def _run(self, job: "Job") -> None:
        self._answers.get()
        try:
            job(self)
        except _StoppedError:
            pass
        except Exception as error:  # noqa: BLE001  it is raised where the lanes are run
            self._asked.put(error)
        self._asked.put(None)


Job = Callable[[Lane], None]
"""Works with a lane until it has nothing left to do."""


def run_together(model: BatchedModel, jobs: Sequence[Job]) -> Iterator[None]:
    """Run a job in each lane to its end; yield after every pass of the network.

    Args:
        model: with at least as many lanes as there are jobs; its rows are dropped.
        jobs: one for a lane.

    Raises:
        Exception: what a job raises. The other jobs are ended then, as they are when the iterator
            is closed.
    """
    lanes = [Lane(model, number) for number in range(len(jobs))]
    try:
        asked: list[Sequence[Row] | None] = []
        for number, (lane, job) in enumerate(zip(lanes, jobs, strict=True)):
            model.truncate(number, 0)
            asked.append(lane.start(job))
        while fed := [(number, rows) for number, rows in enumerate(asked) if rows is not None]:
            for (number, _), logits in zip(fed, model.feed(fed), strict=True):
                asked[number] = lanes[number].answer(logits)
            yield
    finally:
        for lane in lanes:
            lane.stop()
