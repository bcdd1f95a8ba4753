"""Rows become tensors: examples in lines, lines in batches."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine.inference.attention import Attention, Bias
from engine.layout.rows import IGNORE, NEVER, Places, Row


@dataclass(frozen=True, slots=True)
class Example:
    """The rows of one pair and what the policy forbade its model to choose.

    Attributes:
        rows: in arrival order, labels set.
        ends_writes: its policy chooses end-of-write, and never end-of-target.
        share: of its sentence pair, of which prefix fine-tuning makes several.
    """

    rows: Sequence[Row]
    ends_writes: bool
    share: float = 1.0


Line = list[Example]
"""Examples that share one line of a batch and do not see each other."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded tensors of several examples, one or more in a line.

    Attributes:
        ids, labels: int64, shape (B, T).
        places: where the rows stand, shape (B, T).
        ends_writes: bool, shape (B, T); the policy there chooses end-of-write.
        documents: int64, shape (B, T), which of a line's examples a row belongs to; None where a
            line holds one.
    """

    ids: Tensor
    places: Places
    labels: Tensor
    ends_writes: Tensor
    documents: Tensor | None

    @property
    def n_rows(self) -> int:
        """Rows in the batch, padding left out."""
        return int((self.places.time != NEVER).sum())

    def bias(self, attention: Attention, *, ranked: bool = False) -> Bias:
        """Draw the mask: what the one rule says and nothing else; see ``Attention.bias``."""
        apart = None
        if self.documents is not None:
            apart = self.documents[:, :, None] != self.documents[:, None, :]
        return attention.bias(self.places, self.places, ranked=ranked, apart=apart)

    def to(self, device: torch.device) -> "Batch":
        """Move every tensor."""
        return Batch(
            self.ids.to(device),
            self.places.to(device),
            self.labels.to(device),
            self.ends_writes.to(device),
            None if self.documents is None else self.documents.to(device),
        )


def pad(examples: Sequence[Example]) -> Batch:
    """Put examples under each other, one in a line."""
    return pack([[example] for example in examples])


def pack(lines: Sequence[Sequence[Example]], *, n_lines: int = 0, length: int = 0) -> Batch:
    """Put lines of examples under each other; a padded row has time ``NEVER`` and nobody sees it.

    Args:
        lines: examples of one line do not see each other.
        n_lines: lines that the batch has at least; those without an example are padding.
        length: rows that a line has at least.
    """
    length = max(length, *(sum(len(example.rows) for example in line) for line in lines))
    table = np.empty((max(len(lines), n_lines), length, 7), dtype=np.int64)
    table[:] = (0, 0, NEVER, IGNORE, 0, 0, -1)
    for index, line in enumerate(lines):
        start = 0
        for document, example in enumerate(line):
            end = start + len(example.rows)
            table[index, start:end, :5] = example.rows
            table[index, start:end, 5:] = (example.ends_writes, document)
            start = end
    columns = torch.from_numpy(table).unbind(-1)
    ids, positions, times, labels, shifts, ends_writes, documents = columns
    return Batch(
        ids,
        Places(positions, times, positions + shifts),
        labels,
        ends_writes.bool(),
        documents if any(len(line) > 1 for line in lines) else None,
    )
