"""Several sentence pairs as turns of one conversation: samples for a base that knows dialogues."""

import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.layout.registry import make_planner
from engine.layout.rows import Row
from engine.policy import Offline
from engine.settings import LayoutSettings
from engine.text.prompt import Prompt
from training.trainer.samples.examples import Gold, TokenizedPair, source_words
from training.trainer.samples.pairs import CorpusPair

_ONE = (1, 1)
_NOTHING = (0, 0)


@dataclass(frozen=True, slots=True)
class Turns:
    """How pairs become conversations.

    Attributes:
        number: fewest and most pairs in a conversation.
        offset: least and most positions that a conversation skips. They are divided at random among
            the borders before each source and each target. (A shift of all rows alike would change
            nothing: rotary positions and ALiBi depend on differences.)
        max_tokens: words of the last pair may exceed them.
    """

    number: tuple[int, int] = _ONE
    offset: tuple[int, int] = _NOTHING
    max_tokens: int = 512

    def __post_init__(self) -> None:
        for name, (least, most), lowest in (
            ("turns", self.number, 1),
            ("the offset", self.offset, 0),
        ):
            if not lowest <= least <= most:
                msg = f"{name} should be LEAST-MOST, from {lowest} on, got {least}-{most}"
                raise ValueError(msg)

    @property
    def is_plain(self) -> bool:
        """Whether a conversation is one pair and skips nothing."""
        return (self.number, self.offset) == (_ONE, _NOTHING)

    def conversations(
        self, pairs: Iterable[CorpusPair], rng: random.Random
    ) -> Iterator[list[CorpusPair]]:
        """Group pairs of one language in their order; the last groups may be shorter."""
        waiting = dict[str, tuple[int, list[CorpusPair]]]()
        for pair in pairs:
            n_wanted, group = waiting.pop(pair.language, (0, []))
            n_wanted = n_wanted or rng.randint(*self.number)
            group.append(pair)
            if (
                len(group) == n_wanted
                or sum(_n_tokens(one.pair) for one in group) > self.max_tokens
            ):
                yield group
            else:
                waiting[pair.language] = n_wanted, group
        for _, group in waiting.values():
            yield group


def build_conversation(
    pairs: Sequence[TokenizedPair], prompt: Prompt, *, n_skipped: int, rng: random.Random
) -> Sequence[Row]:
    """Return the rows of pairs as turns, each translated when its source has ended; labels set.

    Args:
        pairs: in their order.
        prompt: headers and markers.
        n_skipped: positions to divide among the borders.
        rng: divides them.
    """
    planner = make_planner(prompt.headers, LayoutSettings(name="conversational"))
    borders = list[int]()  # rows before which positions may be skipped
    for pair in pairs:
        pending = len(borders) > 0  # the end of the turn before is placed with the next header
        borders.append(len(planner.rows) + 1 if pending else len(prompt.headers.system))
        for word in source_words(pair.source, prompt, marker_alone=False):
            planner.read(word)
        borders.append(len(planner.rows))
        gold, id_ = Gold(pair, prompt), None
        while id_ != prompt.end_of_target:
            planner.write()
            id_ = gold.next_id(None, Offline())
            planner.choose(id_)
    skipped = sorted([*(rng.randint(0, n_skipped) for _ in borders[1:]), n_skipped])
    return [
        row._replace(shift=skipped[border - 1]) if (border := bisect_right(borders, index)) else row
        for index, row in enumerate(planner.rows)
    ]


def _n_tokens(pair: TokenizedPair) -> int:
    return sum(map(len, pair.source)) + sum(map(len, pair.target))
