"""The stream of steps: examples in lines, lines in batches, batches in steps, all by one seed.

Steps are divided among processes and into passes, but for those of one shape.
"""

import multiprocessing
import os
import random
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, fields, replace
from itertools import count, islice
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.layout.rows import IGNORE, NEVER, Places, Row
from engine.runtime.torch.attention import Attention, Bias
from engine.settings import LayoutSettings
from engine.text.prompt import Prompt
from training.settings import Mixture
from training.trainer.checkpoint import Counters
from training.trainer.processes import Processes
from training.trainer.samples import CorpusPair, Method, build_samples


@dataclass(frozen=True, slots=True)
class Example:
    """The rows of one pair, and which marker its policy forbids.

    Attributes:
        rows: in arrival order, labels set.
        ends_writes: its policy chooses end-of-write, and never end-of-target.
        share: of its sentence pair; prefix fine-tuning makes several examples of a pair.
        advantage: by how much its reward exceeds that of others, if it is a sampled trajectory.
    """

    rows: Sequence[Row]
    ends_writes: bool
    share: float = 1.0
    advantage: float = 0.0


Line = list[Example]
"""Examples that share one line of a batch and do not see each other."""


@dataclass(frozen=True, slots=True)
class Table:
    """A batch as numbers, which processes can hand to each other.

    Attributes:
        numbers: int64, shape (B, T, 7): the fields of a row, whether its policy ends writes, and
            the index of its example in its line.
        advantages: float32, shape (B, T).
        shared: some line has several examples.
    """

    numbers: NDArray[np.int64]
    advantages: NDArray[np.float32]
    shared: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded tensors of several examples, one or more in a line.

    Attributes:
        ids, labels: int64, shape (B, T).
        places: positions and times of the rows, shape (B, T).
        ends_writes: bool, shape (B, T); whether the row's policy chooses end-of-write.
        documents: int64, shape (B, T), index of a row's example in its line; None if each line has
            one example.
        advantages: float32, shape (B, T); that of the row's example, 0 for padding.
    """

    ids: Tensor
    places: Places
    labels: Tensor
    ends_writes: Tensor
    documents: Tensor | None
    advantages: Tensor

    @classmethod
    def of(cls, table: "Table") -> "Batch":
        columns = torch.from_numpy(table.numbers).unbind(-1)  # 7 of (B, T)
        ids, positions, times, labels, shifts, ends_writes, documents = columns
        return cls(
            ids,
            Places(positions, times, positions + shifts),
            labels,
            ends_writes.bool(),
            documents if table.shared else None,
            torch.from_numpy(table.advantages),
        )

    @property
    def n_rows(self) -> int:
        return int((self.places.time != NEVER).sum())

    def bias(self, attention: Attention, *, ranked: bool = False) -> Bias:
        """Make the mask from positions, times and documents; see ``Attention.bias``."""
        apart = None
        if self.documents is not None:
            apart = self.documents[:, :, None] != self.documents[:, None, :]  # (B, T, T)
        return attention.bias(self.places, self.places, ranked=ranked, apart=apart)

    def to(self, device: torch.device) -> Self:
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: it.to(device) for name, it in own.items() if it is not None})


def pad(examples: Sequence[Example]) -> Batch:
    return pack([[example] for example in examples])


def pack(lines: Sequence[Sequence[Example]], *, n_lines: int = 0, length: int = 0) -> Batch:
    """Make a batch of lines of examples; a padded row has time ``NEVER``, so no row sees it.

    Args:
        lines: examples of one line do not see each other.
        n_lines: minimum of lines; lines without an example are padding.
        length: minimum of rows in a line.
    """
    return Batch.of(tabulate(lines, n_lines=n_lines, length=length))


def tabulate(lines: Sequence[Sequence[Example]], *, n_lines: int = 0, length: int = 0) -> Table:
    length = max(length, *(sum(len(example.rows) for example in line) for line in lines))
    numbers = np.empty((max(len(lines), n_lines), length, 7), dtype=np.int64)
    numbers[:] = (0, 0, NEVER, IGNORE, 0, 0, -1)  # (B, T, 7)
    advantages = np.zeros(numbers.shape[:2], np.float32)  # (B, T)
    for index, line in enumerate(lines):
        start = 0
        for document, example in enumerate(line):
            end = start + len(example.rows)
            numbers[index, start:end, :5] = example.rows
            numbers[index, start:end, 5:] = (example.ends_writes, document)
            advantages[index, start:end] = example.advantage
            start = end
    return Table(numbers, advantages, shared=any(len(line) > 1 for line in lines))


@dataclass(frozen=True, slots=True)
class Lines:
    """The examples of one update of the weights.

    Attributes:
        lines: examples of one line do not see each other.
        shape: lines and rows of their one batch, padding included; None if they may be divided into
            passes.
    """

    lines: Sequence[Line]
    shape: tuple[int, int] | None = None

    @property
    def examples(self) -> list[Example]:
        return [example for line in self.lines for example in line]

    @property
    def n_pairs(self) -> float:
        return sum(example.share for example in self.examples)

    @property
    def n_rows(self) -> int:
        return sum(len(example.rows) for example in self.examples)


@dataclass(frozen=True, slots=True)
class Filled:
    """The arrangement of examples: lines hold several, which do not see each other.

    Attributes:
        block: pairs whose examples are arranged together.
        line_rows: rows of a line; a longer example has a line of its own.
        n_lines: of a step, so that all steps have one shape: what a GPU computes fastest. The last
            step of a block has fewer lines, and the rest is padding. 0: a block is a step.
    """

    block: int
    line_rows: int
    n_lines: int = 0

    def steps(self, examples: list[Example], rng: random.Random) -> Iterator[Lines]:
        """Pack examples into lines, and cut these in random order into steps."""
        lines = pack_lines(examples, self.line_rows)
        if not self.n_lines:
            yield Lines(lines)
            return
        rng.shuffle(lines)
        for start in range(0, len(lines), self.n_lines):
            yield Lines(lines[start : start + self.n_lines], (self.n_lines, self.line_rows))


@dataclass(frozen=True, slots=True)
class Block:
    """Pairs that are arranged together.

    Attributes:
        epoch, start: where it stands in the stream.
        chosen: indices of its pairs.
        skip_pairs: how many of them were used before.
    """

    epoch: int
    start: int
    chosen: Sequence[int]
    skip_pairs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Endless steps; equal seeds give equal steps, from any starting point.

    Attributes:
        prompts: by target language.
        weights: copies of a corpus in an epoch, by its name; 1 by default.
        method: makes the samples of a pair.
        slot_lengths: one is drawn for each pair.
        arrangement: of examples in lines and steps.
    """

    pairs: Sequence[CorpusPair]
    prompts: Mapping[str, Prompt]
    weights: Mapping[str, float]
    method: Method
    mixture: Mixture
    slot_lengths: tuple[int, ...]
    arrangement: Filled
    seed: int

    def epoch_size(self) -> float:
        """Expected pairs in an epoch."""
        return sum(self.weights.get(pair.corpus, 1.0) for pair in self.pairs)

    def steps(self, *, skip_pairs: int = 0) -> Iterator[Lines]:
        """Yield steps without end, omitting those of the first ``skip_pairs`` pairs."""
        for block in self.blocks(skip_pairs=skip_pairs):
            yield from self.block_steps(block)

    def blocks(self, *, skip_pairs: int = 0) -> Iterator["Block"]:
        """Yield the blocks of these steps; each can be built on its own."""
        size = self.arrangement.block
        for epoch in count():
            order = epoch_order(self.pairs, self.weights, self._rng(epoch))
            for start in range(0, len(order), size):
                chosen = order[start : start + size]
                skipped, skip_pairs = skip_pairs, max(0, skip_pairs - len(chosen))
                if skipped < len(chosen):
                    yield Block(epoch, start, chosen, skipped)

    def block_steps(self, block: "Block") -> Iterator[Lines]:
        """Build the steps of a block, but for those of the pairs that it skips."""
        rng, skip_pairs = self._rng(block.epoch, block.start), block.skip_pairs
        examples = [each for index in block.chosen for each in self._examples(index, rng)]
        for lines in self.arrangement.steps(examples, rng):
            if skip_pairs > 0:
                skip_pairs -= round(lines.n_pairs)
            else:
                yield lines

    def _rng(self, epoch: int, start: int | None = None) -> random.Random:
        block = "" if start is None else f" block {start}"
        return random.Random(f"{self.seed} epoch {epoch}{block}")

    def _examples(self, index: int, rng: random.Random) -> list[Example]:
        """Draw a policy for a pair and play it; prefix fine-tuning makes several examples."""
        pair, slot_length = self.pairs[index], self.slot_lengths[0]
        if len(self.slot_lengths) > 1:
            slot_length = rng.choice(self.slot_lengths)
        policy, prompt = self.method.draw(pair.pair, self.mixture, rng), self.prompts[pair.language]
        samples = build_samples(
            pair.pair,
            policy,
            prompt,
            LayoutSettings(slot_length=slot_length, name=self.method.layout),
            marker_alone=rng.random() < self.mixture.marker_alone,
        )
        finished = [self.method.finish(rows, policy, prompt) for rows in samples]
        return [Example(rows, policy.ends_writes, 1 / len(samples)) for rows in finished]


def epoch_order(
    pairs: Sequence[CorpusPair], weights: Mapping[str, float], rng: random.Random
) -> list[int]:
    """Shuffle one epoch: with weight 2.5 a pair occurs two or three times."""
    order = list[int]()
    for index, pair in enumerate(pairs):
        weight = weights.get(pair.corpus, 1.0)
        copies = int(weight) + (rng.random() < weight % 1)
        order.extend([index] * copies)
    rng.shuffle(order)
    return order


def pack_lines(examples: Sequence[Example], line_rows: int) -> list[Line]:
    """Pack examples, longest first, each into the fullest line that has room for it."""
    lines = list[Line]()
    by_room: list[list[int]] = [[] for _ in range(line_rows + 1)]  # lines by their free rows
    for example in sorted(examples, key=lambda example: -len(example.rows)):
        n_rows = len(example.rows)
        room = next((room for room in range(n_rows, line_rows + 1) if by_room[room]), None)
        if room is None:
            lines.append([])
            index, room = len(lines) - 1, max(line_rows, n_rows)
        else:
            index = by_room[room].pop()
        lines[index].append(example)
        by_room[room - n_rows].append(index)
    return lines


@dataclass(frozen=True, slots=True)
class Pass:
    """A batch that is computed at once.

    Attributes:
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


_Tabulated = tuple[Table, float, int]
"""A step of one shape on its way between processes: numbers, no tensors; its pairs and rows."""

_STREAM: Stream | None = None
"""Of a process that builds steps for another."""


def steps_ahead(stream: Stream, n_workers: int, taken: Counters) -> Iterator[Step]:
    """Yield the steps of ``share_steps`` for one process, built ahead by others.

    A GPU takes more rows than one process can build: about 100,000 a second.

    Args:
        stream: all its steps have a shape.
        n_workers: processes that build steps, a block of the stream each.
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
    return table, step.n_pairs, step.n_rows


def _whole(one: _Tabulated) -> Step:
    table, n_pairs, n_rows = one
    return Step([Pass(Batch.of(table), 1.0)], n_pairs=n_pairs, n_rows=n_rows)


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
