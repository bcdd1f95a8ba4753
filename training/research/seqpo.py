"""When to write, learnt by reward (SeqPO-SiMT over slots): an adapter or a model (``seqpo``).

Each step samples translations of some sources with the current weights, rewards each for quality
and lagging against the others of its source, and takes one step of the policy gradient.
``docs/decisions/0012-seqpo.md`` has our readings of the paper (Xu et al. 2025, Findings of ACL) and
our deviations; the hinge is that of HPO (ACL 2026, its code).

Alone, or on several processes: ``accelerate launch -m training.research seqpo ...``. Files in the
run folder are those of every run (``training.trainer.run``), but ``adapter`` (or ``model``) is the
best step on the dev sets, if one is better than the start; without dev sets the last step. A line
of ``steps.jsonl`` also has ``step_statistics``; step 0 of ``dev.jsonl`` is the start.
"""

import argparse
import copy
import math
import random
import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from sacrebleu.metrics.chrf import CHRF
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from engine.layout.planner import planner_of
from engine.layout.rows import IGNORE, Row
from engine.metrics.event_log import Event, EventLog, Translation, n_reference_units, replay
from engine.metrics.latency import length_adaptive_average_lagging
from engine.metrics.quality import make_bleu
from engine.policy import parse_policy
from engine.runtime.causal_model import (
    Asking,
    CausalModel,
    Numbers,
    float32,
    likeliest,
    run_together,
)
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_loader import TorchWeights
from engine.runtime.torch.torch_store import TorchStore
from engine.settings import LayoutSettings, TranslationSettings, at_least, check_choice
from engine.text.prompt import make_prompt, word_ids
from engine.text.sentences import Sentence
from engine.translation.feed import growing, known_steps
from engine.translation.slot_translator import Translator
from training.commands.recipe import add_recipe, add_setting, settings_of
from training.commands.train import train_and_tell
from training.data.alignment import read_aligned
from training.errors import CorpusError, UsageError
from training.evaluation.runs import fingerprint
from training.settings import NEW, LoraSettings, TrainSettings
from training.trainer.checkpoint import Counters, trained_parameters
from training.trainer.dev_watch import DevScore, DevWatch, Sources, open_watch
from training.trainer.export import name_weights
from training.trainer.finetuning import (
    Base,
    attach_lora,
    base_network,
    describe,
    find_base,
    find_folder,
    named,
    save_adapter,
    whole_factors,
)
from training.trainer.loss import Markers, forbid_markers, labelled_logits
from training.trainer.material import find_method, fingerprint_of
from training.trainer.pretraining import save_model
from training.trainer.processes import Processes
from training.trainer.run import Result, Run, Task, Write
from training.trainer.samples import draw_policy, laid_out
from training.trainer.stream import Batch, Example, Lines, Step, share_step
from training.trainer.tokenizer import save_tokenizer

RECIPES = Path(__file__).parent / "recipes" / "seqpo"
CAPACITY = 2048
REWARDS = ("fused", "hinge")

_DEAD = 0.05  # a group whose rewards differ by less teaches nothing
_HINGE_LAG = 0.5  # weight of lagging beside quality, of HPO
_FREE_LENGTH = 0.25  # how far the log of the ratio of lengths may be from 0 before quality falls
_LENGTH_PRICE = 0.5
_LEAST_QUALITY_STD, _LEAST_LAG_STD = 0.01, 0.15
"""Smaller standard deviations are raised to these: noise among equals is no reason to learn."""


# Settings -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SeqpoSettings:
    """Sampling, rewards and update of a run: a recipe's table ``seqpo``.

    Attributes:
        steps: updates of the weights, at least one.
        all_weights: train the whole network, and write a model folder instead of an adapter.
        policies: one is drawn for each source; all must end their writes.
        sources: of a step.
        group: translations sampled of each source.
        lanes: translations sampled side by side.
        reward: ``fused`` quality and lagging, or the ``hinge`` of HPO.
        balance: weight of quality (lambda of the paper).
        lag_weight: weight of lagging; 0 rewards quality only.
        lag_bound: words; less lagging earns nothing more. Applied before standardising, which fits
            the paper's text; after it, as its formula reads, no sample of few reaches it.
        divergence_price: of moving away from the start (beta of the paper).
        lag_price: chrF points that a word less of LAAL is worth when the best step is chosen.
        max_fall: chrF points under the start at which the run ends.
        max_empty: share of empty writes at which the run ends.
    """

    steps: int = 0
    all_weights: bool = False
    policies: tuple[str, ...] = ("read:1", "read:2", "read:3")
    sources: int = 16
    group: int = 8
    lanes: int = 64
    temperature: float = 1.0
    reward: str = "fused"
    balance: float = 2.0
    lag_weight: float = 1.0
    lag_bound: float = 1.0
    divergence_price: float = 0.02
    lag_price: float = 2.0
    max_fall: float = 1.0
    max_empty: float = 0.6

    def __post_init__(self) -> None:
        check_choice("the reward", self.reward, REWARDS)
        at_least("the steps", self.steps, 0)
        at_least("the translations of a source", self.group, 2)
        for name in ("sources", "lanes"):
            at_least(name, getattr(self, name), 1)
        if not self.policies:
            msg = "at least one policy is needed, for example read:2"
            raise ValueError(msg)
        for policy in self.policies:
            if not parse_policy(policy).ends_writes:
                msg = f"waiting is learnt under policies that end their writes, not {policy}"
                raise ValueError(msg)
        if self.temperature <= 0:
            msg = f"the temperature must be more than 0, got {self.temperature}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardSettings(TrainSettings):
    seqpo: SeqpoSettings = SeqpoSettings()


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "seqpo",
        help="learn by reward when to write",
        description="Sample translations, reward quality and low lagging, and follow the policy "
        "gradient. Run it again to resume a run that was stopped. What is not named here is as "
        "the recipe says; docs/training.md lists all.",
    )
    add_recipe(parser, RECIPES, "seqpo")
    add = partial(add_setting, settings=RewardSettings)
    unseen = "files that align wrote, best of pairs that the base has not seen"
    add(parser, "--data", "data", unseen, metavar="LANG=F.tsv")
    add(parser, "--name", "name", "of the adapter")
    base = "model folder, or name on the hub (the bundled model)"
    add(parser, "--base", "base", base, metavar="DIR|NAME")
    whole = "train the whole network; the result is a model folder"
    add(parser, "--all-weights", "seqpo.all_weights", whole)
    add(parser, "--rank", "lora.rank")
    group = parser.add_argument_group("learning")
    add(group, "--steps", "seqpo.steps")
    add(group, "--rate", "optimisation.rate", "highest learning rate of AdamW")
    add(group, "--seed", "optimisation.seed")
    add(group, "--policies", "seqpo.policies", "as read:1,read:2", metavar="P,P,...")
    add(group, "--sources", "seqpo.sources", "of a step")
    add(group, "--group", "seqpo.group", "translations of a source")
    add(group, "--lanes", "seqpo.lanes", "translations sampled side by side")
    rewarded = parser.add_argument_group("reward")
    add(rewarded, "--reward", "seqpo.reward", choices=REWARDS)
    add(rewarded, "--lag-weight", "seqpo.lag_weight", "0: quality only")
    dev = parser.add_argument_group("development sets")
    add(dev, "--dev", "dev.sets", metavar="LANG=SOURCE,REFERENCE")
    add(dev, "--dev-policies", "dev.policies", "decoded, as read:2", metavar="P,P,...")
    add(dev, "--dev-limit", "dev.limit", "of each dev set", metavar="LINES")
    add(dev, "--every", "dev.every_steps", "between two decodings", metavar="STEPS")
    machine = parser.add_argument_group("machine")
    add(machine, "--device", "device")
    add(machine, "--pass-tokens", "pass_tokens", "rows computed at once", metavar="N")
    add(machine, "--checkpoint-steps", "checkpoint_steps", "between two checkpoints")
    add(machine, "--stop-after", "stop_after_steps", "pause; run again to go on")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    settings = settings_of("training.research", arguments, RECIPES, RewardSettings)
    if settings.base == NEW:
        msg = "learning by reward begins with a base that is there: name one"
        raise UsageError(msg)
    result = settings.out / ("model" if settings.seqpo.all_weights else "adapter")
    train_and_tell(learn_by_reward, settings, result)
    return 0


# Sampling -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A text of at least one word to translate; without a seed by the likeliest tokens."""

    source: str
    language: str
    policy: str
    seed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """A sampled translation.

    Attributes:
        rows: in arrival order; each row has the token that the model chose after it as its label.
            Writes that were ended by force have no label for their end.
        n_writes: writes that ended before the source did; ``n_empty`` of them without a token.
    """

    rows: tuple[Row, ...]
    translation: Translation
    n_writes: int
    n_empty: int


@dataclass(slots=True)
class Sampler:
    """Draw an id from the distribution of its logits at a temperature."""

    temperature: float
    rng: random.Random

    def __call__(self, logits: Numbers) -> int:
        numbers = float32(logits).astype(np.float64)
        weights = np.exp((numbers - numbers.max()) / self.temperature)  # (V,)
        sums = weights.cumsum()
        drawn = int(np.searchsorted(sums, self.rng.random() * sums[-1], side="right"))
        return min(drawn, int(weights.nonzero()[0][-1]))  # a product may round up


class Rollouts:
    """Sampling with one network, whose weights may change between two calls of ``sample``.

    The engine's own translator works, many side by side. A trajectory is decided by its source, its
    policy, its seed and the weights: not by the others, but for the rounding of sums.
    """

    def __init__(
        self, weights: TorchWeights, layout: LayoutSettings, *, n_lanes: int, temperature: float
    ) -> None:
        self._weights, self._layout, self._temperature = weights, layout, temperature
        self._store = TorchStore(weights.network, n_lanes, CAPACITY)
        self._models = [CausalModel(self._store, lane) for lane in range(n_lanes)]
        self._systems = dict[tuple[int, str], _System]()

    def sample(self, requests: Sequence[Request]) -> list[Trajectory]:
        """Translate requests side by side; return their trajectories in order."""
        found = dict[int, Trajectory]()
        # of one language together, and long ones first, so that no lane works alone at the end
        order = sorted(
            range(len(requests)),
            key=lambda n: (requests[n].language, -len(requests[n].source)),
        )
        waiting = iter(order)

        def work(lane: int) -> Asking[None]:
            language, system = "", None
            for number in waiting:
                request = requests[number]
                if system is None or request.language != language:
                    language = request.language
                    system = self._system(lane, language)
                found[number] = yield from system.translate(request, self._choice(request))

        works = [work(lane) for lane in range(min(len(self._models), len(requests)))]
        deque(run_together(self._store, works), maxlen=0)
        return [found[number] for number in range(len(requests))]

    def _choice(self, request: Request) -> Callable[[Numbers], int]:
        if request.seed is None:
            return likeliest
        return Sampler(self._temperature, random.Random(request.seed))

    def _system(self, lane: int, language: str) -> "_System":
        """Return the translator of a lane, which takes a while to make, with an empty cache."""
        key = (lane, language)
        if key not in self._systems:
            model = self._models[lane]
            self._systems[key] = _System(self._weights, model, self._layout, language)
        self._systems[key].begin()
        return self._systems[key]


class _System:
    """A translator in a lane, and its log."""

    def __init__(
        self, weights: TorchWeights, model: CausalModel, layout: LayoutSettings, language: str
    ) -> None:
        settings = TranslationSettings(
            target_language=language, layout=layout, cut_loops=False, constrained=False
        )
        self._events = list[Event]()
        self._log = EventLog(self._events)
        self._translator = Translator(
            weights, settings, capacity=CAPACITY, log=self._log, model=model
        )
        self._session = list(self._events)  # says how the target's units are counted

    def begin(self) -> None:
        """Begin with an empty cache: nothing of other weights, or of another language."""
        self._translator.forget()

    def translate(self, request: Request, choose: Callable[[Numbers], int]) -> Asking[Trajectory]:
        self._translator.model.choose = choose
        self._translator.policy = parse_policy(request.policy)
        self._events[:] = self._session
        words = tuple(request.source.split())
        self._log.write("line", index=0, words=words)
        utterance = self._translator.open()
        for n_words, known in enumerate(growing(Sentence(words, ended=True)), start=1):
            self._log.write("arrived", n_words=n_words, ended=known.ended)
            yield from known_steps(utterance, known)
        self._log.write("line_ended", index=0)
        (translation,) = replay(self._events)
        rows = tuple(utterance.fed_rows())
        if utterance.planner.n_evicted_words:  # one pass cannot compute what was forgotten since
            rows = tuple(row._replace(label=IGNORE) for row in rows)
        end = utterance.prompt.end_of_write
        written = [event["id"] for event in self._events if event["event"] == "written"]
        ends = [index for index, id_ in enumerate(written) if id_ == end][:-1]
        return Trajectory(
            rows=rows,
            translation=translation,
            n_writes=len(ends),
            n_empty=sum(index == 0 or written[index - 1] == end for index in ends),
        )


# Rewards ------------------------------------------------------------------------------------------


class StringQuality:
    """Half chrF2 and half smoothed sentence BLEU, less for a wrong length; 0 without text.

    chrF2 alone favours long output, which also lowers LAAL: so BLEU, and a price for a length far
    from that of the reference.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        self._chrf, self._bleu = CHRF(), make_bleu(language)
        self._bleu.effective_order = True

    def __call__(self, hypothesis: str, reference: str) -> float:
        """Score a translation: more is better, 1 is about the best."""
        if not hypothesis:
            return 0.0
        chrf = float(self._chrf.sentence_score(hypothesis, [reference]).score)
        bleu = float(self._bleu.sentence_score(hypothesis, [reference]).score)
        written = n_reference_units(hypothesis, self._language)
        wanted = n_reference_units(reference, self._language)
        too_far = max(0.0, abs(math.log(written / wanted)) - _FREE_LENGTH)
        return 0.5 * chrf / 100 + 0.5 * bleu / 100 - _LENGTH_PRICE * too_far


def lagging(delays: Sequence[int], source: str, reference: str, language: str) -> float:
    """Return LAAL in source words; the length of the source if nothing was written."""
    n_source = len(source.split())
    if not delays:
        return float(n_source)
    n_units = n_reference_units(reference, language)
    return length_adaptive_average_lagging(delays, n_source, n_units)


def rewards(
    qualities: Sequence[float], laggings: Sequence[float], settings: SeqpoSettings
) -> list[float]:
    """Fuse quality and lagging of the translations of one source, equation 2 of the paper."""
    if settings.reward == "hinge":
        return _hinge_rewards(qualities, laggings)
    lags = standardised([max(settings.lag_bound, lag) for lag in laggings], _LEAST_LAG_STD)
    return [
        settings.balance * quality - settings.lag_weight * lag
        for quality, lag in zip(standardised(qualities, _LEAST_QUALITY_STD), lags, strict=True)
    ]


def _hinge_rewards(qualities: Sequence[float], laggings: Sequence[float]) -> list[float]:
    """Credit low lagging only where the quality is at least the group's median."""
    threshold, most = statistics.median(qualities), max(laggings)
    gains = [
        most - lag if quality >= threshold else 0.0
        for quality, lag in zip(qualities, laggings, strict=True)
    ]
    return [
        quality + _HINGE_LAG * gain
        for quality, gain in zip(
            standardised(qualities, _LEAST_QUALITY_STD),
            standardised(gains, _LEAST_LAG_STD),
            strict=True,
        )
    ]


def standardised(values: Sequence[float], least_std: float) -> list[float]:
    """Subtract the mean and divide by the sample standard deviation, at least ``least_std``."""
    mean = statistics.fmean(values)
    std = max(statistics.stdev(values), least_std)
    return [(value - mean) / std for value in values]


def advantages(group: Sequence[float]) -> list[float]:
    """Subtract the mean of the group: the baseline that stands for a critic."""
    mean = statistics.fmean(group)
    return [reward - mean for reward in group]


# Groups of a step ---------------------------------------------------------------------------------


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


def step_statistics(sampled: Sequence[Scored], sample_s: float) -> dict[str, float]:
    """Return what a line of ``steps.jsonl`` has of the samples of a step.

    ``quality``, ``lagging``, ``reward`` and ``words`` (of a translation) are means.
    ``empty_writes`` is the share of the writes before the end of the source, ``dead_groups`` that
    of groups whose rewards hardly differ: they teach nothing. ``sample_s`` are the seconds of
    sampling and rewards in this process.
    """
    mean, n_writes = statistics.fmean, sum(one.n_writes for one in sampled)
    return {
        "quality": mean(one.quality for one in sampled),
        "lagging": mean(one.lagging for one in sampled),
        "reward": mean(one.reward for one in sampled),
        "words": mean(one.n_words for one in sampled),
        "empty_writes": sum(one.n_empty for one in sampled) / max(1, n_writes),
        "dead_groups": mean(one.spread < _DEAD for one in sampled),
        "sample_s": sample_s,
    }


def read_pairs_to_sample(
    data: Mapping[str, Path], tokenizer: PreTrainedTokenizerFast, max_length: int
) -> list[Pair]:
    """Read aligned files; a pair whose rows may be more than ``max_length`` is left out."""
    pairs = [
        Pair(one.pair.source, one.pair.target, language, one.pair.corpus)
        for language, path in data.items()
        for one in read_aligned([path])
    ]

    def n_tokens(text: str) -> int:
        return sum(len(word_ids(tokenizer, word)) for word in text.split())

    # a translation may be twice as long as its source, and has headers
    kept = [pair for pair in pairs if 4 * n_tokens(pair.source) <= max_length]
    if not kept:
        names = ", ".join(map(str, data.values()))
        msg = f"there are no pairs of up to {max_length // 4} source tokens in {names}: name others"
        raise CorpusError(msg)
    return kept


class Groups:
    """Samples and scores the groups of each step; equal seeds and weights give equal groups."""

    def __init__(self, pairs: Sequence[Pair], rollouts: Rollouts, settings: RewardSettings) -> None:
        self._pairs, self._rollouts = pairs, rollouts
        self._qualities = {language: StringQuality(language) for language in settings.data}
        self._settings, self._seed = settings.seqpo, settings.optimisation.seed
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
            ask = partial(Request, source=pair.source, language=pair.language, policy=policy)
            samples = range(self._settings.group)
            drawn.append((pair, [ask(seed=f"{seed} sample {sample}") for sample in samples]))
        return drawn

    def sample(self, step: int, processes: Processes) -> list[Scored]:
        """Sample and score a step; each process takes a share of the sources, all get all."""
        own = list(enumerate(self.requests(step)))[processes.rank :: processes.n_processes]
        asked = [request for _, (_, requests) in own for request in requests]
        trajectories = iter(self._rollouts.sample(asked))
        scored = [
            one
            for number, (pair, requests) in own
            for one in self._scored(number, pair, [next(trajectories) for _ in requests])
        ]
        return sorted(processes.collect(scored), key=lambda one: one.number)

    def _order(self, epoch: int) -> list[int]:
        if self._ordered[0] != epoch:
            order = list(range(len(self._pairs)))
            random.Random(f"{self._seed} epoch {epoch}").shuffle(order)
            self._ordered = (epoch, order)
        return self._ordered[1]

    def _scored(self, number: int, pair: Pair, group: Sequence[Trajectory]) -> list[Scored]:
        source, reference, language = pair.source, pair.reference, pair.language
        written = [one.translation for one in group]
        qualities = [self._qualities[language](one.hypothesis, reference) for one in written]
        lags = [lagging(one.delays, source, reference, language) for one in written]
        rewarded = rewards(qualities, lags, self._settings)
        example = partial(Example, ends_writes=True, share=1 / len(group))
        return [
            Scored(
                number=number * len(group) + index,
                example=example(one.rows, advantage=advantage),
                quality=qualities[index],
                lagging=lags[index],
                reward=rewarded[index],
                spread=max(rewarded) - min(rewarded),
                n_writes=one.n_writes,
                n_empty=one.n_empty,
                n_words=len(one.translation.delays),
            )
            for index, (one, advantage) in enumerate(zip(group, advantages(rewarded), strict=True))
        ]


# The policy gradient ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScores:
    """How the log-probabilities of decisions are computed: one masked pass scores all of them.

    Attributes:
        markers: that are never chosen.
        temperature: with which the decisions were sampled.
        ranked: see ``Attention.bias``.
    """

    markers: Markers
    attention: Attention
    temperature: float = 1.0
    ranked: bool = False

    def __call__(
        self, network: nn.Module, batch: Batch, weights: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        """Return the log-probability of each labelled row, shape (N,), in the order of the batch.

        ``weights`` replace parameters of the network by their names.
        """
        asked = batch.labels != IGNORE  # (B, T)
        logits = labelled_logits(network, batch, self.attention, weights or {}, ranked=self.ranked)
        logits = logits / self.temperature  # (N, V)
        allowed = forbid_markers(logits, batch.ends_writes[asked], self.markers)
        labels = batch.labels[asked]  # (N,)
        return allowed.log_softmax(-1).gather(-1, labels[:, None])[:, 0]


@dataclass(slots=True)
class PolicyLoss:
    """A loss whose gradient is that of the expected reward, held near the start by a divergence.

    A step samples with the weights it then updates, so there is no ratio of old and new
    probabilities to clip.

    Attributes:
        divergence_price: beta of the paper.
        start: the trained parameters before the first step, by name.
        divergence: sum of log pi - log pi_start over the rows of the passes since it was set to 0;
            ``n_rows`` counts them.
    """

    scores: RowScores
    divergence_price: float
    start: Mapping[str, Tensor]
    divergence: float = field(default=0.0, init=False)
    n_rows: int = field(default=0, init=False)

    def __call__(self, network: nn.Module, batch: Batch) -> Tensor:
        """Return the mean over labelled rows of -(advantage - beta divergence) log pi.

        The factor before log pi is a constant: the gradient is that of equation 3.
        """
        own = self.scores(network, batch)  # (N,)
        with torch.no_grad():
            before = self.scores(getattr(network, "module", network), batch, self.start)
            apart = own.detach() - before  # (N,)
            weight = batch.advantages[batch.labels != IGNORE] - self.divergence_price * apart
            self.divergence += float(apart.sum())
            self.n_rows += len(apart)
        return -(weight * own).sum() / max(1, len(own))


def frozen_copy(network: nn.Module) -> dict[str, Tensor]:
    """Copy the trained parameters, by name."""
    return {name: weight.detach().clone() for name, weight in trained_parameters(network)}


# The run ------------------------------------------------------------------------------------------


def learn_by_reward(settings: RewardSettings, processes: Processes) -> None:
    """Train to the end, or to ``stop_after_steps``, and write the result."""
    _check(settings, processes)
    if processes.rank == 0:
        find_folder(settings)  # fetched by one process
    processes.wait()
    base = find_base(settings, settings.seqpo.policies)
    own = {"seqpo": replace(settings.seqpo, steps=1, lanes=1)}
    digests = fingerprint_of(settings, settings.data, fingerprint(base.folder), base.card, own)
    watch = open_reward_watch(settings, digests)
    if not watch.reason:
        task = Reward(settings, processes, base, watch).task(digests)
        Run(task, settings, processes, watch).train()


def open_reward_watch(settings: RewardSettings, digests: str) -> DevWatch:
    """Read what was decoded and taken up to the checkpoint."""
    seqpo = settings.seqpo

    def harm(values: Mapping[str, float]) -> str:
        """Return why a run ends after such a step, or nothing."""
        share, most = values["empty_writes"], seqpo.max_empty
        said = f"{share:.0%} of the writes are empty, and {most:.0%} are the most"
        return said if share > most else ""

    def value(scores: Sequence[DevScore]) -> float:
        """Return chrF less the price of lagging, mean over sets and policies."""
        if any(one.laal is None for one in scores):
            return -math.inf
        return statistics.fmean(one.chrf - seqpo.lag_price * (one.laal or 0.0) for one in scores)

    return open_watch(settings, digests, value, seqpo.max_fall, harm)


def _check(settings: RewardSettings, processes: Processes) -> None:
    named(settings)
    method, dropout = find_method(settings), settings.lora.dropout
    own_rows = method.finish is laid_out and method.draw is draw_policy
    once = not planner_of(LayoutSettings(name=method.layout)).recomputes
    for fits, msg in (
        (settings.seqpo.steps, "the recipe has no number of steps: set steps in its table seqpo"),
        (not processes.shards, "each process samples with the whole network: launch without FSDP"),
        (own_rows, f"rows of {settings.method} are not those of its decoding: choose exposst"),
        (once, "a layout that recomputes has no single pass to score: choose exposst"),
        (
            not (settings.seqpo.all_weights and settings.quantise != "none"),
            "all weights are trained from a whole base, not from 4 bits",
        ),
        (not dropout, f"sampling and update must see the same network: dropout 0, not {dropout}"),
    ):
        if not fits:
            raise UsageError(msg)


class Reward:
    """The model that is sampled and rewarded: owner of the trained network."""

    def __init__(
        self, settings: RewardSettings, processes: Processes, base: Base, watch: DevWatch
    ) -> None:
        self._settings, self._processes, self._base = settings, processes, base
        self._watch, seqpo = watch, settings.seqpo
        self._network = base_network(
            base, quantise=settings.quantise, device=processes.device, in_bf16=False
        )
        torch.manual_seed(settings.optimisation.seed)
        self._lora: LoraSettings | None = None  # where all weights are trained
        if not seqpo.all_weights:
            self._lora = attach_lora(self._network, settings.lora, base.name)
        self._network.eval()  # type: ignore[no-untyped-call]
        self._pairs = read_pairs_to_sample(settings.data, base.tokenizer, settings.max_length)
        layout = LayoutSettings(
            slot_length=base.card.slot_length, name=find_method(settings).layout
        )
        weights = TorchWeights(network=self._network, tokenizer=base.tokenizer, card=base.card)
        self._rollouts = Rollouts(
            weights, layout, n_lanes=seqpo.lanes, temperature=seqpo.temperature
        )
        self._groups = Groups(self._pairs, self._rollouts, settings)
        attention = Attention.of(self._network)
        prompt = make_prompt(base.tokenizer, base.card, next(iter(settings.data)))
        scores = RowScores(
            markers=Markers.of(prompt),
            attention=attention,
            temperature=seqpo.temperature,
            ranked=attention.ranks(layout),
        )
        self._loss = PolicyLoss(scores, seqpo.divergence_price, frozen_copy(self._network))
        self._statistics: Mapping[str, float] = {}

    def task(self, digests: str) -> Task:
        """Return what a run trains and keeps; ``digests`` tell runs apart."""
        seqpo = self._settings.seqpo
        name = "model" if self._lora is None else "adapter"
        return Task(
            fingerprint=digests,
            total_pairs=seqpo.steps * seqpo.sources,
            step_pairs=seqpo.sources,
            network=self._network,
            loss=self._loss,
            steps=self._steps,
            result=Result(name=name, gather=self._gather, translate=self._translate),
            values=self._values,
        )

    def _steps(self, taken: Counters) -> Iterator[Step]:
        processes = self._processes
        for step in range(taken.step, self._settings.seqpo.steps):
            self._loss.divergence, self._loss.n_rows = 0.0, 0
            start_s = time.monotonic()
            sampled = self._groups.sample(step, processes)
            self._statistics = step_statistics(sampled, time.monotonic() - start_s)
            examples = sorted((one.example for one in sampled), key=lambda one: len(one.rows))
            lines = Lines([[example] for example in examples])
            yield share_step(
                lines, processes.rank, processes.n_processes, self._settings.pass_tokens
            )

    def _values(self) -> Mapping[str, float]:
        """Return what a line of ``steps.jsonl`` has besides loss and rate."""
        divergence = self._loss.divergence / max(1, self._loss.n_rows)
        return {**self._statistics, "divergence": divergence}

    def _translate(self, sources: Sources, language: str, policy: str) -> list[Translation]:
        """Translate greedily, side by side; a line without words is left out."""
        lines = {number: source for number, source in sources.items() if source.split()}
        found = self._rollouts.sample(
            [Request(source=one, language=language, policy=policy) for one in lines.values()]
        )
        return [
            replace(one.translation, index=number) for number, one in zip(lines, found, strict=True)
        ]

    def _gather(self, trained: nn.Module) -> Write:
        return partial(self._write, {} if self._lora is None else whole_factors(trained))

    def _write(self, factors: Mapping[str, torch.Tensor], folder: Path) -> None:
        if self._lora is not None:
            n_pairs = Counter(pair.corpus for pair in self._pairs)
            method = find_method(self._settings)
            card = describe(self._settings, self._base, n_pairs, method, self._watch.scores)
            save_adapter(folder, factors, self._lora, card)
            return
        network: PreTrainedModel = copy.deepcopy(self._network)
        save_model(network, folder)
        save_tokenizer(self._base.tokenizer, self._base.card, folder)
        name_weights(folder)
