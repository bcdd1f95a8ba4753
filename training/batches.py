"""Rows become tensors: pools of examples sorted by length, padded, in an order one seed fixes."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from engine.attention import Attention, Bias
from engine.layout import IGNORE, NEVER, Places, Row
from engine.policy import Offline
from engine.prompt import Prompt
from engine.settings import LayoutSettings
from training.examples import build_samples
from training.methods import METHODS, Method
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
        share: of its sentence pair, of which prefix fine-tuning makes several.
    """

    rows: Sequence[Row]
    ends_writes: bool
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded tensors of several examples, one or more in a line.

    Attributes:
        ids, labels: int64, shape (B, T).
        places: where the rows stand, shape (B, T).
        ends_writes: bool, shape (B, T); the policy there chooses end-of-write.
        documents: int64, shape (B, T), which of a line's examples a row belongs to; None where a
            line holds one.
        n_pairs: sentence pairs in the batch.
    """

    ids: Tensor
    places: Places
    labels: Tensor
    ends_writes: Tensor
    documents: Tensor | None
    n_pairs: float

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
            self.n_pairs,
        )


def pad(examples: Sequence[Example]) -> Batch:
    """Put examples under each other; a padded row has time ``NEVER`` and nobody sees it."""
    return pack([[example] for example in examples])


def pack(lines: Sequence[Sequence[Example]]) -> Batch:
    """Put lines of examples under each other; examples of one line do not see each other."""
    length = max(sum(len(example.rows) for example in line) for line in lines)
    table = np.empty((len(lines), length, 7), dtype=np.int64)
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
        sum(example.share for line in lines for example in line),
    )


def make_examples(
    pair: CorpusPair,
    prompt: Prompt,
    method: Method,
    layout: LayoutSettings,
    mixture: Mixture,
    rng: random.Random,
) -> list[Example]:
    """Draw a policy for a pair and play it; prefix fine-tuning makes several examples."""
    policy = Offline() if method.offline else draw_policy(pair.pair, mixture, rng)
    samples = build_samples(
        cut_writes(pair.pair, policy, mixture, rng),
        policy,
        prompt,
        replace(layout, name=method.layout),
        marker_alone=rng.random() < mixture.marker_alone,
    )
    share = 1 / len(samples)
    return [Example(method.finish(rows), policy.ends_writes, share) for rows in samples]


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
        method: which samples are made of a pair.
    """

    pairs: Sequence[CorpusPair]
    prompts: Mapping[str, Prompt]
    weights: Mapping[str, float]
    mixture: Mixture
    layout: LayoutSettings
    batch_tokens: int
    seed: int
    method: Method = METHODS["exposst"]

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
        examples = [one for index in pool for one in self._examples(self.pairs[index], rng)]
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

    def _examples(self, pair: CorpusPair, rng: random.Random) -> list[Example]:
        prompt = self.prompts[pair.language]
        return make_examples(pair, prompt, self.method, self.layout, self.mixture, rng)
