"""Make a base model from parallel text, from nothing.

One run: tokenizer, Llama-style model, samples built by the planner with a policy drawn per
sentence, checkpoints that resume to the very batch. The same seed gives the same weights on one
kind of machine.
"""

import hashlib
import logging
import time
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from engine.card import ModelCard
from engine.model import pick_device
from engine.prompt import make_prompt
from engine.settings import LayoutSettings
from training.align import read_aligned
from training.batches import Batch, Stream
from training.checkpoint import Counters, load_checkpoint, read_counters, save_checkpoint
from training.errors import CorpusError, UsageError
from training.loss import Markers, batch_loss
from training.pairs import tokenize
from training.progress import Progress
from training.settings import Optimisation, PretrainSettings
from training.tokenizer import make_card, save_tokenizer, train_tokenizer

_log = logging.getLogger(__name__)


def pretrain(settings: PretrainSettings) -> None:
    """Train a model to its end, or to ``stop_after_steps``, and write its folder."""
    torch.manual_seed(settings.optimisation.seed)
    trainer = Trainer(settings, prepare_run(settings))
    trainer.train()


@dataclass(frozen=True, slots=True)
class Run:
    """What a run works on."""

    tokenizer: PreTrainedTokenizerFast
    stream: Stream
    markers: Markers


def prepare_run(settings: PretrainSettings) -> Run:
    """Make or load the tokenizer, encode the data, set up the stream of batches."""
    known = (settings.out / "tokenizer.json").exists()
    if known:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(settings.out, local_files_only=True)
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


class Trainer:
    """The supervised loop: one owner of model, optimiser and counters."""

    def __init__(self, settings: PretrainSettings, run: Run) -> None:
        self._settings = settings
        self._run = run
        self._device = pick_device(settings.device)
        self._autocast = settings.precision == "bf16" or (
            settings.precision == "auto" and bf16_pays(self._device)
        )
        self._model = make_model(settings, run.tokenizer)
        self._model.to(device=self._device)  # type: ignore[call-arg]
        self._optimizer = make_optimizer(self._model, settings.optimisation)
        self._checkpoint = settings.out / "checkpoint"
        fingerprint = _fingerprint(settings)
        counters = read_counters(self._checkpoint)
        if counters is not None and counters.fingerprint != fingerprint:
            msg = f"{self._checkpoint} was made with other settings: use those or another folder"
            raise UsageError(msg)
        load_checkpoint(self._checkpoint, self._model, self._optimizer)
        self._counters: Counters = counters or Counters(fingerprint=fingerprint)
        self._total_pairs = run.stream.epoch_size() * settings.optimisation.epochs

    def train(self) -> None:
        """Take steps until the pairs are used up, saving as it goes."""
        counters = self._counters
        steps_now = 0
        with Progress(self._total_pairs, counters.pairs) as progress:
            for batch in self._run.stream.batches(skip=counters.step):
                if counters.pairs >= self._total_pairs:
                    break
                loss = self._step(batch, counters.pairs / self._total_pairs)
                counters = replace(
                    counters,
                    step=counters.step + 1,
                    pairs=counters.pairs + int(batch.n_pairs),
                    rows=counters.rows + batch.n_rows,
                )
                progress.advance(pairs=int(batch.n_pairs), rows=batch.n_rows, loss=loss)
                steps_now += 1
                stop = steps_now == self._settings.stop_after_steps
                if stop or counters.step % self._settings.checkpoint_steps == 0:
                    save_checkpoint(self._checkpoint, self._model, self._optimizer, counters)
                if stop:
                    return
        save_checkpoint(self._checkpoint, self._model, self._optimizer, counters)
        save_model(self._model, self._settings.out)

    def _step(self, batch: Batch, done: float) -> float:
        """Move the weights by one batch; return the loss."""
        self._set_rate(done)
        batch = batch.to(self._device)
        loss = self._loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), self._settings.optimisation.clip)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    def _loss(self, batch: Batch) -> Tensor:
        with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=self._autocast):
            return batch_loss(
                self._model,
                batch,
                self._run.markers,
                self._settings.optimisation.label_smoothing,
            )

    def _set_rate(self, done: float) -> None:
        """Warm up linearly, then fall linearly to nothing."""
        warm_up = self._settings.optimisation.warm_up
        scale = done / warm_up if done < warm_up else (1 - done) / (1 - warm_up)
        scale = max(scale, 1e-3)
        for group in self._optimizer.param_groups:
            group["lr"] = self._settings.optimisation.rate * scale


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
    )
    return hashlib.sha256(repr(shared).encode()).hexdigest()[:16]


def bf16_pays(device: torch.device) -> bool:
    """Time one matrix product in both precisions: many CPUs only emulate bf16."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    seconds = dict[torch.dtype, float]()
    for dtype in (torch.float32, torch.bfloat16):
        a, b = torch.ones(256, 256, dtype=dtype), torch.ones(256, 256, dtype=dtype)
        torch.mm(a, b)
        start = time.perf_counter()
        for _ in range(5):
            torch.mm(a, b)
        seconds[dtype] = time.perf_counter() - start
    return seconds[torch.bfloat16] < seconds[torch.float32]


def make_model(settings: PretrainSettings, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Make a Llama-style model with random weights."""
    shape = settings.shape
    config = LlamaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.feed_forward,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        max_position_embeddings=shape.max_positions,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        use_cache=False,
    )
    return LlamaForCausalLM(config)


def make_optimizer(model: LlamaForCausalLM, settings: Optimisation) -> torch.optim.AdamW:
    """Make AdamW; docs/experiments.md tells why not Muon."""
    return torch.optim.AdamW(
        model.parameters(),
        lr=settings.rate,
        betas=(0.9, 0.98),
        weight_decay=settings.weight_decay,
    )


def save_model(model: LlamaForCausalLM, folder: Path) -> None:
    """Write weights in bfloat16 with the configuration that a translator wants."""
    model.config.use_cache = True
    if model.generation_config is not None:
        model.generation_config.use_cache = True
    model.to(dtype=torch.bfloat16)  # type: ignore[call-arg]
    model.save_pretrained(folder)
    _log.info("wrote %s", folder)
