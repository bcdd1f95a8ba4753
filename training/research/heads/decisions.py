"""Decisions between READ and WRITE to train a policy head on: which rows it reads, and the answers.

By alignment, a pair's schedule says where a write could begin. Each level keeps the boundaries that
stand so many words apart or more, so later levels lag more and keep fewer. The answer at a word is
the share of levels that keep the boundary after it: a tau from 0 to 1 then goes through the levels.

Source: EASiST (Fu et al. 2025), whose labels come from chunks of three latencies. Our deviations:
chunks come from word alignments, and no token of a target is labelled (a write is likely as it is).

A head on the target side reads the row that is asked for a token: what a look feeds and takes back.
These rows stand in the sample as ghosts, which no other row sees.

Other answers (``training.research.heads.stability``) are laid out alike: a row then learns to
decide after earlier phases of any length.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.layout.registry import make_planner
from engine.layout.rows import Row
from engine.policy import Action
from engine.settings import LayoutSettings
from engine.text.prompt import Prompt
from training.research.methods import LEVELS, nested_boundaries
from training.trainer.samples.examples import TokenizedPair, play
from training.trainer.samples.mixture import AlignedReads

_BEHIND_ALL = 1 << 40  # positions
_MOST_ROWS = 64  # of a ghost


@dataclass(frozen=True, slots=True)
class Decisions:
    """The rows of a pair, and what is to be decided in them.

    Attributes:
        rows: in arrival order; then ghosts.
        asked: index of the row that decides after each source word but the last, after which all is
            written.
        labels: for each, how likely a write should be, 0 to 1.
    """

    rows: Sequence[Row]
    asked: tuple[int, ...]
    labels: tuple[float, ...]


def ghost(rows: Sequence[Row], number: int) -> list[Row]:
    """Return rows that were taken back, where no real row sees them, and no other ghost.

    Real rows stand before them; a later ghost stands before an earlier one, which is not of its
    time.

    Args:
        rows: with the time of their look.
        number: of the look, from 1.
    """
    first = _BEHIND_ALL - _MOST_ROWS * number
    return [
        row._replace(position=first + index, shift=row.position + row.shift - first - index)
        for index, row in enumerate(rows)
    ]


def build_decisions(
    pair: TokenizedPair,
    prompt: Prompt,
    layout: LayoutSettings,
    *,
    level: int,
    labels: tuple[float, ...] | None = None,
    reads_target: bool = False,
) -> Decisions:
    """Lay a pair out by the boundaries of one level, and label its words.

    Args:
        pair: with a schedule.
        prompt: headers and markers.
        layout: that computes every row once.
        level: index in ``LEVELS``.
        labels: of each word but the last; None for the shares of all levels.
        reads_target: the row that is asked for a token decides, not the newest source row.
    """
    assert pair.needs is not None
    levels = [nested_boundaries(pair.needs, apart) for apart in LEVELS]
    planner = make_planner(prompt.headers, layout)
    ends, ghosts = list[int](), list[list[Row]]()
    before: Action | None = None
    for action in play(pair, AlignedReads(levels[level]), prompt, planner, marker_alone=False):
        if before is Action.READ:
            n_rows = len(planner.rows)
            ends.append(n_rows - 1)
            if reads_target:
                planner.look()
                ghosts.append(ghost(planner.rows[n_rows:], len(ends)))
                planner.take_back()
        before = action
    rows, asked = list(planner.rows), ends[:-1]
    for index, one in enumerate(ghosts[:-1]):
        rows += one
        asked[index] = len(rows) - 1
    shares = (sum(n in kept for kept in levels) / len(LEVELS) for n in range(1, len(ends)))
    return Decisions(rows, tuple(asked), tuple(shares) if labels is None else labels)
