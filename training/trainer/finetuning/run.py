"""Train an adapter: a base, pairs, a method and a mixture of policies become a LoRA folder.

Files in the run folder:

* ``adapter``: the result, of the best step on the dev sets, or of the last step without dev sets.
* ``checkpoint``: state to resume from, to the very sample. The same command resumes a run that was
  killed, on any number of processes.
* ``steps.jsonl``: a line for every step; ``dev.jsonl``: a line for every decoding of the dev sets.
* ``data``: data from the hub; ``tensorboard``: curves.
"""

import logging
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

import torch
from transformers import PreTrainedModel

from engine.errors import ModelError
from engine.models.adapters.card import AdapterCard
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_loader import TorchWeights
from engine.settings import LayoutSettings
from training.errors import UsageError
from training.evaluation.run_record import fingerprint
from training.settings import TrainSettings
from training.trainer.checkpoint import check_fingerprint, read_counters
from training.trainer.distributed import Processes
from training.trainer.finetuning.base_model import (
    Base,
    base_network,
    find_base,
    find_folder,
    recompute_activations,
)
from training.trainer.finetuning.card_writer import describe, named
from training.trainer.finetuning.early_stopping import EarlyStopping
from training.trainer.finetuning.lora import attach_lora, save_adapter, whole_factors
from training.trainer.loop import Moved, Trainer
from training.trainer.material import (
    Material,
    find_method,
    make_plan,
    prepare,
    trained_policies,
)
from training.trainer.precision import computes_bf16
from training.trainer.result import save_result, try_to_save
from training.trainer.samples.loss import ForwardLoss
from training.trainer.samples.methods import Method
from training.trainer.step_log import StepRecord
from training.trainer.steps import share_steps

_log = logging.getLogger(__name__)


def finetune(settings: TrainSettings, processes: Processes) -> None:
    """Train an adapter to its end, or to ``stop_after_steps``, and write its folder.

    Raises:
        SurtitleError: the base cannot be used.
        TrainingError: the run cannot start or continue; its checkpoint is kept.
    """
    named(settings)
    if processes.shards and settings.quantise != "none":
        msg = "a base in 4 bits cannot be sharded over processes: launch without FSDP"
        raise UsageError(msg)
    method = find_method(settings)
    data = _data(settings, processes)
    if processes.rank == 0:
        find_folder(settings)  # fetched by one process
    processes.wait()
    base = find_base(settings, trained_policies(settings, method))
    material = prepare(settings, data, base.tokenizer, base.card, fingerprint(base.folder))
    checkpoint = settings.out / "checkpoint"
    check_fingerprint(checkpoint, material.fingerprint)
    counters = read_counters(checkpoint)
    early_stopping = EarlyStopping(
        settings.out / "dev.jsonl", settings.dev, counters.step if counters else 0
    )
    if early_stopping.over:
        _log.info("%s has ended: no better step came", settings.out)
        return
    Finetuning(settings, processes, base, material, method, early_stopping).run()


def _data(settings: TrainSettings, processes: Processes) -> Mapping[str, Path]:
    """Return the files by language; process 0 fetches those of the hub."""
    if settings.hub is None:
        return settings.data
    from training.trainer.finetuning.hub_data import fetch  # noqa: PLC0415  few need it

    folder, source = settings.out / "data", settings.source_language
    if processes.rank == 0:
        fetch(settings.hub, source, folder)
    processes.wait()
    return {**settings.data, **fetch(settings.hub, source, folder)}


class Finetuning:
    """One run: owner of the trained network, writer of its adapter."""

    def __init__(
        self,
        settings: TrainSettings,
        processes: Processes,
        base: Base,
        material: Material,
        method: Method,
        early_stopping: EarlyStopping,
    ) -> None:
        """Load the base and add an adapter, new or from the checkpoint."""
        self._settings = settings
        self._processes = processes
        self._base = base
        self._material = material
        self._method = method
        self._early_stopping = early_stopping
        self._in_bf16 = computes_bf16(settings.precision, processes.device)
        self._network = self._make_network()
        attention = Attention.of(self._network)
        loss = ForwardLoss(
            markers=material.markers,
            smoothing=settings.optimisation.label_smoothing,
            attention=attention,
            ranked=self._ranks(attention),
            in_bf16=self._in_bf16,
            by_autocast=settings.gradient_checkpointing or processes.n_processes > 1,
        )
        torch.manual_seed(settings.optimisation.seed)
        self._lora = attach_lora(self._network, settings.lora, base.name)
        self._weights = TorchWeights(
            network=self._network, tokenizer=base.tokenizer, card=base.card
        )
        self._try_to_save()
        self._network.train()
        optimisation = settings.optimisation
        make_optimizer = partial(
            torch.optim.AdamW, lr=optimisation.rate, weight_decay=optimisation.weight_decay
        )
        plan = make_plan(settings, material)
        self._trainer = Trainer(plan, self._network, make_optimizer, loss, processes)

    def run(self) -> None:
        """Train, decode the development sets on the way, and write the adapter."""
        settings, processes = self._settings, self._processes
        board = settings.out / "tensorboard" if settings.tensorboard else None
        steps = partial(share_steps, self._material.stream, processes, settings.pass_tokens)
        if processes.rank == 0:
            steps_log = StepRecord(settings.out / "steps.jsonl", self._trainer.step, board)
            with closing(steps_log) as record:
                after_step = partial(self._after_step, record)
                ended = self._trainer.train(steps, record.write, after_step)
        else:
            ended = self._trainer.train(steps, after_step=partial(self._after_step, None))
        if ended and not (settings.dev.sets and self._early_stopping.scores):
            self._save()
        processes.wait()

    def _make_network(self) -> PreTrainedModel:
        network = base_network(
            self._base,
            quantise=self._settings.quantise,
            device=self._processes.device,
            in_bf16=self._in_bf16,
        )
        if self._settings.gradient_checkpointing:
            recompute_activations(network)
        return network

    def _ranks(self, attention: Attention) -> bool:
        """Return whether attention needs ranks; raise UsageError if it cannot run the layouts."""
        try:
            attention.ranks(LayoutSettings(name=self._method.decoding))
            return attention.ranks(LayoutSettings(name=self._method.layout))
        except ModelError as error:
            msg = f"the base {self._base.name} cannot be trained so: {error}"
            raise UsageError(msg) from error

    def _after_step(self, record: StepRecord | None, moved: Moved) -> bool:
        """Decode the dev sets if it is due; False ends the run."""
        if not self._early_stopping.is_due(moved.step):
            return True
        layout = LayoutSettings(slot_length=self._base.card.slot_length, name=self._method.decoding)
        scores, is_best = self._early_stopping.look(
            moved.step, self._weights, layout, self._processes
        )
        if record is not None:
            for one in scores:
                record.draw(f"BLEU {one.language} {one.policy}", one.bleu, moved.step)
        if is_best:
            self._save()
        return not self._early_stopping.over

    def _save(self) -> None:
        """Replace the saved adapter by the current one."""
        factors = whole_factors(self._trainer.network)
        if self._processes.rank == 0:
            save_result(
                self._settings.out / "adapter",
                lambda folder: save_adapter(folder, factors, self._lora, self._card()),
            )
        self._processes.wait()

    def _card(self) -> AdapterCard:
        n_pairs, scores = self._material.n_pairs, self._early_stopping.scores
        return describe(self._settings, self._base, n_pairs, self._method, scores)

    def _try_to_save(self) -> None:
        """Write the untrained adapter and delete it: if writing cannot work, it fails now."""
        if self._processes.rank != 0:
            return
        factors = whole_factors(self._network)
        try_to_save(
            self._settings.out,
            lambda folder: save_adapter(folder, factors, self._lora, self._card()),
            "an adapter",
        )
