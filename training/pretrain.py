"""The ``pretrain`` command: make a base model from parallel text, from nothing.

One run: tokenizer, Llama-style model, samples built by the planner with a policy drawn per sentence,
checkpoints that resume to the very batch. The same seed gives the same weights on one kind of machine.
"""

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from training.errors import UsageError
from training.settings import Mixture, ModelShape, Optimisation, PretrainSettings

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

    from training.batches import Batch, Stream
    from training.checkpoint import Counters
    from training.loss import Markers


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``pretrain`` to the command line."""
    parser = subparsers.add_parser("pretrain", help="train a base model from aligned pairs")
    parser.add_argument(
        "--data", nargs="+", required=True, metavar="LANG=F.tsv", help="files that align wrote"
    )
    parser.add_argument("--weight", nargs="*", default=[], metavar="CORPUS=W")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--name", default="surtitle-base")
    parser.add_argument("--epochs", type=float, default=Optimisation().epochs)
    parser.add_argument("--batch-tokens", type=int, default=Optimisation().batch_tokens)
    parser.add_argument("--seed", type=int, default=Optimisation().seed)
    parser.add_argument("--slot", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=ModelShape().hidden)
    parser.add_argument("--layers", type=int, default=ModelShape().layers)
    parser.add_argument("--feed-forward", type=int, default=ModelShape().feed_forward)
    parser.add_argument("--heads", type=int, default=ModelShape().heads)
    parser.add_argument("--vocabulary", type=int, default=ModelShape().vocabulary)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--precision", default="auto", choices=("auto", "bf16", "fp32"))
    parser.add_argument(
        "--stop-after", type=int, metavar="STEPS", help="pause here; run again to go on"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Turn arguments into settings and train."""
    try:
        settings = PretrainSettings(
            data={code: Path(path) for code, path in _pairs(arguments.data)},
            weights={name: float(weight) for name, weight in _pairs(arguments.weight)},
            out=arguments.out,
            name=arguments.name,
            slot_length=arguments.slot,
            shape=ModelShape(
                vocabulary=arguments.vocabulary,
                hidden=arguments.hidden,
                layers=arguments.layers,
                heads=arguments.heads,
                feed_forward=arguments.feed_forward,
            ),
            optimisation=Optimisation(
                epochs=arguments.epochs,
                batch_tokens=arguments.batch_tokens,
                seed=arguments.seed,
            ),
            device=arguments.device,
            precision=arguments.precision,
            stop_after_steps=arguments.stop_after,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    for path in settings.data.values():
        if not path.is_file():
            msg = f"{path} was to be read and does not exist: make it with surtitle-train align"
            raise UsageError(msg)
    pretrain(settings)
    return 0


def _pairs(texts: list[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            msg = f"NAME=VALUE was expected, got {text!r}"
            raise UsageError(msg)
        yield name, value


def pretrain(settings: PretrainSettings) -> None:
    """Train a model to its end, or to ``stop_after_steps``, and write its folder."""
    import torch  # noqa: PLC0415  takes seconds; help and usage errors must not wait for it

    torch.manual_seed(settings.optimisation.seed)
    trainer = Trainer(settings, prepare_run(settings))
    trainer.train()


@dataclass(frozen=True, slots=True)
class Run:
    """What a run works on."""

    tokenizer: "PreTrainedTokenizerFast"
    stream: "Stream"
    markers: "Markers"


def prepare_run(settings: PretrainSettings) -> Run:
    """Make or load the tokenizer, encode the data, set up the stream of batches."""
    from transformers import AutoTokenizer, PreTrainedTokenizerFast  # noqa: PLC0415

    from engine.prompt import make_prompt  # noqa: PLC0415
    from engine.settings import LayoutSettings  # noqa: PLC0415
    from training import tokenizer as tokenizers  # noqa: PLC0415
    from training.align import read_aligned  # noqa: PLC0415
    from training.batches import Stream  # noqa: PLC0415
    from training.loss import Markers  # noqa: PLC0415
    from training.pairs import tokenize  # noqa: PLC0415

    settings.out.mkdir(parents=True, exist_ok=True)
    mixture = settings.mixture
    card = tokenizers.make_card(
        name=settings.name,
        languages=settings.data,
        slot_length=settings.slot_length,
        policies=(
            *(f"read:{n}" for n in mixture.n),
            *(f"wait:{k}" for k in mixture.k),
            "offline",
        ),
    )
    if (settings.out / "tokenizer.json").exists():
        tokenizer = AutoTokenizer.from_pretrained(settings.out, local_files_only=True)
        if not isinstance(tokenizer, PreTrainedTokenizerFast):
            msg = f"{settings.out} holds a tokenizer of another kind: choose another folder"
            raise UsageError(msg)
    else:
        texts = (
            text
            for aligned in read_aligned(settings.data.values())
            for text in (aligned.pair.source, aligned.pair.target)
        )
        tokenizer = tokenizers.train_tokenizer(
            texts, vocabulary=settings.shape.vocabulary, languages=settings.data
        )
        tokenizers.save_tokenizer(tokenizer, card, settings.out)
    prompts = {code: make_prompt(tokenizer, card, code) for code in settings.data}
    stream = Stream(
        pairs=list(tokenize(settings.data, tokenizer)),
        prompts=prompts,
        weights=settings.weights,
        mixture=mixture,
        layout=LayoutSettings(slot_length=settings.slot_length),
        batch_tokens=settings.optimisation.batch_tokens,
        seed=settings.optimisation.seed,
    )
    return Run(tokenizer, stream, Markers.of(next(iter(prompts.values()))))


class Trainer:
    """The supervised loop: one owner of model, optimisers and counters."""

    def __init__(self, settings: PretrainSettings, run: Run) -> None:
        import torch  # noqa: PLC0415

        from training.checkpoint import Counters, load_checkpoint  # noqa: PLC0415

        self._settings = settings
        self._run = run
        self._device = pick_device(settings.device)
        self._autocast = settings.precision == "bf16" or (
            settings.precision == "auto" and bf16_pays(self._device)
        )
        self._model = make_model(settings, run.tokenizer).to(self._device)
        self._optimizer = make_optimizer(self._model, settings.optimisation)
        self._checkpoint = settings.out / "checkpoint"
        fingerprint = hashlib.sha256(
            repr(
                (settings.shape, settings.mixture, settings.weights, settings.optimisation.seed)
            ).encode()
        ).hexdigest()[:16]
        counters = load_checkpoint(self._checkpoint, self._model, self._optimizer)
        if counters is not None and counters.fingerprint != fingerprint:
            msg = (
                f"{self._checkpoint} was made with other settings: use them again or another folder"
            )
            raise UsageError(msg)
        self._counters: Counters = counters or Counters(fingerprint=fingerprint)
        self._total_pairs = run.stream.epoch_size() * settings.optimisation.epochs
        self._torch = torch

    def train(self) -> None:
        """Take steps until the pairs are used up, saving as it goes."""
        from training.checkpoint import save_checkpoint  # noqa: PLC0415
        from training.progress import Progress  # noqa: PLC0415

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
                    pairs=counters.pairs + batch.n_pairs,
                    rows=counters.rows + batch.n_rows,
                )
                progress.advance(pairs=batch.n_pairs, rows=batch.n_rows, loss=loss)
                steps_now += 1
                stop = steps_now == self._settings.stop_after_steps
                if stop or counters.step % self._settings.checkpoint_steps == 0:
                    save_checkpoint(self._checkpoint, self._model, self._optimizer, counters)
                if stop:
                    return
        save_checkpoint(self._checkpoint, self._model, self._optimizer, counters)
        save_model(self._model, self._settings.out)

    def _step(self, batch: "Batch", done: float) -> float:
        """Move the weights by one batch; return the loss."""
        self._set_rate(done)
        batch = batch.to(self._device)
        loss = self._loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        self._torch.nn.utils.clip_grad_norm_(
            self._model.parameters(), self._settings.optimisation.clip
        )
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    def _loss(self, batch: "Batch") -> "Tensor":
        from training.loss import batch_loss  # noqa: PLC0415

        with self._torch.autocast(
            self._device.type, dtype=self._torch.bfloat16, enabled=self._autocast
        ):
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


def pick_device(name: str) -> "torch.device":
    """Turn ``auto`` into the best device there is."""
    import torch  # noqa: PLC0415

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def bf16_pays(device: "torch.device") -> bool:
    """Time one matrix product in both precisions: many CPUs only emulate bf16."""
    import torch  # noqa: PLC0415

    if device.type == "cuda":
        return torch.cuda.is_bf16_supported()
    seconds = dict[torch.dtype, float]()
    for dtype in (torch.float32, torch.bfloat16):
        a, b = torch.ones(256, 256, dtype=dtype), torch.ones(256, 256, dtype=dtype)
        torch.mm(a, b)
        start = time.perf_counter()
        for _ in range(5):
            torch.mm(a, b)
        seconds[dtype] = time.perf_counter() - start
    return seconds[torch.bfloat16] < seconds[torch.float32]


def make_model(
    settings: PretrainSettings, tokenizer: "PreTrainedTokenizerFast"
) -> "LlamaForCausalLM":
    """Make a Llama-style model with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415

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


def make_optimizer(model: "LlamaForCausalLM", settings: Optimisation) -> "torch.optim.AdamW":
    """Make AdamW; docs/experiments.md tells why not Muon."""
    import torch  # noqa: PLC0415

    return torch.optim.AdamW(
        model.parameters(),
        lr=settings.rate,
        betas=(0.9, 0.98),
        weight_decay=settings.weight_decay,
    )


def save_model(model: "LlamaForCausalLM", folder: Path) -> None:
    """Write weights in bfloat16 with the configuration that a translator wants."""
    import torch  # noqa: PLC0415

    model.config.use_cache = True
    model.to(dtype=torch.bfloat16).save_pretrained(folder)
    sys.stderr.write(f"wrote {folder}\n")
