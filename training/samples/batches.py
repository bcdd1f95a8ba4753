"""Rows become tensors: pools of examples sorted by length, padded, in an order one seed fixes."""

import random
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from engine.inference.attention import Attention, Bias
from engine.layout.rows import IGNORE, NEVER, Places, Row
from engine.policy import Offline
from engine.settings import LayoutSettings
from engine.text.prompt import Prompt
from training.samples.examples import build_samples
from training.samples.methods import METHODS, Method
from training.samples.mixture import cut_writes, draw_policy
from training.samples.pairs import CorpusPair
from training.settings import Mixture

POOL = 8192
"""Pairs whose examples are built, sorted by length and cut into batches together."""

LENGTHS = (24, 28, 34, 40, 48, 58, 72, 90, 116, 150, 200, 320)
"""Rows a line is padded to; beyond the last one, to a multiple of 64.

Few lengths mean few shapes of batches, so that compiled code fits them.
"""


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


def pad(examples: Sequence[Example], *, n_lines: int = 0, length: int = 0) -> Batch:
    """Put examples under each other; a padded row has time ``NEVER`` and nobody sees it.

    Args:
        examples: one for each line.
        n_lines: lines that the batch has at least; those without an example are padding.
        length: rows that a line has at least.
    """
    return pack([[example] for example in examples], n_lines=n_lines, length=length)


def pack(lines: Sequence[Sequence[Example]], *, n_lines: int = 0, length: int = 0) -> Batch:
    """Put lines of examples under each other; examples of one line do not see each other."""
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
        batch_tokens: rows in a batch, padding included; a longer line is a batch of its own.
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

    def batches(self, *, skip_pairs: int = 0) -> Iterator[Batch]:
        """Yield batches for ever, without those of the first ``skip_pairs`` pairs."""
        epoch = 0
        while True:
            rng = random.Random(f"{self.seed} epoch {epoch}")
            order = epoch_order(self.pairs, self.weights, rng)
            if skip_pairs >= len(order):
                skip_pairs -= len(order)
                order = []
            for start in range(0, len(order), POOL):
                pool = order[start : start + POOL]
                if skip_pairs >= len(pool):
                    skip_pairs -= len(pool)
                    continue
                rng = random.Random(f"{self.seed} epoch {epoch} pool {start}")
                for batch in self._pool_batches(pool, rng):
                    if skip_pairs:
                        skip_pairs -= round(batch.n_pairs)
                    else:
                        yield batch
            epoch += 1

    def _pool_batches(self, pool: Sequence[int], rng: random.Random) -> Iterator[Batch]:
        """Cut a pool into batches of one padded length each, in random order.

        The examples that do not fill a batch of their length go into the next longer one; the last
        batch is filled up with padding.
        """
        examples = [one for index in pool for one in self._examples(self.pairs[index], rng)]
        by_length = defaultdict[int, list[Example]](list)
        for example in examples:
            by_length[padded_length(len(example.rows))].append(example)
        batches = list[tuple[int, list[Example]]]()
        left = list[Example]()
        for length, fitting in sorted(by_length.items()):
            left += fitting
            n_lines = self._n_lines(length)
            while len(left) > n_lines:
                batches.append((length, left[-n_lines:]))
                del left[-n_lines:]
        batches.append((max(by_length), left))
        rng.shuffle(batches)
        for length, lines in batches:
            yield pad(lines, n_lines=self._n_lines(length), length=length)

    def _n_lines(self, length: int) -> int:
        return max(1, self.batch_tokens // length)

    def _examples(self, pair: CorpusPair, rng: random.Random) -> list[Example]:
        prompt = self.prompts[pair.language]
        return make_examples(pair, prompt, self.method, self.layout, self.mixture, rng)


def padded_length(n_rows: int) -> int:
    """Name the length that an example of ``n_rows`` rows is padded to."""
    index = bisect_left(LENGTHS, n_rows)
    return LENGTHS[index] if index < len(LENGTHS) else -(-n_rows // 64) * 64
