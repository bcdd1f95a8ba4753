"""When to write, learnt beside a model that stays as it is: ``policy-head``.

The states of all source words are computed once, in masked passes over aligned pairs; the head is a
logistic regression on them, fitted to its end. A pair's schedule says where a write could begin.
Each level keeps the boundaries that stand so many words apart or more, so later levels lag more and
keep fewer. The answer at a word is the share of levels that keep the boundary after it: a tau from
0 to 1 then goes through the levels. Source: EASiST (Fu et al. 2025), whose labels come from chunks
of three latencies. Our deviations: chunks come from word alignments, and no token of a target is
labelled (a write is likely as it is).
"""

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from tqdm import tqdm
from transformers import PreTrainedModel

from engine.layout.planner import make_planner, planner_of
from engine.layout.rows import Row
from engine.models.resolve import resolve
from engine.policy import Action
from engine.runtime.loader import load_by_torch
from engine.runtime.torch.attention import Attention
from engine.settings import DEVICES, LayoutSettings, ModelSettings
from engine.text.prompt import Prompt, make_prompt
from training.commands.command_line import named_values
from training.errors import CorpusError, UsageError
from training.evaluation.models import measured_model
from training.research.adaptive import save_head
from training.research.methods import LEVELS, nested_boundaries
from training.trainer.material import is_text
from training.trainer.samples import AlignedReads, TokenizedPair, play, tokenize
from training.trainer.stream import Example, pad

_Drawn = TypeVar("_Drawn")

_KEPT_BACK = 10  # of so many pairs one is not trained on, to measure the head
_MOST_TOKENS = 256  # of source and target together
_PASS_ROWS, _RIDGE, _STEPS = 4096, 1e-4, 200


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "policy-head",
        help="teach a model when to write under adaptive policies",
        description="Train the policy head of a model or an adapter, which stays as it is, on "
        "aligned pairs; write it beside the card. adaptive:TAU then asks the head.",
    )
    add = parser.add_argument
    add("--model", type=Path, required=True, metavar="DIR")
    add("--adapter", type=Path, metavar="DIR", help="whose head it becomes")
    pairs = "aligned pairs of a target language"
    add("--data", required=True, metavar="LANG=F.tsv", help=pairs)
    drawn = "drawn from them (%(default)s)"
    add("--pairs", type=int, default=20_000, metavar="N", help=drawn)
    add("--seed", type=int, default=1, metavar="N", help="(%(default)s)")
    add("--device", choices=DEVICES, default="cpu", help="(%(default)s)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.pairs < 1:
        msg = f"--pairs is at least 1, got {arguments.pairs}"
        raise UsageError(msg)
    ((language, data),) = named_values([arguments.data], "LANG=F.tsv")
    model = measured_model(arguments.model, arguments.adapter, arguments.device)
    found = train_head(model, language, Path(data), n_pairs=arguments.pairs, seed=arguments.seed)
    sys.stdout.write(found)
    return 0


# Decisions ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decisions:
    """The rows of a pair, and what is to be decided in them.

    Attributes:
        rows: in arrival order.
        asked: index of the row that decides after each source word but the last, after which all is
            written.
        labels: for each, how likely a write should be, 0 to 1.
    """

    rows: Sequence[Row]
    asked: tuple[int, ...]
    labels: tuple[float, ...]


def build_decisions(
    pair: TokenizedPair,
    prompt: Prompt,
    layout: LayoutSettings,
    *,
    level: int,
) -> Decisions:
    """Lay a pair out by the boundaries of one level, and label its words.

    Args:
        pair: with a schedule.
        layout: that computes every row once.
        level: index in ``LEVELS``.
    """
    assert pair.needs is not None
    levels = [nested_boundaries(pair.needs, apart) for apart in LEVELS]
    planner = make_planner(prompt.headers, layout)
    ends = list[int]()
    before: Action | None = None
    for action in play(pair, AlignedReads(levels[level]), prompt, planner, marker_alone=False):
        if before is Action.READ:
            ends.append(len(planner.rows) - 1)
        before = action
    shares = (sum(n in kept for kept in levels) / len(LEVELS) for n in range(1, len(ends)))
    return Decisions(planner.rows, tuple(ends[:-1]), tuple(shares))


# The head -----------------------------------------------------------------------------------------


def train_head(model: ModelSettings, language: str, data: Path, *, n_pairs: int, seed: int) -> str:
    """Train a head and write it beside its card.

    Args:
        model: the folder, and the adapter whose head it is, if there is one.
        data: aligned pairs; ``n_pairs`` are drawn from them.

    Returns:
        lines about how good it is on what was kept back.
    """
    weights = load_by_torch(model)
    layout = resolve(weights.card).layout
    if planner_of(layout).recomputes:
        msg = f"a head is trained for layouts that compute every row once, got {layout.name!r}"
        raise UsageError(msg)
    prompt = make_prompt(weights.tokenizer, weights.card, language)
    rng = random.Random(f"policy head {seed}")
    pairs = tokenize({language: data}, weights.tokenizer, _MOST_TOKENS)
    usable = (one for one in pairs if one.pair.needs is not None and is_text(one, prompt))
    decisions = [
        build_decisions(one.pair, prompt, layout, level=rng.randrange(len(LEVELS)))
        for one in _drawn(usable, n_pairs, rng)
    ]
    decisions = [one for one in decisions if one.asked]
    trained = [one for index, one in enumerate(decisions) if index % _KEPT_BACK]
    if not trained:
        msg = f"{data} has too few pairs with a schedule and two source words: take more"
        raise CorpusError(msg)
    attention = Attention.of(weights.network)
    states_of = partial(_states, weights.network, attention, ranked=attention.ranks(layout))
    states, labels = states_of(trained)
    direction = fit(states, labels)
    del states
    save_head(model.adapter or model.directory, weights.card.name, direction.numpy())
    return _report(direction, labels, *states_of(decisions[::_KEPT_BACK]))


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


def _report(direction: Tensor, trained: Tensor, states: Tensor, labels: Tensor) -> str:
    logits = states @ direction
    rate = trained.mean().clamp(1e-6, 1 - 1e-6).logit().expand_as(labels)
    own, of_the_rate = (float(binary_cross_entropy_with_logits(x, labels)) for x in (logits, rate))
    likely = logits.sigmoid()
    shares = {tau: float((likely > tau).float().mean()) for tau in (0.1, 0.2, 0.3, 0.5, 0.7)}
    writes = ", ".join(f"{share:.0%} at {tau:g}" for tau, share in shares.items())
    return (
        f"trained on {len(trained):,} words; of the {len(labels):,} words kept back:\n"
        f"{own:10.4f}  cross-entropy ({of_the_rate:.4f} by the rate)\n"
        f"written after by tau: {writes}\n"
    )
