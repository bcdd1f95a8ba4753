"""Rows become tensors: pools of examples sorted by length, padded, in an order one seed fixes."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine.attention import Attention, Bias
from engine.layout import IGNORE, NEVER, Places, Row
from engine.prompt import Prompt
from engine.settings import LayoutSettings
from training.examples import build_rows
from training.mixture import cut_writes, draw_policy
from training.pairs import CorpusPair
from training.settings import Mixture

POOL = 8192
"""Examples that are built, sorted by length and cut into batches together."""


@dataclass(frozen=True, slots=True)
class Example:
    """The rows of one pair and what the policy forbade its model to choose.

    Attributes:
        rows: in arrival order, labels set.
        ends_writes: its policy chooses end-of-write, and never end-of-target.
    """

    rows: Sequence[Row]
    ends_writes: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded tensors of several examples.

    Attributes:
        ids, labels: int64, shape (B, T).
        places: where the rows stand, shape (B, T).
        ends_writes: bool, shape (B,); the example's policy chooses end-of-write.
        n_pairs: sentence pairs in the batch.
    """

    ids: Tensor
    places: Places
    labels: Tensor
    ends_writes: Tensor

    @property
    def n_pairs(self) -> int:
        """Sentence pairs in the batch."""
        return self.ids.shape[0]

    @property
    def n_rows(self) -> int:
        """Rows in the batch, padding left out."""
        return int((self.places.time != NEVER).sum())

    def bias(self, attention: Attention, *, ranked: bool = False) -> Bias:
        """Draw the mask: what the one rule says and nothing else; see ``Attention.bias``."""
        return attention.bias(self.places, self.places, ranked=ranked)

    def to(self, device: torch.device) -> "Batch":
        """Move every tensor."""
        return Batch(
            self.ids.to(device),
            self.places.to(device),
            self.labels.to(device),
            self.ends_writes.to(device),
        )


def pad(examples: Sequence[Example]) -> Batch:
    """Put examples under each other; a padded row has time ``NEVER`` and nobody sees it."""
    length = max(len(example.rows) for example in examples)
    table = np.empty((len(examples), length, 5), dtype=np.int64)
    table[:] = (0, 0, NEVER, IGNORE, 0)
    for index, example in enumerate(examples):
        table[index, : len(example.rows)] = example.rows
    ids, positions, times, labels, shifts = torch.from_numpy(table).unbind(-1)
    places = Places(positions, times, positions + shifts)
    ends_writes = torch.tensor([example.ends_writes for example in examples])
    return Batch(ids, places, labels, ends_writes)


def epoch_order(
    pairs: Sequence[CorpusPair], weights: Mapping[str, float], rng: random.Random
) -> list[int]:
    """Shuffle one epoch: a corpus of weight 2.5 stands in it two or three times a pair."""
    order = list[int]()
    for index, pair in enumerate(pairs):
        weight = weights.get(pair.corpus, 1.0)
        copies = int(weight) + (rng.random() < weight % 1)
        order.extend([index] * copies)
    rng.shuffle(order)
    return order


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Endless batches; the same seed gives the same batches.

    Attributes:
        pairs: the training pairs.
        prompts: by target language.
        weights: copies an epoch holds, by corpus.
        batch_tokens: rows in a batch, padding included.
    """

    pairs: Sequence[CorpusPair]
    prompts: Mapping[str, Prompt]
    weights: Mapping[str, float]
    mixture: Mixture
    layout: LayoutSettings
    batch_tokens: int
    seed: int

    def epoch_size(self) -> float:
        """Expected pairs in an epoch."""
        return sum(self.weights.get(pair.corpus, 1.0) for pair in self.pairs)

    def batches(self, *, skip: int = 0) -> Iterator[Batch]:
        """Yield batches for ever, without the first ``skip``."""
        epoch = 0
        while True:
            rng = random.Random(f"{self.seed} epoch {epoch}")
            order = epoch_order(self.pairs, self.weights, rng)
            for start in range(0, len(order), POOL):
                pool = order[start : start + POOL]
                rng = random.Random(f"{self.seed} epoch {epoch} pool {start}")
                for batch in self._pool_batches(pool, rng):
                    if skip:
                        skip -= 1
                    else:
                        yield pad(batch)
            epoch += 1

    def _pool_batches(self, pool: Sequence[int], rng: random.Random) -> list[list[Example]]:
        examples = [self._example(self.pairs[index], rng) for index in pool]
        examples.sort(key=lambda example: len(example.rows))
        batches = list[list[Example]]()
        batch = list[Example]()
        for example in examples:
            if batch and (len(batch) + 1) * len(example.rows) > self.batch_tokens:
                batches.append(batch)
                batch = []
            batch.append(example)
        batches.append(batch)
        rng.shuffle(batches)
        return batches

    def _example(self, pair: CorpusPair, rng: random.Random) -> Example:
        policy = draw_policy(pair.pair, self.mixture, rng)
        rows = build_rows(
            cut_writes(pair.pair, policy, self.mixture, rng),
            policy,
            self.prompts[pair.language],
            self.layout,
            marker_alone=rng.random() < self.mixture.marker_alone,
        )
        return Example(rows, policy.ends_writes)
