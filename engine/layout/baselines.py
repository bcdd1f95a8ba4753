"""The layouts of other methods, over the same verbs, cache and rule: what slots are held against.

Where each comes from, and where our form of it differs, stands at its class.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.layout.planner import Planner, State
from engine.layout.rows import Row
from engine.layout.slots import SlotPlanner

TARGET_SIDE = 1 << 20
"""First position of the target where it is kept apart: behind every source word to come."""


class ConversationalPlanner(SlotPlanner):
    """A full turn of user and assistant for each read, positions in order of arrival.

    Source: Conversational SimulMT (Wang et al. 2024), section 3.1. Positions never overlap or gap,
    so every row costs what it costs in slots; but each read pays for both headers.
    """

    def _make_room(self) -> None:
        if self._state.writes:
            self._close_phase()

    def _target_start(self) -> int:
        return self._state.source


class JoinedPlanner(Planner):
    """One source, one target: ``system | user | source .. | assistant | target ..``.

    In the order of sight the whole target stands behind the whole source, so a source token sees
    source only, and the target sees what was read. What the position encoding is given differs:

    This class: what is nearest, the target right behind the source read so far. A target token that
    was fed keeps its position while source grows into it: the misalignment that slots do away with.
    It is the paper's ablation "without slot", and decoding from a cache that is never recomputed
    (Raffel et al. 2024, section 4).
    """

    def _open_source(self, start: int, header: Sequence[int]) -> State:
        self._place_header(header, start)
        return State(source=start + len(header))

    def _open_target(self) -> None:
        self._state = replace(self._state, writes=True)
        for id_ in self._headers.assistant:
            self._place_target(id_)

    def _place_target(self, id_: int) -> None:
        n_target = self._state.target
        position = TARGET_SIDE + n_target
        self._rows.append(Row(id_, position, shift=self._encoded(n_target) - position))
        self._state = replace(self._state, target=n_target + 1)

    def _encoded(self, n_target: int) -> int:
        """Name what the position encoding is given for target token ``n_target`` (header too)."""
        return self._state.source + n_target


class GroupPlanner(JoinedPlanner):
    """Source and target each counted from 0 (group position encoding).

    Source: GPE (Tong et al. 2025): position(source i) = i, instruction included; position(target j)
    = phi + j with phi = 0. The assistant header belongs to the target. Unlike the published code,
    no header sees ahead, and sight is by sub-word.
    """

    def _encoded(self, n_target: int) -> int:
        return n_target


class RecomputingPlanner(JoinedPlanner):
    """The prompt is encoded anew whenever source was read: positions are always right, and paid.

    Source: prefix-to-prefix decoding as Simul-LLM and SimulMask's baselines do it. The system
    prompt alone stays cached, so what we count is a little less than what they pay.
    """

    recomputes = True
    _n_again = 0

    @property
    def n_again(self) -> int:
        """Rows that the next write hands out and that had been handed out before."""
        return self._n_again

    def write(self) -> list[Row]:
        """Close a forward pass; everything behind the system prompt where source was read."""
        fed = super().write()
        self._n_again = 0
        return fed

    def _make_room(self) -> None:
        """Take the target out of the rows; the next write places it behind the longer source."""
        if not self._state.writes:
            return
        n_system = len(self._headers.system)
        n_source = self._state.source  # up to here a row's position is its index
        first = n_source + len(self._headers.assistant)
        placed = tuple(row.id for row in self._rows[first:])
        self._n_again = self._n_fed - n_system
        del self._rows[n_source:]
        self._n_fed = n_system
        self._state = State(source=n_source, pending=placed + self._state.pending)
