"""A sentence pair becomes labelled rows, by the same Planner and Policy that the engine runs.

Sentences are encoded word by word; a policy is drawn for each, so that one model serves every
policy; a ``Method`` says what a way to train does otherwise.
"""

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformers import PreTrainedTokenizerFast

from engine.layout.planner import Planner, make_planner
from engine.layout.rows import Row
from engine.metrics.event_log import is_spaced
from engine.policy import Action, Offline, Policy, Progress, ReadN, WaitK
from engine.settings import LayoutSettings
from engine.text.prompt import Prompt, word_ids, words_begun
from training.data.alignment import read_aligned
from training.settings import Mixture

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TokenizedPair:
    """A sentence pair as token ids, word by word.

    Attributes:
        target: ids of each target word. A word without ids was begun by the token before it.
        needs: for each target word, how many source words must be read before it may be written
            under read-n: the running maximum of its alignment, never falling. None if the alignment
            is not trusted; such a pair cannot train read-n.
    """

    source: tuple[Ids, ...]
    target: tuple[Ids, ...]
    needs: tuple[int, ...] | None

    def __post_init__(self) -> None:
        if self.needs is not None and len(self.needs) != len(self.target):
            msg = f"{len(self.target)} target words need as many numbers, got {len(self.needs)}"
            raise ValueError(msg)


def build_samples(
    pair: TokenizedPair,
    policy: Policy,
    prompt: Prompt,
    layout: LayoutSettings,
    *,
    marker_alone: bool,
) -> list[Sequence[Row]]:
    """Play a policy over a pair and return its training samples, labels set.

    A layout that computes every row once gives one sample. A layout that recomputes all rows after
    a read gives one sample for every write, with labels on that write only: prefix fine-tuning.

    Args:
        marker_alone: the end-of-source marker comes as a word of its own, as when a person presses
            Enter late; otherwise with the last word, as when the sentence ends with a full stop.
    """
    planner = make_planner(prompt.headers, layout)
    samples = list[Sequence[Row]]()
    has_written = False
    for action in play(pair, policy, prompt, planner, marker_alone=marker_alone):
        if action is Action.WRITE:
            has_written = True
        elif planner.recomputes and has_written:
            samples.append(list(planner.rows))
            has_written = False
    return [*samples, planner.rows]


def play(
    pair: TokenizedPair, policy: Policy, prompt: Prompt, planner: Planner, *, marker_alone: bool
) -> Iterator[Action]:
    """Play a policy over a pair, and yield each action before it is taken."""
    if policy.ends_writes and pair.needs is None:
        msg = "a pair without an alignment cannot train a policy that ends its writes"
        raise ValueError(msg)
    words = source_words(pair.source, prompt, marker_alone=marker_alone)
    gold = Gold(pair, prompt)
    n_read = n_read_at_write_end = 0
    while True:
        ended = n_read == len(words)
        progress = Progress(
            n_read=n_read,
            n_written=gold.word,
            n_read_at_write_end=n_read_at_write_end,
            exhausted=gold.word == len(pair.target),
            source_ended=ended,
        )
        action = policy.next_action(progress)
        yield action
        if action is Action.READ:
            planner.read(words[n_read])
            n_read += 1
            continue
        planner.write()
        id_ = gold.next_id(n_read if policy.ends_writes and not ended else None, policy)
        planner.choose(id_)
        if id_ == prompt.end_of_write:
            n_read_at_write_end = n_read
        if ended and id_ in (prompt.end_of_write, prompt.end_of_target):
            return


def source_words(words: Sequence[Ids], prompt: Prompt, *, marker_alone: bool) -> list[Ids]:
    """Add the end-of-source marker to the last word, or after it."""
    marker = (prompt.end_of_source,)
    if marker_alone or not words:
        return [*words, marker]
    return [*words[:-1], words[-1] + marker]


class Gold:
    """A model that is always right: it returns the next target token of a pair."""

    def __init__(self, pair: TokenizedPair, prompt: Prompt) -> None:
        self._pair = pair
        self._prompt = prompt
        self._piece = 0
        self.word = 0  # words complete

    def next_id(self, n_read: int | None, policy: Policy) -> int:
        """Return the next token; words that need over ``n_read`` source words wait, unless None."""
        if self.word == len(self._pair.target):
            return self._prompt.end_of_write if policy.ends_writes else self._prompt.end_of_target
        needs = self._pair.needs
        if n_read is not None and self._piece == 0 and needs and needs[self.word] > n_read:
            return self._prompt.end_of_write
        word = self._pair.target[self.word]
        id_ = word[self._piece]
        self._piece += 1
        if self._piece == len(word):
            self.word, self._piece = self.word + 1, 0
            while self.word < len(self._pair.target) and not self._pair.target[self.word]:
                self.word += 1
        return id_


@dataclass(frozen=True, slots=True)
class AlignedReads:
    """Read up to the next boundary, then write until end-of-write: read-n with an n that varies.

    Attributes:
        boundaries: source words read when each write begins, rising.
    """

    boundaries: tuple[int, ...]
    ends_writes: bool = True

    def next_action(self, progress: Progress) -> Action:
        """READ until the first boundary after the last write or the source's end, then WRITE."""
        index = bisect_right(self.boundaries, progress.n_read_at_write_end)
        at_end = index == len(self.boundaries)  # only the marker is left
        if progress.source_ended:
            return Action.WRITE
        return Action.READ if at_end or progress.n_read < self.boundaries[index] else Action.WRITE


def merged_boundaries(needs: tuple[int, ...], rng: random.Random) -> tuple[int, ...]:
    """Cut a schedule into its minimal read-write runs and merge 2 to 10 of them at a time.

    Source: Wang et al. 2024, Conversational SimulMT, section 3.2; drawn again each epoch.
    """
    runs = sorted(set(needs))
    boundaries = list[int]()
    index = -1
    while index < len(runs) - 1:
        index = min(index + rng.randint(2, 10), len(runs) - 1)
        boundaries.append(runs[index])
    return tuple(boundaries)


def draw_policy(pair: TokenizedPair, mixture: Mixture, rng: random.Random) -> Policy:
    """Draw a policy; a pair without a trusted alignment is never read in parts that must end."""
    draw = rng.random()
    if draw < mixture.fixed_reads and pair.needs is not None:
        return ReadN(rng.choice(mixture.n))
    draw -= mixture.fixed_reads
    if 0 <= draw < mixture.aligned_reads and pair.needs is not None:
        return AlignedReads(merged_boundaries(pair.needs, rng))
    draw -= mixture.aligned_reads
    if 0 <= draw < mixture.waits:
        return WaitK(rng.choice(mixture.k))
    return Offline()


def laid_out(rows: Sequence[Row], policy: Policy, prompt: Prompt) -> Sequence[Row]:  # noqa: ARG001  as all ends
    """Train on the rows of the layout as they are."""
    return rows


def drawn_shares(mixture: Mixture) -> tuple[float, float]:
    """Return the shares of pairs whose writes end, and of wait-k; the others are read whole."""
    return mixture.fixed_reads + mixture.aligned_reads, mixture.waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to train for simultaneous translation.

    Attributes:
        layout: of samples and decoding, one of ``engine.layout.planner.LAYOUTS``.
        draw: draws the policy by which a pair is read.
        shares: of the policies that are drawn, see ``drawn_shares``.
        finish: turns the rows of the layout into training rows.
        labels_all: every label is one among all tokens, markers too.
    """

    layout: str = "slots"
    draw: Callable[[TokenizedPair, Mixture, random.Random], Policy] = draw_policy
    shares: Callable[[Mixture], tuple[float, float]] = drawn_shares
    finish: Callable[[Sequence[Row], Policy, Prompt], Sequence[Row]] = laid_out
    labels_all: bool = False


METHODS: dict[str, Method] = {"exposst": Method()}  # ExPosST, section 2
"""By the name that the command line takes; research adds those that it is compared with."""


@dataclass(frozen=True, slots=True)
class CorpusPair:
    """A tokenized pair, its target language and its corpus."""

    pair: TokenizedPair
    language: str
    corpus: str


def tokenize(
    data: Mapping[str, Path], tokenizer: PreTrainedTokenizerFast, max_tokens: int
) -> Iterator[CorpusPair]:
    """Encode aligned files; pairs over ``max_tokens``, source and target together, are left out."""
    known: dict[str, Ids] = {}

    def encode(text: str) -> tuple[Ids, ...]:
        words = text.split()
        for word in words:
            if word not in known:
                known[word] = tuple(word_ids(tokenizer, word))
        return tuple(known[word] for word in words)

    for language, path in data.items():
        begun = None if is_spaced(language) else words_begun(tokenizer, language)
        for aligned in read_aligned([path]):
            source, target = encode(aligned.pair.source), encode(aligned.pair.target)
            if sum(map(len, source)) + sum(map(len, target)) <= max_tokens:
                pair = TokenizedPair(source, target, aligned.needs)
                if begun is not None:
                    pair = by_characters(pair, begun)
                yield CorpusPair(pair, language, aligned.pair.corpus)


def by_characters(pair: TokenizedPair, begun: Sequence[int]) -> TokenizedPair:
    """Cut the words of a target into characters, for languages without blanks between words.

    A character needs as many source words as the word it is cut from. Where a token begins several
    characters, all but the first are words without tokens.

    Args:
        pair: with the target cut at blanks.
        begun: of every id, how many characters it begins.
    """
    target, needs = list[Ids](), list[int]()
    for index, word in enumerate(pair.target):
        characters = list(_characters(word, begun))
        target += characters
        needs += [0 if pair.needs is None else pair.needs[index]] * len(characters)
    return TokenizedPair(pair.source, tuple(target), None if pair.needs is None else tuple(needs))


def _characters(word: Ids, begun: Sequence[int]) -> Iterator[Ids]:
    """Yield the ids of each character; blanks and stray bytes belong to the one they stand at."""
    ids, n_begun = list[int](), 0
    for id_ in word:
        if n_begun and begun[id_]:
            yield from (tuple(ids), *[()] * (n_begun - 1))
            ids, n_begun = [], 0
        ids.append(id_)
        n_begun += begun[id_]
    yield from (tuple(ids), *[()] * (n_begun - 1))
