"""The stream of steps: pairs in an order fixed by one seed, samples of each, in lines.

New bases and adapters are trained on the same stream; only the arrangement of examples in lines
differs. ``Padded`` has lines of one example each, and of nearly one length; ``Filled`` has lines of
several examples, and steps of one shape; ``Packed`` has a fixed number of pairs in each step.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from engine.settings import LayoutSettings
from engine.text.prompt import Prompt
from training.settings import Mixture
from training.trainer.samples.batches import Example, Line
from training.trainer.samples.examples import build_samples
from training.trainer.samples.methods import Method
from training.trainer.samples.mixture import cut_writes
from training.trainer.samples.pairs import CorpusPair

_ROUNDED = 4
"""Lengths of padded lines are multiples of this, so that products have full vectors."""


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
        """All examples, in order."""
        return [example for line in self.lines for example in line]

    @property
    def n_pairs(self) -> float:
        """Sentence pairs."""
        return sum(example.share for example in self.examples)

    @property
    def n_rows(self) -> int:
        """Rows, without padding."""
        return sum(len(example.rows) for example in self.examples)


@dataclass(frozen=True, slots=True)
class Padded:
    """Steps of lines of nearly one length, in random order.

    Attributes:
        batch_tokens: rows in a step, padding included; a longer example is a step of its own.
        block: pairs whose examples are arranged together.
    """

    batch_tokens: int
    block: int = 16384

    def name(self, epoch: int, start: int | None = None) -> str:
        """Return the part of the seed for an epoch, or for a block in it."""
        return f"epoch {epoch}" if start is None else f"epoch {epoch} pool {start}"

    def steps(self, examples: list[Example], rng: random.Random) -> Iterator[Lines]:
        """Sort examples by length and cut them into steps, from the longest on.

        The last two share their lines if the last alone would be less than half full.
        """
        steps = list[list[Line]]()
        fills = 0  # lines that the step at hand may have
        for example in sorted(examples, key=lambda example: -len(example.rows)):
            if not steps or len(steps[-1]) >= fills:
                steps.append([])
                fills = max(1, self.batch_tokens // padded_length(len(example.rows)))
            steps[-1].append([example])
        if len(steps) > 1 and 2 * len(steps[-1]) < fills:
            lines = steps[-2] + steps[-1]
            steps[-2:] = [lines[: len(lines) // 2], lines[len(lines) // 2 :]]
        rng.shuffle(steps)
        for lines in steps:
            yield Lines(
                lines, (len(lines), padded_length(max(len(line[0].rows) for line in lines)))
            )


@dataclass(frozen=True, slots=True)
class Filled:
    """Steps of one shape, whose lines hold several examples each: what a GPU computes fastest.

    The last step of a block has fewer lines, and the rest is padding.

    Attributes:
        n_lines: in a step.
        line_rows: rows of a line; an example that is longer makes its step longer, too.
        block: pairs whose examples are arranged together.
    """

    n_lines: int
    line_rows: int
    block: int = 16384

    def name(self, epoch: int, start: int | None = None) -> str:
        """Return the part of the seed for an epoch, or for a block in it."""
        return f"epoch {epoch}" if start is None else f"epoch {epoch} block {start}"

    def steps(self, examples: list[Example], rng: random.Random) -> Iterator[Lines]:
        """Pack examples into lines, and cut these in random order into steps."""
        lines = pack_lines(examples, self.line_rows)
        rng.shuffle(lines)
        for start in range(0, len(lines), self.n_lines):
            yield Lines(lines[start : start + self.n_lines], (self.n_lines, self.line_rows))


@dataclass(frozen=True, slots=True)
class Packed:
    """Steps of a fixed number of pairs, packed into lines.

    Attributes:
        block: pairs in a step; the last step of an epoch has fewer.
        line_rows: rows a line may have; a longer example has a line of its own.
    """

    block: int
    line_rows: int

    def name(self, epoch: int, start: int | None = None) -> str:
        """Return the part of the seed for an epoch, or for a block in it."""
        return str(("epoch", epoch) if start is None else ("epoch", epoch, "pair", start))

    def steps(self, examples: list[Example], rng: random.Random) -> Iterator[Lines]:  # noqa: ARG002  their order is the step
        """Yield one step of all examples."""
        yield Lines(pack_lines(examples, self.line_rows))


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
        pairs: the training pairs.
        prompts: by target language.
        weights: copies of a corpus in an epoch, by its name; 1 by default.
        method: makes the samples of a pair.
        mixture: the policies to draw.
        slot_lengths: one is drawn for each pair.
        arrangement: of examples in steps.
    """

    pairs: Sequence[CorpusPair]
    prompts: Mapping[str, Prompt]
    weights: Mapping[str, float]
    method: Method
    mixture: Mixture
    slot_lengths: tuple[int, ...]
    arrangement: Padded | Filled | Packed
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
        examples = self._all_examples(block.chosen, rng)
        for lines in self.arrangement.steps(examples, rng):
            if skip_pairs > 0:
                skip_pairs -= round(lines.n_pairs)
            else:
                yield lines

    def _rng(self, epoch: int, start: int | None = None) -> random.Random:
        return random.Random(f"{self.seed} {self.arrangement.name(epoch, start)}")

    def _all_examples(self, chosen: Sequence[int], rng: random.Random) -> list[Example]:
        return [each for index in chosen for each in self._examples(index, rng)]

    def _examples(self, index: int, rng: random.Random) -> list[Example]:
        """Draw a policy for a pair and play it; prefix fine-tuning makes several examples."""
        pair, slot_length = self.pairs[index], self.slot_lengths[0]
        if len(self.slot_lengths) > 1:
            slot_length = rng.choice(self.slot_lengths)
        policy, prompt = self.method.draw(pair.pair, self.mixture, rng), self.prompts[pair.language]
        samples = build_samples(
            cut_writes(pair.pair, policy, self.mixture, rng),
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


def padded_length(n_rows: int) -> int:
    """Return the length that an example of ``n_rows`` rows is padded to."""
    return -(-n_rows // _ROUNDED) * _ROUNDED
