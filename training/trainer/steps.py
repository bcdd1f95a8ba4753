"""Steps of a run: the lines of a stream, divided among processes and into passes."""

import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice

from engine.layout.rows import IGNORE
from training.trainer.checkpoint import Counters
from training.trainer.distributed import Processes
from training.trainer.samples.batches import Batch, Line, Table, pack, tabulate
from training.trainer.samples.stream import Block, Lines, Stream


@dataclass(frozen=True, slots=True)
class Pass:
    """A batch that is computed at once.

    Attributes:
        batch: the rows.
        share: of the step's labelled rows; 0 for a pass that only keeps in step with other
            processes.
    """

    batch: Batch
    share: float


@dataclass(frozen=True, slots=True)
class Step:
    """One update of the weights.

    Attributes:
        passes: of this process.
        n_pairs: sentence pairs of all processes; likewise ``n_rows``, without padding.
    """

    passes: Sequence[Pass]
    n_pairs: float
    n_rows: int


def share_steps(
    stream: Stream, processes: Processes, pass_tokens: int, taken: Counters
) -> Iterator[Step]:
    """Yield this process's part of each step; all processes have equally many passes.

    Args:
        stream: the steps.
        processes: lines are divided among them.
        pass_tokens: rows in a pass, padding included; a longer line has a pass of its own.
        taken: counters of the steps taken before.
    """
    for lines in stream.steps(skip_pairs=taken.pairs):
        yield share_step(lines, processes.rank, processes.n_processes, pass_tokens)


def share_step(step: Lines, rank: int, n_processes: int, pass_tokens: int) -> Step:
    """Divide the lines of a step; a step with a shape is one pass of one process."""
    if step.shape is not None:
        return _whole(_tabulated(step))
    lines, n_rows = step.lines, step.n_rows
    dealt = [_chunks(lines[first::n_processes], pass_tokens) for first in range(n_processes)]
    n_labels = sum(map(_n_labels, lines))
    passes = [Pass(pack(chunk), sum(map(_n_labels, chunk)) / n_labels) for chunk in dealt[rank]]
    while len(passes) < max(map(len, dealt)):
        passes.append(Pass(pack(lines[-1:]), 0.0))  # libraries wait for every process
    return Step(passes, n_pairs=step.n_pairs, n_rows=n_rows)


@dataclass(frozen=True, slots=True)
class _Tabulated:
    """A step of one shape on its way between processes: numbers, no tensors."""

    table: Table
    n_pairs: float
    n_rows: int


_STREAM: Stream | None = None
"""Of a process that builds steps for another."""


def steps_ahead(stream: Stream, n_workers: int, taken: Counters) -> Iterator[Step]:
    """Yield the steps of ``share_steps`` for one process, built ahead by others.

    A GPU takes more rows than one process can build: about 100,000 a second.

    Args:
        stream: all its steps have a shape.
        n_workers: processes that build steps, a block of the stream each.
        taken: counters of the steps taken before.
    """
    ready = deque[Future[list[_Tabulated]]]()
    blocks = stream.blocks(skip_pairs=taken.pairs)
    pool = ProcessPoolExecutor(
        n_workers, multiprocessing.get_context(), _take_stream, (stream, os.getpid())
    )
    try:
        while True:
            for block in islice(blocks, 2 * n_workers - len(ready)):
                ready.append(pool.submit(_tabulated_block, block))
            yield from map(_whole, ready.popleft().result())
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _take_stream(stream: Stream, parent: int) -> None:
    global _STREAM  # noqa: PLW0603  of a process of its own
    _STREAM = stream
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent was killed: the pool's pipes would keep it waiting."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _tabulated_block(block: Block) -> list[_Tabulated]:
    assert _STREAM is not None
    return [_tabulated(lines) for lines in _STREAM.block_steps(block)]


def _tabulated(step: Lines) -> _Tabulated:
    assert step.shape is not None
    n_lines, length = step.shape
    table = tabulate(step.lines, n_lines=n_lines, length=length)
    return _Tabulated(table, step.n_pairs, step.n_rows)


def _whole(one: _Tabulated) -> Step:
    """Make a step of one pass."""
    return Step([Pass(Batch.of(one.table), 1.0)], n_pairs=one.n_pairs, n_rows=one.n_rows)


def _chunks(lines: Sequence[Line], pass_tokens: int) -> list[list[Line]]:
    chunks = list[list[Line]]()
    longest = 0
    for line in lines:
        n_rows = sum(len(example.rows) for example in line)
        longest = max(longest, n_rows)
        if not chunks or (len(chunks[-1]) + 1) * longest > pass_tokens:
            chunks.append([])
            longest = n_rows
        chunks[-1].append(line)
    return chunks


def _n_labels(line: Line) -> int:
    return sum(row.label != IGNORE for example in line for row in example.rows)
