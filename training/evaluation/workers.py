"""Translate a test set in several processes, each with a log of its own.

A line that a log holds whole is never translated again: the logs are the checkpoint of a run.
"""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TypeAlias

from engine.errors import SurtitleError
from engine.metrics.replay import read_events, replay
from engine.metrics.translation import Translation
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import WARM_UP, feed_line
from training.errors import TrainingError

CAPACITY = 4096
"""Cache rows: more than an utterance within the limits can take, even if every write runs away."""

Job: TypeAlias = tuple[str, int, str]
"""A policy, the index of a line and its text."""

_Message: TypeAlias = "tuple[str, int] | str"
"""What a worker sends: policy and index of a line that is done, or the sentence it failed with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How lines are translated.

    Attributes:
        system: one of ``engine.translation.factory.SYSTEMS``.
        model: weights and where to.
        translation: all but the policy.
        log_folder: where the logs go.
    """

    system: str
    model: ModelSettings
    translation: TranslationSettings
    log_folder: Path


@dataclass(frozen=True, slots=True)
class _Share:
    """What one worker does, and the number that its logs carry."""

    setup: Setup
    jobs: tuple[Job, ...]
    number: int


def log_paths(folder: Path, policy: str) -> list[Path]:
    """List the logs of a policy, oldest first."""
    return sorted(folder.glob(f"{policy}.*.jsonl"), key=_number)


def read_translations(
    folder: Path, policy: str, counts: Callable[[Translation], bool] = lambda _: True
) -> dict[int, Translation]:
    """Replay a policy's logs in a run folder; of a line that stands in several, the oldest counts.

    Args:
        folder: the run folder.
        policy: whose logs.
        counts: tells of a translation whether it is one of this run.

    Returns:
        by the number of the line.

    Raises:
        TrainingError: a log is garbled.
    """
    found: dict[int, Translation] = {}
    for path in log_paths(folder / "log", policy):
        for one in replay(read_events(path)):
            if counts(one):
                found.setdefault(one.index, one)
    return found


def next_number(folder: Path) -> int:
    """Find a number that no log in the folder carries; it is above all that do."""
    return max(map(_number, folder.glob("*.jsonl")), default=0) + 1


def _number(path: Path) -> int:
    return int(path.suffixes[-2][1:])


def translate(setup: Setup, jobs: Sequence[Job], n_workers: int) -> Iterator[str]:
    """Share the jobs among processes and yield the policy of each one that is done.

    The worker processes end when the iterator does.

    Raises:
        TrainingError: the model cannot be loaded, a log cannot be written, or a worker died.
    """
    n_workers = min(n_workers, len(jobs))
    setup.log_folder.mkdir(parents=True, exist_ok=True)
    first = next_number(setup.log_folder)
    shares = [
        _Share(setup, tuple(jobs[start::n_workers]), first + start) for start in range(n_workers)
    ]
    for message in _from_workers(shares):
        if isinstance(message, str):
            raise TrainingError(message)
        yield message[0]


def _from_workers(shares: Sequence[_Share]) -> Iterator[_Message]:
    """Start a process for each share and pass on what it sends; end them all at the end."""
    context = multiprocessing.get_context("spawn")
    workers: dict[Connection[None, _Message], SpawnProcess] = {}
    try:
        for share in shares:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(share, sender), daemon=True)
            process.start()
            sender.close()  # the child has its own: when that closes, the receiver tells the end
            workers[receiver] = process
        while workers:
            ready = wait(list(workers))
            for receiver in [one for one in workers if one in ready]:
                try:
                    yield receiver.recv()
                except EOFError:
                    _join(workers.pop(receiver))
    finally:
        for process in workers.values():
            process.terminate()
            process.join()


def _join(process: SpawnProcess) -> None:
    process.join()
    if process.exitcode:
        msg = (
            f"a worker process died (exit code {process.exitcode}): try again with --workers 1, "
            "what was translated is kept"
        )
        raise TrainingError(msg)


def _work(share: _Share, sender: "Connection[_Message, None]") -> None:
    """Be a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, which ends its workers
    with sender, suppress(BrokenPipeError):  # the parent was killed: nobody listens any more
        try:
            for message in _translations(share):
                sender.send(message)
        except SurtitleError as error:
            sender.send(str(error))
        except OSError as error:
            folder = share.setup.log_folder
            sender.send(
                f"the logs in {folder} cannot be written ({error.strerror or error}): "
                "make room and run again, what was translated is kept"
            )


def _translations(share: _Share) -> Iterator[tuple[str, int]]:
    """Load the model and translate a share, policy by policy."""
    import torch  # noqa: PLC0415  seconds, and only workers need it

    from engine.loading.loader import load_weights  # noqa: PLC0415
    from engine.metrics.event_log import EventLog  # noqa: PLC0415
    from engine.translation.factory import make_system  # noqa: PLC0415

    torch.set_num_threads(1)
    setup = share.setup
    weights = load_weights(setup.model)
    for policy in dict.fromkeys(policy for policy, _, _ in share.jobs):
        path = setup.log_folder / f"{policy}.{share.number}.jsonl"
        translation = replace(setup.translation, policy=policy)
        with EventLog(path) as log:
            system = make_system(setup.system, weights, translation, capacity=CAPACITY, log=log)
            # The first translation pays for first use and for the system prompt.
            feed_line(system, log, WARM_UP, "Hello.")
            for _, index, line in (job for job in share.jobs if job[0] == policy):
                feed_line(system, log, index, line)
                yield policy, index
