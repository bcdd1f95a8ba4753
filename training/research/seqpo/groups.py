"""The groups of a step: sources, their sampled translations, rewards and advantages."""

import random
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformers import PreTrainedTokenizerFast

from engine.text.prompt import word_ids
from training.data.aligned_pairs import read_aligned
from training.errors import CorpusError
from training.research.seqpo.reward import Quality, Sampled, advantages, lagging, rewards
from training.research.seqpo.rollout import Request, Rollouts, Trajectory
from training.research.seqpo.settings import RewardSettings
from training.trainer.distributed import Processes
from training.trainer.samples.batches import Example

_DEAD = 0.05
"""A group whose rewards differ by less teaches nothing."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A source and its reference."""

    source: str
    reference: str
    language: str
    corpus: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A sampled translation, scored against the others of its source.

    Attributes:
        number: within the step.
        spread: largest minus smallest reward of its group.
    """

    number: int
    example: Example
    quality: float
    lagging: float
    reward: float
    spread: float
    n_writes: int
    n_empty: int
    n_words: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStatistics:
    """The samples of a step: fields of a line of ``steps.jsonl``.

    Attributes:
        quality, lagging, reward: means.
        words: of a translation, mean.
        empty_writes: share of the writes before the end of the source.
        dead_groups: share whose rewards hardly differ: they teach nothing.
        sample_s: seconds of sampling and rewards in a process, mean.
    """

    quality: float
    lagging: float
    reward: float
    words: float
    empty_writes: float
    dead_groups: float
    sample_s: float

    @classmethod
    def of(cls, sampled: Sequence[Scored]) -> "StepStatistics":
        """Average over the translations of a step."""
        mean = statistics.fmean
        return cls(
            quality=mean(one.quality for one in sampled),
            lagging=mean(one.lagging for one in sampled),
            reward=mean(one.reward for one in sampled),
            words=mean(one.n_words for one in sampled),
            empty_writes=sum(one.n_empty for one in sampled)
            / max(1, sum(one.n_writes for one in sampled)),
            dead_groups=mean(one.spread < _DEAD for one in sampled),
            sample_s=mean(one.seconds for one in sampled),
        )


def read_pairs_to_sample(
    data: Mapping[str, Path], tokenizer: PreTrainedTokenizerFast, max_length: int
) -> list[Pair]:
    """Read aligned files; a pair whose rows may be more than ``max_length`` is left out."""
    pairs = [
        Pair(one.pair.source, one.pair.target, language, one.pair.corpus)
        for language, path in data.items()
        for one in read_aligned([path])
    ]
    # a translation may be twice as long as its source, and has headers
    kept = [pair for pair in pairs if 4 * _n_tokens(tokenizer, pair.source) <= max_length]
    if not kept:
        names = ", ".join(map(str, data.values()))
        msg = f"there are no pairs of up to {max_length // 4} source tokens in {names}: name others"
        raise CorpusError(msg)
    return kept


def _n_tokens(tokenizer: PreTrainedTokenizerFast, text: str) -> int:
    return sum(len(word_ids(tokenizer, word)) for word in text.split())


class Groups:
    """Samples and scores the groups of each step; equal seeds and weights give equal groups."""

    def __init__(
        self,
        pairs: Sequence[Pair],
        rollouts: Rollouts,
        qualities: Mapping[str, Quality],
        settings: RewardSettings,
    ) -> None:
        self._pairs = pairs
        self._rollouts = rollouts
        self._qualities = qualities
        self._settings = settings.seqpo
        self._seed = settings.optimisation.seed
        self._ordered = (-1, list[int]())  # an epoch, and its order

    def requests(self, step: int) -> list[tuple[Pair, list[Request]]]:
        """Draw the sources of a step and their policies; a seed for each translation."""
        n, total = self._settings.sources, len(self._pairs)
        drawn = []
        for number in range(step * n, (step + 1) * n):
            epoch, index = divmod(number, total)
            pair = self._pairs[self._order(epoch)[index]]
            seed = f"{self._seed} source {number}"
            policy = random.Random(seed).choice(self._settings.policies)
            requests = [
                Request(
                    source=pair.source,
                    language=pair.language,
                    policy=policy,
                    seed=f"{seed} sample {sample}",
                )
                for sample in range(self._settings.group)
            ]
            drawn.append((pair, requests))
        return drawn

    def sample(self, step: int, processes: Processes) -> list[Scored]:
        """Sample and score a step; each process takes a share of the sources, all get all."""
        start_s = time.monotonic()
        own = list(enumerate(self.requests(step)))[processes.rank :: processes.n_processes]
        asked = [request for _, (_, requests) in own for request in requests]
        trajectories = iter(self._rollouts.sample(asked))
        groups = [
            (number, pair, [next(trajectories) for _ in requests])
            for number, (pair, requests) in own
        ]
        scores = self._quality_of([(pair, group) for _, pair, group in groups])
        seconds = time.monotonic() - start_s
        scored = [
            one
            for (number, pair, group), qualities in zip(groups, scores, strict=True)
            for one in self._scored(number, pair, group, qualities, seconds)
        ]
        return sorted(processes.collect(scored), key=lambda one: one.number)

    def _order(self, epoch: int) -> list[int]:
        if self._ordered[0] != epoch:
            order = list(range(len(self._pairs)))
            random.Random(f"{self._seed} epoch {epoch}").shuffle(order)
            self._ordered = (epoch, order)
        return self._ordered[1]

    def _quality_of(self, groups: Sequence[tuple[Pair, list[Trajectory]]]) -> list[list[float]]:
        """Score all translations of a language at once: a measure may be slow to start."""
        scores: list[list[float]] = [[] for _ in groups]
        for language, quality in self._qualities.items():
            chosen = [n for n, (pair, _) in enumerate(groups) if pair.language == language]
            sampled = [_sampled(groups[n][0], one) for n in chosen for one in groups[n][1]]
            values = iter(quality(sampled) if sampled else [])
            for n in chosen:
                scores[n] = [next(values) for _ in groups[n][1]]
        return scores

    def _scored(
        self,
        number: int,
        pair: Pair,
        group: Sequence[Trajectory],
        qualities: Sequence[float],
        seconds: float,
    ) -> list[Scored]:
        adaptive = self._settings.adaptive
        lags = [lagging(_sampled(pair, one), pair.language, adaptive=adaptive) for one in group]
        rewarded = rewards(qualities, lags, self._settings)
        spread = max(rewarded) - min(rewarded)
        return [
            Scored(
                number=number * len(group) + index,
                example=Example(
                    one.rows, ends_writes=True, share=1 / len(group), advantage=advantage
                ),
                quality=qualities[index],
                lagging=lags[index],
                reward=rewarded[index],
                spread=spread,
                n_writes=one.n_writes,
                n_empty=one.n_empty,
                n_words=len(one.translation.delays),
                seconds=seconds,
            )
            for index, (one, advantage) in enumerate(zip(group, advantages(rewarded), strict=True))
        ]


def _sampled(pair: Pair, one: Trajectory) -> Sampled:
    return Sampled(
        source=pair.source,
        hypothesis=one.translation.hypothesis,
        reference=pair.reference,
        delays=one.translation.delays,
    )
