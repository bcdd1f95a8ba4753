"""Measure a model on a test set: translate it live, replay the logs, score, write the run folder.

Files in the run folder, for each policy:

* ``log/POLICY.N.jsonl``: the event logs, from which all else is computed; their schema is in
  ``engine.metrics.event_log``. A run that was killed resumes from them: a line that a log holds
  whole is never translated again.
* ``POLICY.hyp``: the hypotheses, a line for a line of the source.
* ``POLICY.jsonl``: an object for each line, the fields of ``Translation`` and the reference.

For all policies together: ``run.json`` (the settings) and ``summary.json`` (a list of ``Scores``).
"""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tqdm import tqdm

from engine.errors import SurtitleError
from engine.metrics.event_log import EventLog, Translation, read_events, replay
from engine.translation.feed import WARM_UP, Arrival, feed_line, line_steps
from training.data.corpus import read_pairs, replacing, write_json, write_lines
from training.errors import TrainingError
from training.evaluation.models import convert_once
from training.evaluation.runs import RunRecord, RunSettings, arrivals_of, write_translations

if TYPE_CHECKING:
    from engine.runtime.causal_model import AnyModel, Asking
    from engine.runtime.loader import AnyWeights
    from engine.runtime.torch.torch_loader import TorchWeights
    from engine.translation.conversation import Conversation
    from training.evaluation.scores import Scores

CAPACITY = 4096
"""Cache rows: more than an utterance within the limits can take, even if every write loops."""

Line: TypeAlias = tuple[int, str, Sequence[Arrival]]
"""The index of a line, its text, and when its words come."""

Job: TypeAlias = tuple[str, Line]
"""A policy, and a line to translate."""

_Message: TypeAlias = "tuple[str, int] | str"
"""From a worker: policy and index of a finished line, or one sentence about its failure."""


def evaluate(settings: RunSettings) -> "list[Scores]":
    """Translate the lines that no log holds yet, write the files, return the scores."""
    from training.evaluation.scores import score  # noqa: PLC0415  sacreBLEU; help must not wait for it

    pairs = list(read_pairs((settings.source, settings.reference)))[: settings.limit]
    language = settings.translation.target_language
    texts = [pair.source for pair in pairs]
    arrivals = arrivals_of(settings.arrivals, [len(text.split()) for text in texts])
    convert_once(settings.model)
    system = settings.resolved.system
    RunRecord.of(settings, system).claim(settings.out)
    with replacing(settings.out / "summary.json") as summary:  # fails now if it cannot be written
        _translate_missing(settings, list(zip(range(len(texts)), texts, arrivals, strict=True)))
        scores = list["Scores"]()
        references = [pair.target for pair in pairs]
        for policy in settings.policies:
            by_index = read_translations(settings.out, policy)
            translations = [by_index[index] for index in range(len(pairs))]
            write_lines(settings.out / f"{policy}.hyp", [each.hypothesis for each in translations])
            more = [{"reference": reference} for reference in references]
            write_translations(settings.out, policy, translations, more)
            own = score(policy, system, translations, references, language)
            scores.append(replace(own, timed=settings.batch == 1))
        write_json(summary, [each.row() for each in scores])
    return scores


def _translate_missing(settings: RunSettings, lines: list[Line]) -> None:
    jobs = list[Job]()
    for policy in settings.policies:
        done = read_translations(settings.out, policy)
        jobs += [(policy, line) for line in lines if line[0] not in done]
    if jobs:
        total = len(lines) * len(settings.policies)
        show_progress(translate(settings, jobs), total=total, left=len(jobs), unit=" lines")


@dataclass(frozen=True, slots=True)
class _Share:
    """The jobs of one worker, and the first number in the names of its logs."""

    settings: RunSettings
    jobs: tuple[Job, ...]
    number: int


def log_paths(folder: Path, policy: str) -> list[Path]:
    """List the logs of a policy, oldest first."""
    paths = folder.glob(f"{policy}.*.jsonl")
    # of adaptive:0, not of adaptive:0.5
    return sorted((path for path in paths if path.stem == f"{policy}.{_number(path)}"), key=_number)


def read_translations(
    folder: Path, policy: str, counts: Callable[[Translation], bool] = lambda _: True
) -> dict[int, Translation]:
    """Replay a policy's logs in a run folder; of a line in several logs, the oldest counts.

    Args:
        counts: returns whether a translation belongs to this run.

    Returns:
        translations by the index of the line.
    """
    by_index: dict[int, Translation] = {}
    for path in log_paths(folder / "log", policy):
        for translation in replay(read_events(path)):
            if counts(translation):
                by_index.setdefault(translation.index, translation)
    return by_index


def show_progress(policies: Iterable[str], *, total: int, left: int, unit: str) -> None:
    """Exhaust an iterator of finished steps under a progress bar that shows their policies."""
    with tqdm(total=total, initial=total - left, unit=unit, disable=None, leave=False) as bar:
        for policy in policies:
            bar.set_postfix_str(policy, refresh=False)
            bar.update()


@contextmanager
def logged_system(
    settings: RunSettings,
    weights: "AnyWeights",
    policy: str,
    number: int,
    capacity: int,
    model: "AnyModel | None" = None,
) -> "Iterator[tuple[Conversation, EventLog]]":
    """Make a system that writes into a new log; arguments as of ``make_system``."""
    from engine.translation.factory import make_system  # noqa: PLC0415  torch: only workers need it

    translation = replace(settings.translation, policy=policy)
    with EventLog(settings.out / "log" / f"{policy}.{number}.jsonl") as log:
        system = make_system(
            settings.model.system, weights, translation, capacity=capacity, log=log, model=model
        )
        yield system, log


def warm_up(system: "Conversation", log: EventLog) -> "Asking[None]":
    """Translate a line that is not counted: it pays for first use and for the system prompt."""
    return line_steps(system, log, WARM_UP, "Hello.")


def next_number(folder: Path) -> int:
    """Return a number above those of all logs in the folder."""
    return max(map(_number, folder.glob("*.jsonl")), default=0) + 1


def _number(path: Path) -> int:
    return int(path.suffixes[-2][1:])


def translate(settings: RunSettings, jobs: Sequence[Job]) -> Iterator[str]:
    """Share the jobs among processes and yield the policy of each finished job.

    The worker processes end when the iterator does.
    """
    n_workers = min(settings.n_workers, len(jobs))
    log_folder = settings.out / "log"
    log_folder.mkdir(parents=True, exist_ok=True)
    first = next_number(log_folder)
    shares = [
        _Share(settings, tuple(jobs[start::n_workers]), first + start * settings.batch)
        for start in range(n_workers)
    ]
    for message in _from_workers(shares):
        if isinstance(message, str):
            raise TrainingError(message)
        yield message[0]


def _from_workers(shares: Sequence[_Share]) -> Iterator[_Message]:
    """Start a process for each share and yield its messages; end all processes at the end."""
    context = multiprocessing.get_context("spawn")
    workers: dict[Connection[None, _Message], SpawnProcess] = {}
    try:
        for share in shares:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(share, sender), daemon=True)
            process.start()
            sender.close()  # the child has its own: when that closes, the receiver gets EOFError
            workers[receiver] = process
        while workers:
            ready = wait(list(workers))
            for receiver in [receiver for receiver in workers if receiver in ready]:
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, which ends its workers
    with sender, suppress(BrokenPipeError):  # the parent was killed
        try:
            for message in _translations(share):
                sender.send(message)
        except SurtitleError as error:
            sender.send(str(error))
        except OSError as error:
            folder = share.settings.out / "log"
            sender.send(
                f"the logs in {folder} cannot be written ({error.strerror or error}): "
                "make room and run again, what was translated is kept"
            )


def _translations(share: _Share) -> Iterator[tuple[str, int]]:
    import torch  # noqa: PLC0415  seconds, and only workers need it

    from engine.runtime.loader import load_by_torch, load_weights  # noqa: PLC0415

    torch.set_num_threads(1)
    settings = share.settings
    translate_lines = (
        partial(_one_by_one, share, load_weights(settings.model))
        if settings.batch == 1
        else partial(_side_by_side, share, load_by_torch(settings.model))
    )
    for policy in dict.fromkeys(policy for policy, _ in share.jobs):
        lines = [line for own, line in share.jobs if own == policy]
        for index in translate_lines(policy, lines):
            yield policy, index


def _one_by_one(
    share: _Share, weights: "AnyWeights", policy: str, lines: Sequence[Line]
) -> Iterator[int]:
    with logged_system(share.settings, weights, policy, share.number, CAPACITY) as (system, log):
        system.model.run(warm_up(system, log))
        for index, line, arrivals in lines:
            feed_line(system, log, index, line, arrivals)
            yield index


def _side_by_side(
    share: _Share, weights: "TorchWeights", policy: str, lines: Sequence[Line]
) -> Iterator[int]:
    """Translate lines in lanes that compute together, each with a log; yield finished indices."""
    from engine.runtime.causal_model import CausalModel, run_together  # noqa: PLC0415  as above
    from engine.runtime.torch.torch_store import TorchStore  # noqa: PLC0415

    n_lanes = min(share.settings.batch, len(lines))
    # long ones first, so that no lane works alone at the end
    waiting = iter(sorted(lines, key=lambda line: -len(line[1])))
    finished = deque[int]()

    def work(lane: int) -> "Asking[None]":
        model, number = CausalModel(store, lane), share.number + lane
        with logged_system(share.settings, weights, policy, number, CAPACITY, model) as opened:
            yield from warm_up(*opened)
            for index, line, arrivals in waiting:
                yield from line_steps(*opened, index, line, arrivals)
                finished.append(index)

    store = TorchStore(weights.network, n_lanes, CAPACITY)
    for _ in run_together(store, [work(lane) for lane in range(n_lanes)]):
        while finished:
            yield finished.popleft()
    yield from finished
