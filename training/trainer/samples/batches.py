"""Rows become tensors: examples in lines, lines in batches."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.layout.rows import IGNORE, NEVER, Places, Row
from engine.runtime.torch.attention import Attention, Bias


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
        """Make the tensors of a table."""
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
        """Rows in the batch, without padding."""
        return int((self.places.time != NEVER).sum())

    def bias(self, attention: Attention, *, ranked: bool = False) -> Bias:
        """Make the mask from positions, times and documents; see ``Attention.bias``."""
        apart = None
        if self.documents is not None:
            apart = self.documents[:, :, None] != self.documents[:, None, :]  # (B, T, T)
        return attention.bias(self.places, self.places, ranked=ranked, apart=apart)

    def to(self, device: torch.device) -> Self:
        """Move every tensor."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: it.to(device) for name, it in own.items() if it is not None})


def pad(examples: Sequence[Example]) -> Batch:
    """Make a batch of examples, one in a line."""
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
    """Write the rows of ``pack`` into one table."""
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
