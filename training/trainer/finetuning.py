"""Train an adapter: a base, pairs, a method and a mixture of policies become a LoRA folder.

A base needs no surtitle.json: the recipe then has its content, which goes into the adapter's card.
Only safetensors are read, and no code of a folder is run. Files in the run folder, besides those of
every run (``training.trainer.run``): ``adapter``, the result, of the best step on the dev sets, or
of the last step without dev sets.
"""

import datetime as dt
import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from engine.errors import ModelError
from engine.hub.download import Fetching, fetch_model
from engine.metrics.event_log import Translation
from engine.models.adapters.adapter import (
    AdapterCard,
    AdapterScore,
    Corpus,
    check_name,
    write_adapter_card,
)
from engine.models.adapters.lora import CONFIG_FILE, WEIGHTS_FILE
from engine.models.fingerprint import Fingerprint, read_fingerprint
from engine.models.model_card import FILE_NAME, Language, ModelCard, ask_for, read_card
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_loader import TorchWeights, load_network, load_tokenizer
from engine.settings import LayoutSettings, TranslationSettings
from engine.text.prompt import turn_end
from engine.translation.factory import make_system
from engine.translation.feed import translate_lines
from engine.untrusted.plain_files import is_hub_name
from training.errors import TrainingError, UsageError
from training.evaluation.models import find_model
from training.evaluation.runs import fingerprint
from training.evaluation.short_form import CAPACITY
from training.settings import LoraSettings, PromptSettings, TrainSettings
from training.trainer.checkpoint import trained_parameters, whole_tensor
from training.trainer.dev_watch import DevScore, DevWatch, Sources, best_bleu, open_watch
from training.trainer.loss import ForwardLoss
from training.trainer.material import (
    Material,
    find_method,
    prepare,
    slot_lengths,
    trained_policies,
)
from training.trainer.processes import Processes, computes_bf16
from training.trainer.run import Result, Run, Task, Write
from training.trainer.samples import Method
from training.trainer.stream import share_steps

_RESERVED = ("<|reserved_special_token_0|>", "<unused0>", "<|endoftext|>", "<|extra_0|>")
"""Tokens that never occur in chats, so that one of them can end the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A base before training, without its network.

    Attributes:
        name: for messages and the card.
        fingerprint: identifies the model that the adapter fits.
        tokenizer: with the recipe's chat template, if there is one.
        card: prompts, markers and languages of this run.
    """

    name: str
    folder: Path
    fingerprint: Fingerprint
    tokenizer: PreTrainedTokenizerFast
    card: ModelCard


def find_base(settings: TrainSettings, policies: tuple[str, ...]) -> Base:
    """Read the base, all but its weights.

    Args:
        policies: trained policies, for the card.
    """
    folder = find_folder(settings)
    fingerprint = read_fingerprint(folder)
    tokenizer = load_tokenizer(folder)
    if settings.prompt.chat_template:
        tokenizer.chat_template = settings.prompt.chat_template
    own = read_card(folder) if (folder / FILE_NAME).exists() else None
    name = own.name if own else settings.base
    languages = _languages(settings, own, name)
    own_length = own.slot_length if own else 1
    if own_length == 1:  # it was trained without slots
        own_length = LayoutSettings().slot_length
    end_of_source, end_of_write, end_of_target = _ends(settings.prompt, own, tokenizer, name)
    card = ModelCard(
        name=name,
        languages=languages,
        end_of_source=end_of_source,
        end_of_write=end_of_write,
        end_of_target=end_of_target,
        slot_length=settings.slot_lengths[0] if settings.slot_lengths else own_length,
        policies=policies,
    )
    return Base(name=name, folder=folder, fingerprint=fingerprint, tokenizer=tokenizer, card=card)


def base_network(
    base: Base, *, quantise: str, device: torch.device, in_bf16: bool
) -> PreTrainedModel:
    """Load the weights of a base, whole or in 4 bits."""
    dtype = torch.bfloat16 if in_bf16 else torch.float32
    try:
        return load_network(base.folder, quantise=quantise, device=device, dtype=dtype)
    except (torch.OutOfMemoryError, MemoryError) as error:
        msg = (
            f"the base in {base.folder} does not fit into the memory of {device}: keep it in 4 "
            "bits with --quantise nf4, or choose a smaller one"
        )
        raise TrainingError(msg) from error


def recompute_activations(network: PreTrainedModel) -> None:
    """Keep only the inputs of blocks, and recompute the rest for the gradients."""
    # transformers 5.23 renamed it and warns of the old name
    name = "activation_checkpointing_enable"
    enable = getattr(network, name, network.gradient_checkpointing_enable)
    enable({"use_reentrant": False})


def find_folder(settings: TrainSettings) -> Path:
    """Find the folder of a base, or fetch it from the hub."""
    if not settings.base:
        return find_model(None, settings.languages[0])[0]
    folder = Path(settings.base)
    if folder.is_dir():
        return folder
    if not is_hub_name(settings.base):
        msg = f"there is no model folder {settings.base}: name a folder, or a base on the hub"
        raise UsageError(msg)
    with tqdm(desc=settings.base, unit="B", unit_scale=True, disable=None, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return fetch_model(settings.base, settings.models, Fetching(progress=show))


def _languages(settings: TrainSettings, own: ModelCard | None, name: str) -> dict[str, Language]:
    languages = dict[str, Language]()
    for code in settings.languages:
        if settings.prompt.system or own is None:
            text, source = settings.prompt.system, settings.source_language
            languages |= ask_for([code], text=text, source=source)
        elif code in own.languages:
            languages[code] = own.languages[code]
        else:
            msg = (
                f"the base {name} has no system message for {code!r}: write one into a recipe, "
                "under prompt.system"
            )
            raise UsageError(msg)
    return languages


def _ends(
    prompt: PromptSettings,
    own: ModelCard | None,
    tokenizer: PreTrainedTokenizerFast,
    name: str,
) -> tuple[str, str, str]:
    """Return the tokens that end source, write and target, from recipe, card or tokenizer."""
    if own:
        defaults = (own.end_of_source, own.end_of_write, own.end_of_target)
    else:
        end, known = turn_end(tokenizer, name), tokenizer.get_vocab()
        reserved = next((token for token in _RESERVED if token in known and token != end), "")
        defaults = (reserved, end, end)
    asked = (prompt.end_of_source, prompt.end_of_write, prompt.end_of_target)
    source, write, target = (
        token or default for token, default in zip(asked, defaults, strict=True)
    )
    if not (source and write and target):
        msg = (
            f"nothing tells which tokens of {name} end source, write and target: name them in a "
            "recipe, under prompt"
        )
        raise UsageError(msg)
    return source, write, target


def finetune(settings: TrainSettings, processes: Processes) -> None:
    """Train an adapter to its end, or to ``stop_after_steps``, and write its folder."""
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


def named(settings: TrainSettings) -> str:
    """Return the name of the adapter: that of the settings, or of its run folder."""
    try:
        return check_name(settings.name or settings.out.resolve().name)
    except ValueError as error:
        msg = f"the adapter {error}; choose one with --name"
        raise UsageError(msg) from error


def describe(
    settings: TrainSettings,
    base: Base,
    n_pairs: Mapping[str, int],
    method: Method,
    scores: Sequence[DevScore],
) -> AdapterCard:
    """Make the card: purpose, base, data (pairs by corpus), seeds and scores of an adapter."""
    licences = dict(settings.licences)
    return AdapterCard(
        name=named(settings),
        base_name=base.name,
        base=base.fingerprint,
        languages=base.card.languages,
        end_of_source=base.card.end_of_source,
        end_of_write=base.card.end_of_write,
        end_of_target=base.card.end_of_target,
        slot_length=base.card.slot_length,
        policies=base.card.policies,
        slot_lengths=slot_lengths(settings, base.card),
        layout=method.layout,
        source_language=settings.source_language,
        description=settings.description,
        licence=settings.licence,
        created_with=f"surtitle {importlib.metadata.version('surtitle')}",
        created_at=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        data=tuple(
            Corpus(name=name, licence=licences.get(name) or "not stated", pairs=n)
            for name, n in sorted(n_pairs.items())
        ),
        commands=settings.commands,
        seeds=(settings.optimisation.seed,),
        scores=tuple(
            AdapterScore(
                test_set="dev",
                lines=one.lines,
                language=one.language,
                policy=one.policy,
                bleu=round(one.bleu, 2),
                laal=None if one.laal is None else round(one.laal, 2),
                signature=one.signature,
            )
            for one in scores
        ),
    )


_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def attach_lora(network: PreTrainedModel, settings: LoraSettings, base_name: str) -> LoraSettings:
    """Add float32 factors to a network and freeze all else.

    Returns:
        the settings, with the names of the targets.
    """
    try:
        from peft import LoraConfig, inject_adapter_in_model  # noqa: PLC0415  seconds; few need it
    except ImportError as error:
        msg = "adapters need peft: install it with pip install 'surtitle[finetune]'"
        raise TrainingError(msg) from error
    targets = _targets(network, settings, base_name)
    if settings.rank > network.config.hidden_size:
        msg = f"the rank {settings.rank} is above the base's width: {network.config.hidden_size}"
        raise UsageError(msg)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=list(targets),
    )
    inject_adapter_in_model(config, network)
    for parameter in network.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(torch.float32)
    return replace(settings, targets=targets)


def linear_names(network: PreTrainedModel) -> list[str]:
    """List the linear layers of a network's blocks, each name once.

    The output layer is left out: if it is tied, an adapter on it would change the embedding.
    """
    names = dict[str, None]()
    output = network.get_output_embeddings()  # type: ignore[no-untyped-call]
    for path, module in network.named_modules():
        if isinstance(module, nn.Linear) and module is not output:
            names[path.rpartition(".")[2]] = None
    return list(names)


def _targets(network: PreTrainedModel, settings: LoraSettings, base_name: str) -> tuple[str, ...]:
    known = linear_names(network)
    for target in settings.targets:
        if target not in known:
            msg = f"the base {base_name} has no linear layer {target}: it has {', '.join(known)}"
            raise UsageError(msg)
    return tuple(sorted(settings.targets or known))


def save_adapter(
    folder: Path, factors: Mapping[str, Tensor], settings: LoraSettings, card: AdapterCard
) -> None:
    """Write an adapter into an empty folder and check it against its card.

    Args:
        folder: exists.
        factors: see ``whole_factors``.
        settings: with the names of the targets.
        card: its ``weights_sha256`` is filled in.
    """
    path = folder / WEIGHTS_FILE
    dtype = _DTYPES[settings.stored]
    save_file({name: factor.to(dtype) for name, factor in factors.items()}, path, {"format": "pt"})
    path.chmod(0o644)  # the library makes it private; an adapter is to be shared
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": card.base_name,
        "r": settings.rank,
        "lora_alpha": settings.alpha,
        "lora_dropout": settings.dropout,
        "target_modules": list(settings.targets),
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "modules_to_save": None,
        "use_rslora": False,
    }
    text = json.dumps(config, indent=2) + "\n"
    (folder / CONFIG_FILE).write_text(text, encoding="utf-8")
    write_adapter_card(folder, card)


def whole_factors(network: nn.Module) -> dict[str, Tensor]:
    """Copy the factors under peft's names; all processes must call it."""
    return {
        f"base_model.model.{name.removesuffix('.default.weight')}.weight": whole_tensor(parameter)
        for name, parameter in trained_parameters(network)
    }
