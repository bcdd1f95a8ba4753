"""Make a base model from parallel text, from nothing.

One run: tokenizer, Llama or Falcon model, samples built by the planner with a policy drawn per
sentence, checkpoints that resume to the very batch. The same seed gives the same weights on one
kind of machine.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import (
    FalconConfig,
    FalconForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from engine.inference.attention import take_over_alibi
from engine.loading.device import pick_device
from engine.models.model_card import ModelCard
from engine.settings import LayoutSettings
from engine.text.prompt import make_prompt
from training.data.aligned_pairs import read_aligned
from training.errors import CorpusError
from training.pretraining.tokenizer import make_card, save_tokenizer, train_tokenizer
from training.samples.batches import Batch, Stream
from training.samples.loss import BareLoss, Markers
from training.samples.pairs import tokenize
from training.settings import Optimisation, PretrainSettings
from training.trainer.checkpoint import Counters
from training.trainer.distributed import OneProcess
from training.trainer.learning_rates import WarmUpStableDecay
from training.trainer.loop import Pass, Plan, Step, Trainer
from training.trainer.muon import Muon
from training.trainer.precision import computes_bf16
from training.trainer.step_log import StepRecord

_log = logging.getLogger(__name__)


def pretrain(settings: PretrainSettings) -> None:
    """Train a model to its end, or to ``stop_after_steps``, and write its folder."""
    torch.manual_seed(settings.optimisation.seed)
    run = prepare_run(settings)
    device = pick_device(settings.device)
    model = make_model(settings, run.tokenizer)
    model.to(device=device)  # type: ignore[call-arg]
    dtype = torch.bfloat16 if computes_bf16(settings.precision, device) else torch.float32
    bare = BareLoss(
        model,
        run.markers,
        settings.optimisation.label_smoothing,
        dtype=dtype,
        compiled=settings.compiled,
    )

    def make(_: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        return make_optimizer(settings.optimisation, model, dtype)

    def loss(_: nn.Module, batch: Batch) -> Tensor:
        return bare(batch)

    trainer = Trainer(_plan(settings, run.stream), model, make, loss, OneProcess(device))
    with StepRecord(settings.out / "steps.jsonl", trainer.step, None) as record:
        ended = trainer.train(partial(_steps, run.stream), record.write)
    if ended:
        save_model(model, settings.out)


@dataclass(frozen=True, slots=True)
class Run:
    """What a run works on."""

    tokenizer: PreTrainedTokenizerFast
    stream: Stream
    markers: Markers


def prepare_run(settings: PretrainSettings) -> Run:
    """Make or load the tokenizer, encode the data, set up the stream of batches."""
    known = (settings.out / "tokenizer.json").exists()
    learnt = settings.out if known else settings.begin_with
    if learnt is not None:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(
            learnt, local_files_only=True, trust_remote_code=False
        )
    else:
        tokenizer = _learn_tokenizer(settings)
    pairs = list(tokenize(settings.data, tokenizer))
    if not pairs:
        names = ", ".join(map(str, settings.data.values()))
        msg = f"there are no pairs to train on in {names}: make them with surtitle-train align"
        raise CorpusError(msg)
    if not known:
        settings.out.mkdir(parents=True, exist_ok=True)
        save_tokenizer(tokenizer, _card(settings), settings.out)
    prompts = {code: make_prompt(tokenizer, _card(settings), code) for code in settings.data}
    stream = Stream(
        pairs=pairs,
        prompts=prompts,
        weights=settings.weights,
        mixture=settings.mixture,
        layout=LayoutSettings(slot_length=settings.slot_length),
        batch_tokens=settings.optimisation.batch_tokens,
        seed=settings.optimisation.seed,
    )
    return Run(tokenizer, stream, Markers.of(next(iter(prompts.values()))))


def _learn_tokenizer(settings: PretrainSettings) -> PreTrainedTokenizerFast:
    texts = (
        text
        for aligned in read_aligned(settings.data.values())
        for text in (aligned.pair.source, aligned.pair.target)
    )
    return train_tokenizer(texts, vocabulary=settings.shape.vocabulary, languages=settings.data)


def _card(settings: PretrainSettings) -> ModelCard:
    mixture = settings.mixture
    return make_card(
        name=settings.name,
        languages=settings.data,
        slot_length=settings.slot_length,
        one_end=settings.one_end,
        policies=(
            *(f"read:{n}" for n in mixture.n),
            *(f"wait:{k}" for k in mixture.k),
            "offline",
        ),
    )


def _steps(stream: Stream, taken: Counters) -> Iterator[Step]:
    """Make each batch a step of one pass."""
    for batch in stream.batches(skip_pairs=taken.pairs):
        yield Step([Pass(batch, 1.0)], batch.n_pairs, batch.n_rows)


def _plan(settings: PretrainSettings, stream: Stream) -> Plan:
    optimisation = settings.optimisation
    return Plan(
        checkpoint=settings.out / "checkpoint",
        fingerprint=_fingerprint(settings),
        total_pairs=stream.epoch_size() * optimisation.epochs,
        rates=WarmUpStableDecay(optimisation.rate, optimisation.warm_up_steps, optimisation.decay),
        clip=optimisation.clip,
        seed=optimisation.seed,
        checkpoint_steps=settings.checkpoint_steps,
        stop_after_steps=settings.stop_after_steps,
        begin_with=settings.begin_with and settings.begin_with / "checkpoint",
    )


def _fingerprint(settings: PretrainSettings) -> str:
    """Digest what a resumed run must share; the number of epochs may change."""
    optimisation = settings.optimisation
    shared = (
        sorted(settings.data.items()),
        settings.weights,
        settings.slot_length,
        settings.one_end,
        settings.shape,
        settings.mixture,
        optimisation.batch_tokens,
        optimisation.seed,
        *([settings.mixture.cut_writes] if settings.mixture.cut_writes else []),
        optimisation.optimizer,
        *([settings.shape.architecture] if settings.shape.architecture != "llama" else []),
    )
    return hashlib.sha256(repr(shared).encode()).hexdigest()[:16]


def make_model(settings: PretrainSettings, tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    """Make a model with random weights, as the engine runs it."""
    shape = settings.shape
    shared = {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "max_position_embeddings": shape.max_positions,
        "tie_word_embeddings": True,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "use_cache": False,
    }
    if shape.architecture == "llama":
        return LlamaForCausalLM(
            LlamaConfig(
                intermediate_size=shape.feed_forward, num_key_value_heads=shape.heads, **shared
            )
        )
    falcon = FalconForCausalLM(
        FalconConfig(
            ffn_hidden_size=shape.feed_forward,
            alibi=True,
            multi_query=False,
            parallel_attn=False,
            **shared,
        )
    )
    take_over_alibi(falcon)
    return falcon


def make_optimizer(
    settings: Optimisation, model: PreTrainedModel, dtype: torch.dtype
) -> torch.optim.Optimizer:
    """Make the optimizer of a model; Muon computes in ``dtype``."""
    if settings.optimizer == "adamw":
        return torch.optim.AdamW(
            model.parameters(),
            lr=settings.rate,
            betas=(0.9, 0.98),
            weight_decay=settings.weight_decay,
            fused=True,
        )
    embeddings = model.get_input_embeddings().weight
    parameters = list(model.parameters())
    in_layers = [one for one in parameters if one.dim() == 2 and one is not embeddings]
    return Muon(
        in_layers,
        [one for one in parameters if not any(one is other for other in in_layers)],
        rate=settings.rate,
        matrix_rate_scale=settings.matrix_rate_scale,
        weight_decay=settings.weight_decay,
        dtype=dtype,
    )


def save_model(model: PreTrainedModel, folder: Path) -> None:
    """Write weights in bfloat16 with the configuration that a translator wants."""
    model.config.use_cache = True
    if model.generation_config is not None:
        model.generation_config.use_cache = True
    model.to(dtype=torch.bfloat16)  # type: ignore[call-arg]
    model.save_pretrained(folder)
    _log.info("wrote %s", folder)
