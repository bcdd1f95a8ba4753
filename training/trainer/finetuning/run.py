"""Train an adapter: a base, pairs, a method and a mixture of policies become a LoRA folder.

Files in the run folder, besides those of every run (``training.trainer.run``):

* ``adapter``: the result, of the best step on the dev sets, or of the last step without dev sets.
"""

from functools import partial
from pathlib import Path

import torch
from torch import nn

from engine.errors import ModelError
from engine.metrics.translation import Translation
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_loader import TorchWeights
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.factory import make_system
from engine.translation.feed import translate_lines
from training.errors import UsageError
from training.evaluation.run_record import fingerprint
from training.evaluation.workers import CAPACITY
from training.settings import TrainSettings
from training.trainer.dev_watch import DevWatch, Sources, best_bleu
from training.trainer.distributed import Processes
from training.trainer.finetuning.base_model import (
    Base,
    base_network,
    find_base,
    find_folder,
    recompute_activations,
)
from training.trainer.finetuning.card_writer import describe, named
from training.trainer.finetuning.lora import attach_lora, save_adapter, whole_factors
from training.trainer.material import (
    Material,
    find_method,
    prepare,
    trained_policies,
)
from training.trainer.precision import computes_bf16
from training.trainer.run import Result, Run, Task, Write, open_watch
from training.trainer.samples.loss import ForwardLoss
from training.trainer.samples.methods import Method
from training.trainer.steps import share_steps


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
    if processes.rank == 0:
        find_folder(settings)  # fetched by one process
    processes.wait()
    base = find_base(settings, trained_policies(settings, find_method(settings)))
    material = prepare(settings, settings.data, base.tokenizer, base.card, fingerprint(base.folder))
    value = partial(best_bleu, max_laal=settings.dev.max_laal)
    watch = open_watch(settings, material.fingerprint, value)
    if not watch.reason:
        task = _task(settings, processes, base, material, watch)
        Run(task, settings, processes, watch).train()


def _task(
    settings: TrainSettings, processes: Processes, base: Base, material: Material, watch: DevWatch
) -> Task:
    """Load the base and add an untrained adapter."""
    method, optimisation = find_method(settings), settings.optimisation
    in_bf16 = computes_bf16(settings.precision, processes.device)
    network = base_network(
        base, quantise=settings.quantise, device=processes.device, in_bf16=in_bf16
    )
    if settings.gradient_checkpointing:
        recompute_activations(network)
    attention = Attention.of(network)
    loss = ForwardLoss(
        markers=material.markers,
        smoothing=optimisation.label_smoothing,
        attention=attention,
        ranked=_ranks(attention, method, base.name),
        in_bf16=in_bf16,
        by_autocast=settings.gradient_checkpointing or processes.n_processes > 1,
    )
    torch.manual_seed(optimisation.seed)
    lora = attach_lora(network, settings.lora, base.name)
    network.train()

    def gather(trained: nn.Module) -> Write:
        factors = whole_factors(trained)

        def write(folder: Path) -> None:
            card = describe(settings, base, material.n_pairs, method, watch.scores)
            save_adapter(folder, factors, lora, card)

        return write

    weights = TorchWeights(network=network, tokenizer=base.tokenizer, card=base.card)
    layout = LayoutSettings(slot_length=base.card.slot_length, name=method.layout)
    return Task(
        fingerprint=material.fingerprint,
        total_pairs=material.total_pairs,
        step_pairs=material.step_pairs,
        network=network,
        loss=loss,
        steps=partial(share_steps, material.stream, processes, settings.pass_tokens),
        result=Result(name="adapter", gather=gather, translate=partial(translate, weights, layout)),
    )


def _ranks(attention: Attention, method: Method, name: str) -> bool:
    """Return whether attention needs ranks; raise UsageError if it cannot run the layouts."""
    try:
        return attention.ranks(LayoutSettings(name=method.layout))
    except ModelError as error:
        msg = f"the base {name} cannot be trained so: {error}"
        raise UsageError(msg) from error


def translate(
    weights: TorchWeights, layout: LayoutSettings, sources: Sources, language: str, policy: str
) -> list[Translation]:
    """Translate some lines as ``evaluate`` does, with a network in training."""
    settings = TranslationSettings(
        target_language=language, policy=policy, layout=layout, cut_loops=False
    )
    weights.network.eval()  # type: ignore[no-untyped-call]
    translations = translate_lines(
        lambda log: make_system("slots", weights, settings, capacity=CAPACITY, log=log),
        list(sources.items()),
    )
    found = list(translations)
    weights.network.train()
    return found
