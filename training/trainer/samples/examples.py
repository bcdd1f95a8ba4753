"""Turns a sentence pair into labelled rows, by the same Planner and Policy that the engine runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.layout.planner import Planner
from engine.layout.registry import make_planner
from engine.layout.rows import Row
from engine.policy import Action, Policy, Progress
from engine.settings import LayoutSettings
from engine.text.prompt import Prompt

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TokenizedPair:
    """A sentence pair as token ids, word by word.

    Attributes:
        source: ids of each source word.
        target: ids of each target word. A word without ids was begun by the token before it.
        needs: for each target word, how many source words must be read before it may be written
            under read-n: the running maximum of its alignment, never falling. None if the alignment
            is not trusted; such a pair cannot train read-n.
        delayed: the same for a sample whose writes are cut short: more source words for the target
            words that are carried over to the next write. None if nothing is cut.
    """

    source: tuple[Ids, ...]
    target: tuple[Ids, ...]
    needs: tuple[int, ...] | None
    delayed: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for numbers in (self.needs, self.delayed):
            if numbers is not None and len(numbers) != len(self.target):
                msg = f"{len(self.target)} target words need as many numbers, got {len(numbers)}"
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

    The end of a write that is cut short has no label, since a model should have continued; the
    words before it are labelled.

    Args:
        pair: source and target.
        policy: chooses READ and WRITE.
        prompt: headers and markers.
        layout: the slots.
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
        ends_write = id_ == prompt.end_of_write
        planner.choose(id_, asked=not (ends_write and gold.may_go_on(n_read)))
        if ends_write:
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
        if n_read is not None and self._piece == 0 and self._held_back(n_read):
            return self._prompt.end_of_write
        word = self._pair.target[self.word]
        id_ = word[self._piece]
        self._piece += 1
        if self._piece == len(word):
            self.word, self._piece = self.word + 1, 0
            while self.word < len(self._pair.target) and not self._pair.target[self.word]:
                self.word += 1
        return id_

    def may_go_on(self, n_read: int) -> bool:
        """Return whether the next word needs no more than ``n_read`` source words."""
        needs = self._pair.needs
        return needs is not None and self.word < len(needs) and needs[self.word] <= n_read

    def _held_back(self, n_read: int) -> bool:
        needs = self._pair.delayed or self._pair.needs
        return needs is not None and needs[self.word] > n_read
