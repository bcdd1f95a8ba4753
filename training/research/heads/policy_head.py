"""Train a policy head beside a model or an adapter, whose weights stay as they are.

The states of all source words are computed once, in masked passes over aligned pairs, or over what
the model itself makes of their sources; the head is a logistic regression on them, fitted to its
end.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from tqdm import tqdm
from transformers import PreTrainedModel

from engine.errors import ModelError
from engine.layout.registry import make_planner
from engine.messages import Code
from engine.models.adaptive_card import HEAD_FILE, HEAD_TENSOR, AdaptiveCard, head_sha256
from engine.models.model_card import ModelCard
from engine.models.policy_head import read_head
from engine.models.resolve import resolve
from engine.runtime.loader import load_by_torch
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_loader import TorchWeights
from engine.settings import LayoutSettings, ModelSettings
from engine.text.prompt import Prompt, make_prompt
from engine.untrusted.faults import fault_of
from training.data.corpus import replacing
from training.errors import CorpusError, UsageError
from training.evaluation.named_card import change_adaptive
from training.research.heads.decisions import Decisions, build_decisions
from training.research.heads.stability import (
    Owner,
    find_stability,
    keep_stability,
    read_sources,
    source_ids,
)
from training.research.methods import LEVELS
from training.trainer.material import is_text
from training.trainer.samples.batches import Example, pad
from training.trainer.samples.pairs import tokenize

_Drawn = TypeVar("_Drawn")

_KEPT_BACK = 10
"""Of so many pairs one is not trained on, to measure the head."""

_PASS_ROWS = 4096
_RIDGE = 1e-4
_STEPS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadSettings:
    """The data that a head is trained on.

    Attributes:
        model: the folder, and the adapter whose head it is, if there is one.
        language: target of the data.
        data: aligned pairs; for labels of stability pairs of any kind, or sources.
        n_pairs: drawn from them.
        max_length: source and target tokens of a pair; of a source half as many.
        labels: file that keeps labels of stability; None for those of the alignment.
        reads_target: the head reads the row that is asked for a token, not the newest source row.
    """

    model: ModelSettings
    language: str
    data: Path
    n_pairs: int
    max_length: int = 256
    seed: int = 1
    labels: Path | None = None
    reads_target: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadReport:
    """How good a head is on the decisions that were kept back.

    Attributes:
        n_trained, n_kept_back: decisions.
        cross_entropy: in nats a decision.
        of_the_rate: the same for a head that always says the mean.
        writes: by tau, the share of words after which it would write.
    """

    n_trained: int
    n_kept_back: int
    cross_entropy: float
    of_the_rate: float
    writes: dict[float, float]


def train_head(settings: HeadSettings) -> HeadReport:
    """Train a head and write it beside its card, which then names it.

    The card loses the lags of the head before.

    Raises:
        SurtitleError: model or adapter cannot be used, or the card cannot be written.
        CorpusError: no pair of the data can be used.
        TrainingError: the file of labels cannot be used.
        UsageError: the layout computes rows again, which no head can be trained for, or asks the
            source, and the head is to read the target side.
    """
    weights = load_by_torch(settings.model)
    layout = resolve(weights.card).layout
    if layout.name == "recomputed":
        msg = "a head is trained for layouts that compute every row once, got 'recomputed'"
        raise UsageError(msg)
    prompt = make_prompt(weights.tokenizer, weights.card, settings.language)
    if settings.reads_target and make_planner(prompt.headers, layout).end_of_read is not None:
        msg = f"{layout.name!r} asks the source when to write: train with --side source"
        raise UsageError(msg)
    attention = Attention.of(weights.network)
    rng = random.Random(f"policy head {settings.seed}")
    decide = _by_alignment if settings.labels is None else _by_stability
    decisions = [one for one in decide(settings, weights, prompt, layout, rng) if one.asked]
    kept_back, trained = (
        decisions[::_KEPT_BACK],
        [one for index, one in enumerate(decisions) if index % _KEPT_BACK],
    )
    if not trained:
        kind = "a translation" if settings.labels else "a schedule"
        msg = f"{settings.data} has too few pairs with {kind} and two source words: take more"
        raise CorpusError(msg)
    ranked = attention.ranks(layout)
    states, labels = _states(weights.network, attention, trained, ranked=ranked)
    direction = fit(states, labels)
    del states
    save_head(settings.model, direction, reads_target=settings.reads_target)
    return _report(
        direction, labels, *_states(weights.network, attention, kept_back, ranked=ranked)
    )


def fit(states: Tensor, labels: Tensor) -> Tensor:
    """Return the direction in which a write becomes likelier, shape (width,).

    Args:
        states: float32, shape (N, width).
        labels: float32, shape (N,), 0 to 1.
    """
    direction = torch.zeros(states.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([direction], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = binary_cross_entropy_with_logits(states @ direction, labels)
        value = value + _RIDGE * direction.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return direction.detach()


def read_direction(folder: Path, card: ModelCard, width: int) -> Tensor | None:
    """Return the rows of the head that a card names, shape (2, width); None if it names none.

    Raises:
        ModelError: the file cannot be used.
    """
    try:
        head = read_head(folder, card.adaptive, width)
    except (OSError, ValueError) as error:
        reason = fault_of(error, HEAD_FILE)
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error
    return None if head is None else torch.from_numpy(head.weight).float()


def save_head(model: ModelSettings, direction: Tensor, *, reads_target: bool = False) -> None:
    """Write a head beside the card of a model or its adapter, and name it there.

    While the file is replaced the card names no head, so that a stop leaves a sound folder.
    """
    folder = model.adapter or model.directory
    write = direction.numpy().astype(np.float32) / 2
    change_adaptive(model.directory, model.adapter, lambda _: None)
    with replacing(folder / HEAD_FILE) as fresh:
        save_file({HEAD_TENSOR: np.stack([-write, write])}, fresh)
    adaptive = AdaptiveCard(head_sha256=head_sha256(folder), head_reads_target=reads_target)
    change_adaptive(model.directory, model.adapter, lambda _: adaptive)


def _by_alignment(
    settings: HeadSettings,
    weights: TorchWeights,
    prompt: Prompt,
    layout: LayoutSettings,
    rng: random.Random,
) -> list[Decisions]:
    """Return the decisions of aligned pairs."""
    pairs = tokenize({settings.language: settings.data}, weights.tokenizer, settings.max_length)
    usable = (one for one in pairs if one.pair.needs is not None and is_text(one, prompt))
    return [
        build_decisions(
            one.pair,
            prompt,
            layout,
            level=rng.randrange(len(LEVELS)),
            reads_target=settings.reads_target,
        )
        for one in _drawn(usable, settings.n_pairs, rng)
    ]


def _by_stability(
    settings: HeadSettings,
    weights: TorchWeights,
    prompt: Prompt,
    layout: LayoutSettings,
    rng: random.Random,
) -> list[Decisions]:
    """Return the decisions of sources, after what the model itself has written."""
    assert settings.labels is not None
    max_tokens = settings.max_length // 2
    sources = read_sources(settings.data, weights.tokenizer, max_tokens)
    drawn = list(dict.fromkeys(_drawn(sources, settings.n_pairs, rng)))
    owner = Owner.of(settings.model, prompt, layout)
    find = partial(find_stability, weights, prompt, layout, max_tokens=max_tokens)
    return [
        build_decisions(
            one.pair(source_ids(weights.tokenizer, one.source)),
            prompt,
            layout,
            level=rng.randrange(len(LEVELS)),
            labels=one.labels,
            reads_target=settings.reads_target,
        )
        for one in keep_stability(settings.labels, owner, drawn, find)
        if one.target
    ]


def _drawn(items: Iterable[_Drawn], n: int, rng: random.Random) -> list[_Drawn]:
    """Draw ``n`` items, each as likely as any other, and keep no others in memory."""
    drawn = list[_Drawn]()
    for number, item in enumerate(items):
        if number < n:
            drawn.append(item)
        elif (index := rng.randrange(number + 1)) < n:
            drawn[index] = item
    rng.shuffle(drawn)
    return drawn


@torch.no_grad()  # inference tensors could not be fitted to
def _states(
    network: PreTrainedModel, attention: Attention, decisions: Sequence[Decisions], *, ranked: bool
) -> tuple[Tensor, Tensor]:
    """Compute what the head reads and should answer, shapes (N, width) and (N,)."""
    found, labels = list[Tensor](), list[float]()
    for batch in tqdm([*_batches(decisions)], desc="states", disable=None, leave=False):
        rows = pad([Example(one.rows, ends_writes=True) for one in batch]).to(network.device)
        output = network(
            input_ids=rows.ids,
            position_ids=rows.places.encoded,
            attention_mask=rows.bias(attention, ranked=ranked),
            use_cache=False,
            logits_to_keep=1,
            output_hidden_states=True,
        )
        states: Tensor = output.hidden_states[-1]
        for index, one in enumerate(batch):
            found.append(states[index, list(one.asked)].float().cpu())
            labels += one.labels
    return torch.cat(found), torch.tensor(labels)


def _batches(decisions: Sequence[Decisions]) -> Iterator[Sequence[Decisions]]:
    """Put samples of like lengths together, so many that a pass has ``_PASS_ROWS`` rows."""
    ordered = sorted(decisions, key=lambda one: len(one.rows), reverse=True)
    start = 0
    while start < len(ordered):
        end = start + max(1, _PASS_ROWS // len(ordered[start].rows))
        yield ordered[start:end]
        start = end


def _report(direction: Tensor, trained: Tensor, states: Tensor, labels: Tensor) -> HeadReport:
    logits = states @ direction
    rate = trained.mean().clamp(1e-6, 1 - 1e-6).logit().expand_as(labels)
    likely = logits.sigmoid()
    return HeadReport(
        n_trained=len(trained),
        n_kept_back=len(labels),
        cross_entropy=float(binary_cross_entropy_with_logits(logits, labels)),
        of_the_rate=float(binary_cross_entropy_with_logits(rate, labels)),
        writes={tau: float((likely > tau).float().mean()) for tau in (0.1, 0.2, 0.3, 0.5, 0.7)},
    )
