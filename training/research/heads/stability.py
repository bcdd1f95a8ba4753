"""Labels of stability: after which source words a write would already say what stays.

The label at a word is 1 where the model's own greedy translation of the words so far is a prefix of
its translation of the whole sentence, token by token: what it would write there is what it will
have written. No alignment is needed, nor a reference; the model's own errors are what is learnt.

Source: meaningful units (Zhang et al. 2020, Learning Adaptive Segmentation Policy for Simultaneous
Translation; 2022 for speech). Ours: the model is the one that is decoded with, as it is, and an
empty write counts as none.

A file keeps what was found, a line for each sentence, so that a stopped search goes on.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tqdm import tqdm

from engine.layout.planner import Planner
from engine.layout.registry import make_planner
from engine.models.adaptive_card import HEAD_FILE
from engine.models.model_card import FILE_NAME as CARD
from engine.runtime.causal_model import Asking, CausalModel
from engine.runtime.together import run_together
from engine.runtime.torch.torch_loader import TorchWeights
from engine.runtime.torch.torch_store import TorchStore
from engine.settings import LayoutSettings, ModelSettings
from engine.text.prompt import Prompt, word_ids
from engine.text.tokenizer import WordTokenizer
from engine.translation.translated import runaway_length
from engine.untrusted.typed_table import read_table
from training.data.corpus import read_lines, write_lines
from training.errors import CorpusError, TrainingError, UsageError
from training.evaluation.run_record import fingerprint
from training.trainer.samples.examples import Ids, TokenizedPair, source_words

N_LANES = 32
"""Sentences translated side by side."""


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
        """Return the sentence with its translation, each token as soon as it is stable.

        Args:
            source: ids of each source word.
        """
        needs = (
            next((n for n, n_stable in enumerate(self.stable, 1) if n_stable > index), len(source))
            for index in range(len(self.target))
        )
        return TokenizedPair(tuple(source), tuple((id_,) for id_ in self.target), tuple(needs))

    @property
    def labels(self) -> tuple[float, ...]:
        """For each word but the last, 1 where a write is stable."""
        return tuple(float(n > 0) for n in self.stable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The settings that decide the labels of a sentence: the first line of a file of them.

    Attributes:
        model: digest of the weights and the tokenizer; a head changes nothing.
        adapter: the same of an adapter; empty without one.
        prompt: ids before the source.
        layout, slot_length: of the rows.
    """

    model: str
    adapter: str
    prompt: Ids
    layout: str
    slot_length: int

    @classmethod
    def of(cls, model: ModelSettings, prompt: Prompt, layout: LayoutSettings) -> "Owner":
        """Return the owner of the labels that this model makes.

        Raises:
            TrainingError: a file of the model cannot be read.
        """
        left_out = (HEAD_FILE, CARD)
        return cls(
            model=fingerprint(model.directory, left_out),
            adapter="" if model.adapter is None else fingerprint(model.adapter, left_out),
            prompt=(*prompt.headers.system, *prompt.headers.first),
            layout=layout.name,
            slot_length=layout.slot_length,
        )


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
        weights: of the model.
        prompt: headers and markers.
        layout: that computes every row once.
        sources: of at least two words and at most ``max_tokens`` tokens.
        max_tokens: of a source.
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


def source_ids(tokenizer: WordTokenizer, source: str) -> list[Ids]:
    """Return the ids of each word of a source."""
    return [tuple(word_ids(tokenizer, word)) for word in source.split()]


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
    """Return what the model writes now; nothing once it says what may not go on."""
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


def keep_stability(
    path: Path,
    owner: Owner,
    sources: Sequence[str],
    find: Callable[[Sequence[str]], Iterator[Stability]],
) -> list[Stability]:
    """Return what is stable in the sources, in their order: from the file, and found for the rest.

    Each sentence that is found goes into the file at once.

    Args:
        path: of the file; it is made if there is none.
        owner: of the labels.
        sources: no two alike.
        find: finds those of some sources, in any order.
    """
    kept = _read(path, owner)
    left = [source for source in sources if source not in kept]
    lines = [asdict(owner), *map(asdict, kept.values())]
    write_lines(path, map(json.dumps, lines))  # without a line that was cut off
    with tqdm(
        total=len(sources), initial=len(sources) - len(left), desc="stability", disable=None
    ) as bar:
        for one in find(left) if left else ():
            _append(path, one)
            kept[one.source] = one
            bar.update()
    return [kept[source] for source in sources]


def _append(path: Path, one: Stability) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(one)) + "\n")
    except OSError as error:
        msg = f"{path} cannot be written ({error.strerror or error}): make room and run again"
        raise CorpusError(msg) from error


def _read(path: Path, owner: Owner) -> dict[str, Stability]:
    """Read a file of labels by their sources; an incomplete last line is left out."""
    if not path.exists():
        return {}
    first, *lines = [line.decode(errors="replace") for line in read_lines(path)]
    try:
        other = read_table(Owner, json.loads(first))
        found = list[Stability]()
        for number, line in enumerate(lines, start=1):
            try:
                content = json.loads(line)
            except ValueError:
                if number == len(lines):
                    break  # the process was killed while it wrote this line
                raise
            found.append(_checked(read_table(Stability, content)))
    except ValueError as error:
        msg = f"{path} holds no labels of stability ({error}): name another file"
        raise TrainingError(msg) from error
    for name, value in asdict(other).items():
        if getattr(owner, name) != value:
            what = name.replace("_", " ")
            msg = f"{path} holds the labels of another {what}: choose another --keep"
            raise UsageError(msg)
    return {one.source: one for one in found}


def _checked(one: Stability) -> Stability:
    n_words = len(one.source.split())
    if len(one.stable) != n_words - 1 or not all(0 <= n <= len(one.target) for n in one.stable):
        msg = f"{n_words} words need one number less, of at most {len(one.target)} tokens"
        raise ValueError(msg)
    return one
