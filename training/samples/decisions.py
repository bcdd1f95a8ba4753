"""Decisions between READ and WRITE to train a policy head on: which rows it reads, and the answers.

By alignment, a pair's schedule says where a write could begin. Each level keeps the boundaries that
stand so many words apart or more, so later levels lag more and keep fewer. The answer at a word is
the share of levels that keep the boundary after it: a tau from 0 to 1 then goes through the levels.

Source: EASiST (Fu et al. 2025), whose labels come from chunks of three latencies. Our deviations:
chunks come from word alignments, and no token of a target is labelled (a write is likely as it is).

Other answers (``training.finetuning.stability``) are laid out alike: a row then learns to decide
after earlier phases of any length.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.layout.registry import make_planner
from engine.layout.rows import Row
from engine.policy import Action
from engine.settings import LayoutSettings
from engine.text.prompt import Prompt
from training.samples.examples import TokenizedPair, play
from training.samples.mixture import AlignedReads

LEVELS = (1, 2, 3, 4, 6)
"""Source words between the boundaries of each level, at least."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """The rows of a pair, and what is to be decided in them.

    Attributes:
        rows: in arrival order.
        asked: index of the last row of each source word but the last, after which all is written.
        labels: for each, how likely a write should be, 0 to 1.
    """

    rows: Sequence[Row]
    asked: tuple[int, ...]
    labels: tuple[float, ...]


def nested_boundaries(needs: Sequence[int], apart: int) -> tuple[int, ...]:
    """Return the boundaries of a schedule that stand ``apart`` source words apart or more.

    Those of 4 are among those of 2, and these among those of 1: each level is chosen from the level
    of half the distance.
    """
    kept = list[int]()
    among = sorted(set(needs)) if apart == 1 else nested_boundaries(needs, (apart + 1) // 2)
    for boundary in among:
        if boundary - (kept[-1] if kept else 0) >= apart:
            kept.append(boundary)
    return tuple(kept)


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
        prompt: headers and markers.
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
