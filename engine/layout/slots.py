"""The slot layout of ExPosST: every source word to come has its position reserved.

The positions of one phase::

    [user header] [slot: L positions, source only] [assistant header] [target ...]
    u ..          S .. S+L-1                        S+L ..          S+L+A ..

An unfilled slot costs nothing. When the source overflows a slot after something was written, the
phase is closed (pending target, user header, next slot); before that the slot is extended by L. A
word may straddle two slots; it is fed whole with the next write.

Source: ExPosST section 2.2; docs/decisions has the choices that the paper leaves open.
"""

from collections.abc import Sequence

from engine.layout.planner import PhaseStart, Planner, State
from engine.layout.rows import Headers, Row
from engine.settings import LayoutSettings, check_choice


class SlotPlanner(Planner):
    """Slots of a fixed length: no row is computed twice, or moves."""

    def _open_source(self, start: int, header: Sequence[int]) -> State:
        phase = PhaseStart(len(self._rows), start)
        self._place_header(header, start)
        source = start + len(header)
        return State(source=source, slot_end=source + self._slot_length, phases=(phase,))

    def _make_room(self) -> None:
        if self._state.source < self._state.slot_end:
            return
        if self._state.writes:
            self._close_phase()
        else:
            longer = self._state.slot_end + self._slot_length
            self._state = self._state._replace(slot_end=longer)

    def _open_target(self) -> None:
        self._state = self._state._replace(target=self._target_start(), writes=True)
        for id_ in self._headers.assistant:
            self._place_target(id_)

    def _place_target(self, id_: int) -> None:
        self._rows.append(Row(id_, self._state.target))
        self._state = self._state._replace(target=self._state.target + 1)

    def _target_start(self) -> int:
        """Return the position of the assistant header: right after the slot, full or not."""
        return self._state.slot_end

    def _close_phase(self) -> None:
        """Place the pending tokens, and a user header followed by a new slot."""
        self._place_pending()
        phases = self._state.phases
        state = self._open_source(self._state.target, self._headers.user)
        self._state = state._replace(phases=(*phases, *state.phases))


# The layouts by name.

LAYOUTS: dict[str, type[Planner]] = {"slots": SlotPlanner}
"""Research adds those that slots are compared with."""


def planner_of(settings: LayoutSettings) -> type[Planner]:
    """Return the kind of planner of a layout; raise ValueError if there is none of its name."""
    check_choice("the layout", settings.name, LAYOUTS)
    return LAYOUTS[settings.name]


def make_planner(headers: Headers, settings: LayoutSettings) -> Planner:
    return planner_of(settings)(headers, settings)
