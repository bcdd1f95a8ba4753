"""When to write, learnt beside a model that stays as it is: ``policy-head``.

The states of all source words are computed once, in masked passes over aligned pairs, or over what
the model itself makes of their sources; the head is a logistic regression on them, fitted to its
end. The answers that it learns come from one of two places:

By alignment, a pair's schedule says where a write could begin. Each level keeps the boundaries that
stand so many words apart or more, so later levels lag more and keep fewer. The answer at a word is
the share of levels that keep the boundary after it: a tau from 0 to 1 then goes through the levels.
Source: EASiST (Fu et al. 2025), whose labels come from chunks of three latencies. Our deviations:
chunks come from word alignments, and no token of a target is labelled (a write is likely as it is).

By stability, the label at a word is 1 where the model's own greedy translation of the words so far
is a prefix of its translation of the whole sentence, token by token: what it would write there is
what it will have written. No alignment is needed, nor a reference; the model's own errors are what
is learnt. Source: meaningful units (Zhang et al. 2020, Learning Adaptive Segmentation Policy for
Simultaneous Translation; 2022 for speech). Ours: the model is the one that is decoded with, as it
is, and an empty write counts as none.
"""

import argparse
import random
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from tqdm import tqdm
from transformers import PreTrainedModel

from engine.layout.planner import Planner
from engine.layout.rows import Row
from engine.layout.slots import make_planner, planner_of
from engine.models.resolve import resolve
from engine.policy import Action
from engine.runtime.causal_model import Asking, CausalModel, run_together
from engine.runtime.loader import load_by_torch
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_loader import TorchWeights
from engine.runtime.torch.torch_store import TorchStore
from engine.settings import DEVICES, LayoutSettings, ModelSettings
from engine.text.prompt import Prompt, make_prompt, word_ids
from engine.text.tokenizer import WordTokenizer
from engine.translation.translated import runaway_length
from training.commands.command_line import named_values
from training.data.corpus import read_lines
from training.errors import CorpusError, UsageError
from training.evaluation.models import measured_model
from training.research.adaptive import save_head
from training.research.methods import LEVELS, nested_boundaries
from training.trainer.material import is_text
from training.trainer.samples import AlignedReads, Ids, TokenizedPair, play, source_words, tokenize
from training.trainer.stream import Example, pad

_Drawn = TypeVar("_Drawn")

N_LANES = 32
"""Sentences translated side by side."""

_KEPT_BACK = 10  # of so many pairs one is not trained on, to measure the head
_PASS_ROWS, _RIDGE, _STEPS = 4096, 1e-4, 200
_LABELS = ("alignment", "stability")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "policy-head",
        help="teach a model when to write under adaptive policies",
        description="Train the policy head of a model or an adapter, which stays as it is, on "
        "aligned pairs, or on what the model itself makes of them; write it beside the card. "
        "adaptive:TAU then asks the head.",
    )
    add = parser.add_argument
    add("--model", type=Path, required=True, metavar="DIR")
    add("--adapter", type=Path, metavar="DIR", help="whose head it becomes")
    pairs = "aligned pairs of a target language"
    add("--data", required=True, metavar="LANG=F.tsv", help=pairs)
    labels = (
        "where a write is right: where the alignment lets it begin; or where the model's own words "
        "stay the same, for which pairs need no alignment, and may be sources (%(default)s)"
    )
    add("--labels", choices=_LABELS, default=_LABELS[0], help=labels)
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
    settings = HeadSettings(
        model=measured_model(arguments.model, arguments.adapter, arguments.device),
        language=language,
        data=Path(data),
        n_pairs=arguments.pairs,
        seed=arguments.seed,
        stable=arguments.labels == "stability",
    )
    sys.stdout.write(train_head(settings))
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
    labels: tuple[float, ...] | None = None,
) -> Decisions:
    """Lay a pair out by the boundaries of one level, and label its words.

    Args:
        pair: with a schedule.
        layout: that computes every row once.
        level: index in ``LEVELS``.
        labels: of each word but the last; None for the shares of all levels.
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
    return Decisions(planner.rows, tuple(ends[:-1]), tuple(shares) if labels is None else labels)


# Stability ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stability:
    """The stable words of one sentence.

    Attributes:
        source: its words, with a blank between two.
        target: tokens of its translation, markers left out; none if that does not end.
        stable: for each word but the last, how many of these tokens a write right after it would
            say; 0 if it would say others, or none.
    """

    source: str
    target: Ids
    stable: Ids

    def pair(self, source: Sequence[Ids]) -> TokenizedPair:
        """Return the sentence, as ids of each word, with each target token once it is stable."""
        needs = (
            next((n for n, n_stable in enumerate(self.stable, 1) if n_stable > index), len(source))
            for index in range(len(self.target))
        )
        return TokenizedPair(tuple(source), tuple((id_,) for id_ in self.target), tuple(needs))

    @property
    def labels(self) -> tuple[float, ...]:
        return tuple(float(n > 0) for n in self.stable)


def read_sources(path: Path, tokenizer: WordTokenizer, max_tokens: int) -> Iterator[str]:
    """Yield the sources of a file of pairs, or of a file with a source in each line.

    Those of one word have no decision, and those over ``max_tokens`` are left out.
    """
    known = dict[str, int]()
    for number, line in enumerate(read_lines(path), start=1):
        try:
            words = line.decode().partition("\t")[0].split()
        except UnicodeDecodeError as error:
            msg = f"expected UTF-8 text, but line {number} of {path} is none: mend the line"
            raise CorpusError(msg) from error
        for word in words:
            if word not in known:
                known[word] = len(word_ids(tokenizer, word))
        if len(words) > 1 and sum(known[word] for word in words) <= max_tokens:
            yield " ".join(words)


def source_ids(tokenizer: WordTokenizer, source: str) -> list[Ids]:
    return [tuple(word_ids(tokenizer, word)) for word in source.split()]


def find_stability(
    weights: TorchWeights,
    prompt: Prompt,
    layout: LayoutSettings,
    sources: Iterable[str],
    *,
    max_tokens: int,
    n_lanes: int = N_LANES,
) -> Iterator[Stability]:
    """Translate each source whole and after each word; yield what is found as it is found.

    A sentence's labels do not depend on the others, but for the rounding of sums.

    Args:
        layout: that computes every row once.
        sources: of at least two words and at most ``max_tokens`` tokens.
        n_lanes: sources side by side.
    """
    # long ones first, so that no lane works alone at the end
    waiting = iter(sorted(sources, key=lambda source: -len(source)))
    found = deque[Stability]()
    headers = prompt.headers
    n_around = len(headers.system) + len(headers.first) + len(headers.assistant)
    capacity = n_around + max_tokens + 1 + runaway_length(max_tokens + 1) + 1
    store = TorchStore(weights.network, n_lanes, capacity)
    store.use(layout)

    def work(model: CausalModel) -> Asking[None]:
        for source in waiting:
            words = source_words(source_ids(weights.tokenizer, source), prompt, marker_alone=False)
            planner = make_planner(headers, layout)
            model.truncate(0)
            translated = yield from _translated(model, planner, words, prompt)
            found.append(Stability(source, *translated))

    for _ in run_together(store, [work(CausalModel(store, lane)) for lane in range(n_lanes)]):
        while found:
            yield found.popleft()
    yield from found


def _translated(
    model: CausalModel, planner: Planner, words: Sequence[Ids], prompt: Prompt
) -> Asking[tuple[Ids, Ids]]:
    """Return ``target`` and ``stable`` of ``Stability``.

    The source is fed once: after the whole sentence its last words are taken back one by one. Rows
    of earlier words never saw them.
    """
    for word in words:
        planner.read(word)
    most = runaway_length(sum(map(len, words)))
    target = yield from _write(model, planner, prompt, lambda written: len(written) <= most)
    stable = list[int]()
    for n_read in range(len(words) - 1, 0, -1):
        model.truncate(planner.rewind(n_read))
        written = yield from _write(model, planner, prompt, partial(_begins, target))
        stable.append(len(written))
    return target, tuple(reversed(stable))


def _write(
    model: CausalModel, planner: Planner, prompt: Prompt, may_go_on: Callable[[Sequence[int]], bool]
) -> Asking[Ids]:
    """Return what the model writes now; nothing as soon as ``may_go_on`` refuses it."""
    suppressed = sorted(prompt.suppressed(ends_writes=True))
    written = list[int]()
    id_ = yield from model.ask_id(planner.write(), suppressed)
    while id_ != prompt.end_of_write:
        written.append(id_)
        if not may_go_on(written):
            return ()
        planner.choose(id_)
        id_ = yield from model.ask_id(planner.write(), suppressed)
    return tuple(written)


def _begins(target: Ids, written: Sequence[int]) -> bool:
    return target[: len(written)] == tuple(written)


# The head -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadSettings:
    """The data that a head is trained on.

    Attributes:
        model: the folder, and the adapter whose head it is, if there is one.
        data: aligned pairs; for labels of stability pairs of any kind, or sources.
        n_pairs: drawn from them.
        max_length: source and target tokens of a pair; of a source half as many.
        stable: labels are those of stability, not of the alignment.
    """

    model: ModelSettings
    language: str
    data: Path
    n_pairs: int
    max_length: int = 256
    seed: int = 1
    stable: bool = False


def train_head(settings: HeadSettings) -> str:
    """Train a head and write it beside its card.

    Returns:
        lines about how good it is on what was kept back.
    """
    weights = load_by_torch(settings.model)
    layout = resolve(weights.card).layout
    if planner_of(layout).recomputes:
        msg = f"a head is trained for layouts that compute every row once, got {layout.name!r}"
        raise UsageError(msg)
    prompt = make_prompt(weights.tokenizer, weights.card, settings.language)
    rng = random.Random(f"policy head {settings.seed}")
    decide = _by_stability if settings.stable else _by_alignment
    decisions = [one for one in decide(settings, weights, prompt, layout, rng) if one.asked]
    trained = [one for index, one in enumerate(decisions) if index % _KEPT_BACK]
    if not trained:
        kind = "a translation" if settings.stable else "a schedule"
        msg = f"{settings.data} has too few pairs with {kind} and two source words: take more"
        raise CorpusError(msg)
    attention = Attention.of(weights.network)
    states_of = partial(_states, weights.network, attention, ranked=attention.ranks(layout))
    states, labels = states_of(trained)
    direction = fit(states, labels)
    del states
    save_head(
        settings.model.adapter or settings.model.directory,
        weights.card.name,
        direction.numpy(),
    )
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


def _by_alignment(
    settings: HeadSettings,
    weights: TorchWeights,
    prompt: Prompt,
    layout: LayoutSettings,
    rng: random.Random,
) -> list[Decisions]:
    pairs = tokenize({settings.language: settings.data}, weights.tokenizer, settings.max_length)
    usable = (one for one in pairs if one.pair.needs is not None and is_text(one, prompt))
    return [
        build_decisions(one.pair, prompt, layout, level=rng.randrange(len(LEVELS)))
        for one in _drawn(usable, settings.n_pairs, rng)
    ]


def _by_stability(
    settings: HeadSettings,
    weights: TorchWeights,
    prompt: Prompt,
    layout: LayoutSettings,
    rng: random.Random,
) -> list[Decisions]:
    max_tokens = settings.max_length // 2
    sources = read_sources(settings.data, weights.tokenizer, max_tokens)
    drawn = list(dict.fromkeys(_drawn(sources, settings.n_pairs, rng)))
    found = find_stability(weights, prompt, layout, drawn, max_tokens=max_tokens)
    shown = tqdm(found, total=len(drawn), desc="stability", disable=None)
    by_source = {one.source: one for one in shown if one.target}
    return [
        build_decisions(
            one.pair(source_ids(weights.tokenizer, one.source)),
            prompt,
            layout,
            level=rng.randrange(len(LEVELS)),
            labels=one.labels,
        )
        for one in (by_source[source] for source in drawn if source in by_source)
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
