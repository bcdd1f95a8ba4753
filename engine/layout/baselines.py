"""Layouts of other methods that slots are compared with, over the same methods, cache and rule.

The source of each, and our deviations, are in its class.
"""

from collections.abc import Sequence

from engine.layout.planner import Planner, State
from engine.layout.rows import Headers, Row
from engine.layout.slots import SlotPlanner
from engine.settings import LayoutSettings

TARGET_SIDE = 1 << 20
"""First position of a target that is kept apart: after every source word to come."""


class ApartPlanner(SlotPlanner):
    """Slots in which source sees source only, as in group position encoding.

    In slots a source row of the second phase or later sees the targets of the phases before, and so
    the model's own errors; the paper does not say whether it should. Encoded positions are those of
    slots, and so is what a row sees that is asked for a token.
    """

    def _place_target(self, id_: int) -> None:
        target = self._state.target
        self._rows.append(Row(id_, TARGET_SIDE + target, shift=-TARGET_SIDE))
        self._state = self._state._replace(target=target + 1)


class ConversationalPlanner(SlotPlanner):
    """A full turn of user and assistant for each read, positions in order of arrival.

    Source: Conversational SimulMT (Wang et al. 2024), section 3.1. Positions never overlap or gap,
    so every row costs the same as in slots; but each read pays for both headers.
    """

    def _make_room(self) -> None:
        if self._state.writes:
            self._close_phase()

    def _target_start(self) -> int:
        return self._state.source


class InterleavedPlanner(ConversationalPlanner):
    """Pieces of source and target in turn, with one token after each, and no header between them.

    ``source <eor> target <eow> source <eor> target ..``

    Source: EASiST (Fu et al. 2025), equation 1, as in EAST before it
    (https://aclanthology.org/2025.findings-acl.1045). The newest row of the source sees all
    targets, and is asked whether to write. Our deviation: ``<eor>`` is the first token of the
    assistant header, which every base knows as the end of the source.
    """

    def __init__(self, headers: Headers, settings: LayoutSettings) -> None:
        super().__init__(headers._replace(user=(), assistant=headers.assistant[:1]), settings)
        self.end_of_read = next(iter(headers.assistant), None)


class JoinedPlanner(Planner):
    """One source, one target: ``system | user | source .. | assistant | target ..``.

    In the order of sight the whole target comes after the whole source, so a source token sees
    source only, and the target sees the source read so far. The encoded positions differ:

    In this class the target directly follows the source read so far. A target token that was fed
    keeps its position while source grows into it: the misalignment that slots avoid. It is the
    paper's ablation "without slot", and decoding from a cache that is never recomputed (Raffel et
    al. 2024, section 4).
    """

    def _open_source(self, start: int, header: Sequence[int]) -> State:
        self._place_header(header, start)
        return State(source=start + len(header))

    def _open_target(self) -> None:
        self._state = self._state._replace(writes=True)
        for id_ in self._headers.assistant:
            self._place_target(id_)

    def _place_target(self, id_: int) -> None:
        n_target = self._state.target
        position = TARGET_SIDE + n_target
        self._rows.append(Row(id_, position, shift=self._encoded(n_target) - position))
        self._state = self._state._replace(target=n_target + 1)

    def _encoded(self, n_target: int) -> int:
        """Return the encoded position of target token ``n_target`` (header included)."""
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
    """The prompt is encoded again whenever source was read: positions are always right, at a cost.

    Source: prefix-to-prefix decoding as in Simul-LLM and SimulMask's baselines. The system prompt
    stays cached, so the count is a little lower than theirs.
    """

    recomputes = True
    _n_again = 0

    @property
    def n_again(self) -> int:
        """Rows of the next write that were handed out before."""
        return self._n_again

    def write(self) -> list[Row]:
        """Close a forward pass; all rows after the system prompt if source was read."""
        fed = super().write()
        self._n_again = 0
        return fed

    def _make_room(self) -> None:
        """Remove the target from the rows; the next write places it after the longer source."""
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
