"""Train a new base model from parallel text, by Muon or AdamW.

One run: tokenizer, Llama or Falcon model, samples built by the planner with a policy drawn per
sentence, checkpoints that resume to the very batch.
"""

import ctypes
import logging
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

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

from engine.models.model_card import ModelCard, read_card
from engine.runtime.load_plan import pick_device
from engine.runtime.torch.attention import take_over_alibi
from engine.runtime.torch.torch_loader import load_network
from training.data.alignment import read_aligned
from training.evaluation.runs import fingerprint
from training.settings import Optimisation, TrainSettings
from training.trainer.dev_watch import open_watch
from training.trainer.export import name_weights
from training.trainer.loss import BareLoss
from training.trainer.material import (
    find_method,
    prepare,
    trained_policies,
)
from training.trainer.processes import OneProcess, computes_bf16
from training.trainer.run import Run, Task
from training.trainer.stream import share_steps, steps_ahead
from training.trainer.tokenizer import make_card, save_tokenizer, train_tokenizer

_log = logging.getLogger(__name__)
_MAX_POSITIONS = 1024

_TERMS = ("LICENSE", "NOTICE", "README.md")
"""Files of a folder that hold for what is made of it."""


def pretrain(settings: TrainSettings) -> None:
    """Train a model to its end, or to ``stop_after_steps``, and write its folder."""
    torch.manual_seed(settings.optimisation.seed)
    tokenizer, card = _tokenizer(settings), _card(settings)
    base = "" if settings.train_on is None else fingerprint(settings.train_on)
    material = prepare(settings, settings.data, tokenizer, card, base)
    if not (settings.out / "tokenizer.json").exists():
        settings.out.mkdir(parents=True, exist_ok=True)
        save_tokenizer(tokenizer, card, settings.out)
        if settings.train_on is not None:
            for name in _TERMS:
                if (settings.train_on / name).exists():
                    shutil.copy(settings.train_on / name, settings.out)
    device = pick_device(settings.device)
    _keep_freed_memory()
    model = make_model(settings, tokenizer)
    model.to(device=device)  # type: ignore[call-arg]
    dtype = torch.bfloat16 if computes_bf16(settings.precision, device) else torch.float32
    loss = BareLoss(
        model,
        material.markers,
        settings.optimisation.label_smoothing,
        dtype=dtype,
        compiled=settings.compiled,
    )
    loss.use_dropout(settings.dropout)
    if settings.quantise == "int4":
        loss.use_4_bits()

    def make(_: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        return make_optimizer(settings.optimisation, model, dtype)

    processes = OneProcess(device)
    task = Task(
        fingerprint=material.fingerprint,
        total_pairs=material.total_pairs,
        step_pairs=material.step_pairs,
        network=model,
        make_optimizer=make,
        loss=loss,
        steps=(
            partial(steps_ahead, material.stream, settings.workers)
            if settings.workers
            else partial(share_steps, material.stream, processes, settings.pass_tokens)
        ),
    )
    if Run(task, settings, processes, open_watch(settings, material.fingerprint)).train():
        save_model(model, settings.out)
        name_weights(settings.out)


def _keep_freed_memory() -> None:
    """Let the C library keep what is freed; to fetch its pages again costs a tenth of a step.

    glibc gives large blocks back at once; elsewhere this does nothing.
    """
    if sys.platform != "linux" or not hasattr(libc := ctypes.CDLL(None), "mallopt"):
        return
    m_trim_threshold, m_mmap_max = -1, -4  # malloc.h
    libc.mallopt(m_mmap_max, 0)
    libc.mallopt(m_trim_threshold, 2**31 - 1)


def _tokenizer(settings: TrainSettings) -> PreTrainedTokenizerFast:
    """Load the tokenizer of the run, or of the run it begins with, or train one on the data."""
    known = (settings.out / "tokenizer.json").exists()
    learnt = settings.out if known else settings.train_on or settings.begin_with
    if learnt is not None:
        tokenizer: PreTrainedTokenizerFast = PreTrainedTokenizerFast.from_pretrained(
            learnt, local_files_only=True, trust_remote_code=False
        )
        return tokenizer
    texts = (
        text
        for aligned in read_aligned(settings.data.values())
        for text in (aligned.pair.source, aligned.pair.target)
    )
    return train_tokenizer(texts, vocabulary=settings.shape.vocabulary, languages=settings.data)


def _card(settings: TrainSettings) -> ModelCard:
    policies = trained_policies(settings, find_method(settings))
    if settings.train_on is not None:
        card = read_card(settings.train_on)
        return replace(
            card,
            name=settings.name or card.name,
            languages={code: card.language(code) for code in settings.data},
            slot_length=settings.slot_lengths[0],
            policies=policies,
        )
    return make_card(
        name=settings.name,
        languages=settings.data,
        slot_length=settings.slot_lengths[0],
        one_end=settings.one_end,
        policies=policies,
    )


def make_model(settings: TrainSettings, tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    """Make a model with random weights, or load the one to train on, as the engine expects it."""
    if settings.train_on is not None:
        network = load_network(
            settings.train_on,
            quantise="none",
            device=torch.device("cpu"),
            dtype=torch.float32,
        )
        network.config.use_cache = False
        network.train()
        return network
    shape = settings.shape
    shared = {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "max_position_embeddings": _MAX_POSITIONS,
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
    in_layers = [each for each in parameters if each.dim() == 2 and each is not embeddings]
    return Muon(
        in_layers,
        [each for each in parameters if not any(each is matrix for matrix in in_layers)],
        rate=settings.rate,
        weight_decay=settings.weight_decay,
        dtype=dtype,
    )


def save_model(model: PreTrainedModel, folder: Path) -> None:
    """Write weights in bfloat16 with the configuration that a translator needs."""
    model.config.use_cache = True
    if model.generation_config is not None:
        model.generation_config.use_cache = True
    model.to(dtype=torch.bfloat16)  # type: ignore[call-arg]
    model.save_pretrained(folder)
    _log.info("wrote %s", folder)


_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5
_MOMENTUM = 0.95
_MATRIX_RATE = 2.0  # over that of AdamW


class Muon(torch.optim.AdamW):
    """AdamW for embeddings, norms and heads; orthogonalised momentum for the other matrices."""

    def __init__(
        self,
        matrices: Iterable[nn.Parameter],
        others: Iterable[nn.Parameter],
        *,
        rate: float,
        weight_decay: float,
        dtype: torch.dtype,
    ) -> None:
        """Take the parameters of one model.

        Args:
            matrices: of two dimensions, inside the layers.
            others: moved by AdamW.
            rate: learning rate of the others.
            weight_decay: of both, decoupled.
            dtype: of the iterations: bfloat16 where it is fast, else float32.
        """
        groups = [
            {"params": list(matrices), "orthogonal": True, "rate_scale": _MATRIX_RATE},
            {"params": list(others), "orthogonal": False, "rate_scale": 1.0},
        ]
        super().__init__(groups, lr=rate, betas=(0.9, 0.98), weight_decay=weight_decay, fused=True)
        self._dtype = dtype

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Update all parameters; the gradients of the matrices are set to None."""
        for group in self.param_groups:
            if group["orthogonal"]:
                self._move_matrices(group)
        return cast("float | None", super().step(closure))

    def _move_matrices(self, group: dict[str, object]) -> None:
        rate, decay = cast("float", group["lr"]), cast("float", group["weight_decay"])
        by_shape = defaultdict[torch.Size, list[nn.Parameter]](list)
        for parameter in cast("list[nn.Parameter]", group["params"]):
            if parameter.grad is not None:
                by_shape[parameter.shape].append(parameter)
        for shape, parameters in by_shape.items():
            directions = orthogonalise(
                torch.stack([self._momentum(parameter) for parameter in parameters]), self._dtype
            )
            scale = 0.2 * max(shape) ** 0.5
            for parameter, direction in zip(parameters, directions, strict=True):
                parameter.mul_(1 - rate * decay).add_(direction, alpha=-rate * scale)
                parameter.grad = None  # so that AdamW leaves it alone

    def _momentum(self, parameter: nn.Parameter) -> Tensor:
        """Add a gradient to its momentum; return Nesterov's look-ahead."""
        gradient = cast("Tensor", parameter.grad)
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())  # AdamW needs a count in every state
            state["momentum"] = torch.zeros_like(parameter)
        state["step"] += 1
        momentum: Tensor = state["momentum"]
        momentum.lerp_(gradient, 1 - _MOMENTUM)
        return gradient.lerp(momentum, _MOMENTUM)


def orthogonalise(matrices: Tensor, dtype: torch.dtype) -> Tensor:
    """Bring all singular values of each matrix near 1 (0.7 to 1.2), by Newton and Schulz.

    Args:
        matrices: floating, shape (N, A, B).
        dtype: of the computation.

    Returns:
        shape (N, A, B), of ``dtype``.
    """
    a, b, c = _COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    x = (matrices.mT if tall else matrices).to(dtype)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_ITERATIONS):
        gram = x @ x.mT  # (N, A, A), A the shorter side
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x
