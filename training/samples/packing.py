"""Steps of fine-tuning: so many sentence pairs each, packed into lines without padding between."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.settings import LayoutSettings
from engine.text.prompt import Prompt
from training.samples.batches import Example, epoch_order, make_examples
from training.samples.methods import Method
from training.samples.pairs import CorpusPair
from training.settings import Mixture

Line = list[Example]
"""Examples that share one line of a batch and do not see each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStream:
    """Endless steps; the same seed gives the same steps, from wherever it is begun.

    Attributes:
        pairs: the training pairs.
        prompts: by target language.
        weights: copies of a corpus an epoch holds, by its name; 1 where it is not named.
        method: which samples are made of a pair.
        mixture: the policies drawn.
        slot_lengths: of which one is drawn for each pair.
        step_pairs: pairs in a step; the last step of an epoch has fewer.
        line_rows: rows a line may have; a longer example has a line of its own.
    """

    pairs: Sequence[CorpusPair]
    prompts: Mapping[str, Prompt]
    weights: Mapping[str, float]
    method: Method
    mixture: Mixture
    slot_lengths: tuple[int, ...]
    step_pairs: int
    line_rows: int
    seed: int

    def epoch_size(self) -> float:
        """Expected pairs in an epoch."""
        return sum(self.weights.get(pair.corpus, 1.0) for pair in self.pairs)

    def steps(self, *, skip: int = 0) -> Iterator[list[Line]]:
        """Yield the lines of each step for ever, without the first ``skip`` steps."""
        epoch = 0
        while True:
            order = epoch_order(self.pairs, self.weights, self._rng("epoch", epoch))
            for start in range(0, len(order), self.step_pairs):
                if skip:
                    skip -= 1
                    continue
                rng = self._rng("epoch", epoch, "pair", start)
                chosen = order[start : start + self.step_pairs]
                yield pack_lines(self._examples(chosen, rng), self.line_rows)
            epoch += 1

    def _rng(self, *place: object) -> random.Random:
        return random.Random(f"{self.seed} {place}")

    def _examples(self, chosen: Sequence[int], rng: random.Random) -> list[Example]:
        examples = list[Example]()
        for index in chosen:
            pair = self.pairs[index]
            layout = LayoutSettings(slot_length=rng.choice(self.slot_lengths))
            prompt = self.prompts[pair.language]
            examples += make_examples(pair, prompt, self.method, layout, self.mixture, rng)
        return examples


def pack_lines(examples: Sequence[Example], line_rows: int) -> list[Line]:
    """Put examples into as few lines as first-fit finds, longest first."""
    lines, free = list[Line](), list[int]()
    for example in sorted(examples, key=lambda example: -len(example.rows)):
        n_rows = len(example.rows)
        fits = (index for index, room in enumerate(free) if room >= n_rows)
        index = next(fits, len(lines))
        if index == len(lines):
            lines.append([])
            free.append(line_rows)
        lines[index].append(example)
        free[index] -= n_rows
    return lines
