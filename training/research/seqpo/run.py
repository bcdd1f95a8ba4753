"""Learn when to write by reward (SeqPO-SiMT over slots): an adapter, or a whole model.

Each step samples translations of some sources with the current weights, rewards each for quality
and lagging against the others of its source, and takes one step of the policy gradient.

Files in the run folder are those of every run (``training.trainer.run``), with these differences:

* ``adapter`` (or ``model``): the best step on the dev sets, if one is better than the start;
  without dev sets the last step.
* ``steps.jsonl``: a line also has ``StepStatistics``.
* ``dev.jsonl``: step 0 is the start.
"""

import copy
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import PreTrainedModel

from engine.metrics.translation import Translation
from engine.models.adapters.adapter import usable_adapter, verify_adapter
from engine.models.adapters.lora_weights import WEIGHTS_FILE
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_loader import TorchWeights
from engine.settings import LayoutSettings
from engine.text.prompt import make_prompt
from training.errors import UsageError
from training.evaluation.run_record import fingerprint
from training.research.seqpo.groups import Groups, StepStatistics, read_pairs_to_sample
from training.research.seqpo.policy_loss import PolicyLoss, RowScores, frozen_copy
from training.research.seqpo.reward import CometQuality, Quality, StringQuality
from training.research.seqpo.rollout import Request, Rollouts
from training.research.seqpo.settings import RewardSettings, SeqpoSettings
from training.settings import LoraSettings
from training.trainer.checkpoint import Counters
from training.trainer.dev_watch import DevScore, DevWatch, Sources
from training.trainer.distributed import Processes
from training.trainer.finetuning.base_model import Base, base_network, find_base, find_folder
from training.trainer.finetuning.card_writer import describe, named
from training.trainer.finetuning.lora import attach_lora, save_adapter, whole_factors
from training.trainer.material import find_method, fingerprint_of
from training.trainer.pretraining.export import name_weights
from training.trainer.pretraining.run import save_model
from training.trainer.pretraining.tokenizer import save_tokenizer
from training.trainer.run import Result, Run, Task, Write, open_watch
from training.trainer.samples.loss import Markers
from training.trainer.samples.methods import laid_out
from training.trainer.samples.mixture import draw_policy
from training.trainer.samples.stream import Lines
from training.trainer.steps import Step, share_step


def learn_by_reward(settings: RewardSettings, processes: Processes) -> None:
    """Train to the end, or to ``stop_after_steps``, and write the result.

    Raises:
        SurtitleError: base or start cannot be used.
        TrainingError: the run cannot start or continue; its checkpoint is kept.
    """
    _check(settings, processes)
    if processes.rank == 0:
        find_folder(settings)  # fetched by one process
    processes.wait()
    base = find_base(settings, settings.seqpo.policies)
    digests = _digests(settings, base)
    watch = open_reward_watch(settings, digests)
    if not watch.reason:
        task = Reward(settings, processes, base, watch).task(digests)
        Run(task, settings, processes, watch).train()


def open_reward_watch(settings: RewardSettings, digests: str) -> DevWatch:
    """Read what was decoded and taken up to the checkpoint."""
    seqpo = settings.seqpo
    harm, value = partial(_harm, seqpo), partial(_value, seqpo)
    return open_watch(settings, digests, value, seqpo.max_fall, harm)


def _harm(seqpo: SeqpoSettings, values: Mapping[str, float]) -> str:
    """Return why a run ends after such a step, or nothing."""
    share, most = values["empty_writes"], seqpo.max_empty
    return (
        f"{share:.0%} of the writes are empty, and {most:.0%} are the most" if share > most else ""
    )


def _value(seqpo: SeqpoSettings, scores: Sequence[DevScore]) -> float:
    """Return chrF less the price of lagging, mean over sets and policies."""
    if any(one.laal is None for one in scores):
        return -math.inf
    return statistics.fmean(one.chrf - seqpo.lag_price * (one.laal or 0.0) for one in scores)


def _check(settings: RewardSettings, processes: Processes) -> None:
    named(settings)
    if not settings.seqpo.steps:
        msg = "the recipe has no number of steps: set steps in its table seqpo"
        raise UsageError(msg)
    if settings.hub is not None:
        msg = "sources are taken from files: name them with --data LANG=F.tsv, without hub"
        raise UsageError(msg)
    if processes.shards:
        msg = "each process samples with the whole network: launch without FSDP"
        raise UsageError(msg)
    method = find_method(settings)
    if method.finish is not laid_out or method.draw is not draw_policy:
        msg = f"rows of {settings.method} are not those of its decoding: choose exposst"
        raise UsageError(msg)
    if method.layout == "recomputed":
        msg = "a layout that recomputes has no single pass to score: choose exposst"
        raise UsageError(msg)
    if settings.lora.dropout:
        msg = (
            f"sampling and update must see the same network: dropout 0, not {settings.lora.dropout}"
        )
        raise UsageError(msg)


def _digests(settings: RewardSettings, base: Base) -> str:
    start = settings.seqpo.start
    model = fingerprint(base.folder) + ("" if start is None else fingerprint(start))
    own = {"seqpo": replace(settings.seqpo, steps=1, lanes=1, start=None)}
    return fingerprint_of(settings, settings.data, model, base.card, own)


class Reward:
    """The model that is sampled and rewarded: owner of the trained network."""

    def __init__(
        self,
        settings: RewardSettings,
        processes: Processes,
        base: Base,
        watch: DevWatch,
    ) -> None:
        """Load the base and what the run begins with."""
        self._settings, self._processes, self._base = settings, processes, base
        self._watch = watch
        seqpo = settings.seqpo
        self._network = base_network(
            base, quantise=settings.quantise, device=processes.device, in_bf16=False
        )
        torch.manual_seed(settings.optimisation.seed)
        self._lora = self._attach()
        self._network.eval()  # type: ignore[no-untyped-call]
        self._pairs = read_pairs_to_sample(settings.data, base.tokenizer, settings.max_length)
        layout = LayoutSettings(
            slot_length=base.card.slot_length, name=find_method(settings).layout
        )
        weights = TorchWeights(network=self._network, tokenizer=base.tokenizer, card=base.card)
        self._rollouts = Rollouts(
            weights, layout, n_lanes=seqpo.lanes, temperature=seqpo.temperature
        )
        qualities = {language: self._quality(language) for language in settings.data}
        self._groups = Groups(self._pairs, self._rollouts, qualities, settings)
        attention = Attention.of(self._network)
        prompt = make_prompt(base.tokenizer, base.card, next(iter(settings.data)))
        scores = RowScores(
            markers=Markers.of(prompt),
            attention=attention,
            temperature=seqpo.temperature,
            ranked=attention.ranks(layout),
        )
        self._loss = PolicyLoss(scores, seqpo.divergence_price, frozen_copy(self._network))
        self._statistics: StepStatistics | None = None

    def task(self, digests: str) -> Task:
        """Return what a run trains and keeps; ``digests`` tell runs apart."""
        seqpo = self._settings.seqpo
        return Task(
            fingerprint=digests,
            total_pairs=seqpo.steps * seqpo.sources,
            step_pairs=seqpo.sources,
            network=self._network,
            loss=self._loss,
            steps=self._steps,
            result=Result(
                name="model" if self._lora is None else "adapter",
                gather=self._gather,
                translate=self._translate,
            ),
            values=self._values,
        )

    def _steps(self, taken: Counters) -> Iterator[Step]:
        """Sample the groups of each step with the weights of then; yield it."""
        processes = self._processes
        for step in range(taken.step, self._settings.seqpo.steps):
            self._loss.divergence, self._loss.n_rows = 0.0, 0
            sampled = self._groups.sample(step, processes)
            self._statistics = StepStatistics.of(sampled)
            examples = sorted((one.example for one in sampled), key=lambda one: len(one.rows))
            lines = Lines([[example] for example in examples])
            yield share_step(
                lines, processes.rank, processes.n_processes, self._settings.pass_tokens
            )

    def _values(self) -> Mapping[str, float]:
        """Return what a line of ``steps.jsonl`` has besides loss and rate."""
        assert self._statistics is not None
        divergence = self._loss.divergence / max(1, self._loss.n_rows)
        return {**asdict(self._statistics), "divergence": divergence}

    def _translate(self, sources: Sources, language: str, policy: str) -> list[Translation]:
        """Translate greedily, side by side; a line without words is left out."""
        lines = {number: source for number, source in sources.items() if source.split()}
        found = self._rollouts.sample(
            [Request(source=one, language=language, policy=policy) for one in lines.values()]
        )
        return [
            replace(one.translation, index=number) for number, one in zip(lines, found, strict=True)
        ]

    def _quality(self, language: str) -> Quality:
        seqpo = self._settings.seqpo
        if seqpo.quality == "comet":
            return CometQuality.installed(seqpo.comet_python, self._settings.device)
        return StringQuality(language)

    def _attach(self) -> LoraSettings | None:
        """Add factors, new or those of the start; None where all weights are trained.

        Raises:
            UsageError: the start cannot be continued.
        """
        settings = self._settings
        if settings.seqpo.all_weights:
            if settings.seqpo.start is not None or settings.quantise != "none":
                msg = "all weights are trained from a whole base, without an adapter or 4 bits"
                raise UsageError(msg)
            return None
        if settings.seqpo.start is None:
            return attach_lora(self._network, settings.lora, self._base.name)
        adapter = usable_adapter(settings.seqpo.start, self._base.fingerprint)
        verify_adapter(adapter)
        lora = adapter.lora
        assert lora is not None, "a usable adapter has settings"
        if lora.rank_stabilised or lora.names_blocks or lora.alpha != int(lora.alpha):
            msg = f"{adapter.folder} was not trained by surtitle-train finetune: start with another"
            raise UsageError(msg)
        own = replace(
            settings.lora,
            rank=lora.rank,
            alpha=int(lora.alpha),
            targets=tuple(sorted(lora.targets)),
        )
        attached = attach_lora(self._network, own, self._base.name)
        _load_factors(self._network, adapter.folder)
        return attached

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


def _load_factors(network: PreTrainedModel, folder: Path) -> None:
    """Copy the factors of an adapter into those of the network, which has the same ones."""
    saved = load_file(folder / WEIGHTS_FILE)
    own = dict(network.named_parameters())
    for name in whole_factors(network):
        inner = name.removeprefix("base_model.model.").removesuffix(".weight")
        with torch.no_grad():
            own[f"{inner}.default.weight"].copy_(saved[name])
