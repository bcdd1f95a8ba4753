"""Conversations side by side: each translates by the engine's own code, all compute together.

A job is ordinary code that feeds a model and waits for its answer. Here each job has a thread of
its own, and of all threads only one ever runs: it runs until it needs the network; when all jobs
wait, the network computes what they asked for in one pass. So what a job says depends neither on
the operating system nor on the other jobs, but for the rounding of sums.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue

from transformers import PreTrainedModel

from engine.runtime.causal_model import Ask, CausalModel, Computed
from engine.runtime.torch.torch_store import TorchStore


class _StoppedError(BaseException):
    """Unwind a job whose answer will not come; nothing on the way may take it for a failure."""


class Lane:
    """One of several conversations; computing waits for the others.

    Attributes:
        number: of the lane, from 0.
        model: the conversation.
    """

    def __init__(self, store: TorchStore, number: int) -> None:
        self._store = store
        self.number = number
        self.model = CausalModel(store, number, self._compute)
        self._asked = SimpleQueue[Ask | Exception | None]()  # None: the job has ended
        self._answers = SimpleQueue[Computed | _StoppedError | None]()  # None: begin
        self._thread: threading.Thread | None = None

    def open(self, _: PreTrainedModel, capacity: int) -> CausalModel:
        """Return the conversation, see ``TorchWeights.conversations``."""
        if capacity > self.model.capacity:
            msg = f"a lane of {self.model.capacity} rows cannot hold {capacity}"
            raise ValueError(msg)
        return self.model

    def _compute(self, ask: Ask) -> Computed:
        """Wait until this is computed with what the other lanes ask for."""
        self._store.book.end_after(self.number, ask.rows)  # raises where the cache is full
        self._asked.put(ask)
        answer = self._answers.get()
        if isinstance(answer, _StoppedError):
            raise answer
        assert answer is not None, "a job is begun once"
        return answer

    # for ``run_together``

    def start(self, job: "Job") -> Ask | None:
        """Run a job until it asks; return what it asks for, or None where it has ended."""
        self._thread = threading.Thread(target=self._run, args=(job,), daemon=True)
        self._thread.start()
        return self.answer(None)

    def answer(self, computed: Computed | None) -> Ask | None:
        """Let the job go on with what was computed for it; return as ``start``."""
        self._answers.put(computed)
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


def run_together(store: TorchStore, jobs: Sequence[Job]) -> Iterator[None]:
    """Run a job in each lane to its end; yield after every pass of the network.

    Args:
        store: with at least as many lanes as there are jobs; its rows are dropped.
        jobs: one for a lane.

    Raises:
        Exception: what a job raises. The other jobs are ended then, as they are when the iterator
            is closed.
    """
    lanes = [Lane(store, number) for number in range(len(jobs))]
    try:
        asked: list[Ask | None] = []
        for number, (lane, job) in enumerate(zip(lanes, jobs, strict=True)):
            store.book.truncate(number, 0)
            asked.append(lane.start(job))
        while waiting := [ask for ask in asked if ask is not None]:
            for ask, computed in zip(waiting, store.feed(waiting), strict=True):
                asked[ask.lane] = lanes[ask.lane].answer(computed)
            yield
    finally:
        for lane in lanes:
            lane.stop()
