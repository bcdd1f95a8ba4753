"""Turn READ and WRITE into rows: only planners count positions.

The live translator and the training builder run the same objects. The base is shared by all
layouts: slots, and those that research compares them with.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.layout.rows import Headers, Row
from engine.settings import LayoutSettings, check_choice


class State(NamedTuple):
    """The positions of the next rows; immutable, so that undoing restores an old state.

    A named tuple, which is quick to replace: samples of training are built by planners, too.

    Attributes:
        source: position of the next source token.
        target: position of the next target token, once the target is open (layouts that keep
            source and target apart count target tokens here).
        slot_end: first position after the open slot, if there are slots.
        writes: the assistant header is placed.
        pending: target tokens that are chosen and not yet placed; a token is fed when its successor
            is requested.
        phases: index and position of the first row of every phase, if there are phases.
    """

    source: int
    target: int = 0
    slot_end: int = 0
    writes: bool = False
    pending: tuple[int, ...] = ()
    phases: tuple["PhaseStart", ...] = ()


class PhaseStart(NamedTuple):
    """Row and position of the start of a phase."""

    row: int
    position: int


class Eviction(NamedTuple):
    """Evicted rows, [start, stop) in arrival order; later rows moved ``distance`` positions up."""

    start: int
    stop: int
    distance: int


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    n_rows: int
    state: State


class Planner(ABC):
    """Rows of one utterance in arrival order.

    ``ranked``: ALiBi counts the visible keys instead of positions.
    ``recomputes``: reading takes fed rows back, so that a training sample ends with each read.

    Methods: ``read`` the tokens of one source word, ``write`` to get the rows of the forward pass
    that predicts the next target token, ``choose`` that token. ``take_back`` undoes a write that
    was only a probe, ``rewind`` undoes everything from a source word on.

    Invariants: positions are unique; the last row of a write has the largest position of all; but
    for layouts that recompute, positions never change and a row is handed out exactly once.
    """

    ranked = False
    recomputes = False

    def __init__(self, headers: Headers, settings: LayoutSettings) -> None:
        self._headers = headers
        self._slot_length = settings.slot_length
        self._rows: list[Row] = []
        self._words: list[_Checkpoint] = []  # before each word that is not evicted
        self._n_evicted_words = 0
        self._last_write: _Checkpoint | None = None  # before the last write
        self._n_fed = 0
        self._time = 0
        for position, id_ in enumerate(headers.system):
            self._rows.append(Row(id_, position))
        self._state = self._open_source(len(headers.system), headers.first)

    @property
    def rows(self) -> Sequence[Row]:
        """All rows, fed and planned, in arrival order."""
        return self._rows

    @property
    def n_fed(self) -> int:
        return self._n_fed

    @property
    def n_words(self) -> int:
        return self._n_evicted_words + len(self._words)

    @property
    def n_evicted_words(self) -> int:
        """Source words, the first ones, that can no longer be rewound to."""
        return self._n_evicted_words

    @property
    def extent(self) -> int:
        """Positions in use or reserved."""
        return max(self._state.slot_end, self._state.source, self._state.target)

    @property
    def n_again(self) -> int:
        """Rows of the next write that were handed out before."""
        return 0

    def skip(self, n_rows: int) -> None:
        """Mark the first rows as fed: the system prompt stays cached between utterances."""
        if self._n_fed or n_rows > len(self._headers.system):
            msg = f"only system rows of a new utterance can be skipped, got {n_rows}"
            raise ValueError(msg)
        for index in range(n_rows):
            self._rows[index] = self._rows[index]._replace(time=0)
        self._n_fed = n_rows

    def read(self, ids: Sequence[int]) -> None:
        """Place the tokens of one source word (at least one), or the end-of-source marker."""
        if not ids:
            msg = "a source word needs at least one token"
            raise ValueError(msg)
        for index, id_ in enumerate(ids):
            self._make_room()
            if index == 0:
                self._words.append(_Checkpoint(len(self._rows), self._state))
            self._rows.append(Row(id_, self._state.source))
            self._state = self._state._replace(source=self._state.source + 1)

    def write(self) -> list[Row]:
        """Close a forward pass: its rows, the last of which predicts the next target token."""
        if self._state.writes and not self._state.pending:
            msg = "the last token was not chosen: call choose after each write"
            raise ValueError(msg)
        self._last_write = _Checkpoint(len(self._rows), self._state)
        if not self._state.writes:
            self._open_target()
        self._place_pending()
        return self._close_pass()

    def _close_pass(self) -> list[Row]:
        for index in range(self._n_fed, len(self._rows)):
            self._rows[index] = self._rows[index]._replace(time=self._time)
        fed = self._rows[self._n_fed :]
        self._n_fed = len(self._rows)
        self._time += 1
        return fed

    def choose(self, id_: int, *, asked: bool = True) -> None:
        """Set the token that the last write predicted; with ``asked`` it is that row's label."""
        if self._last_write is None:
            msg = "a token is chosen once, right after a write"
            raise ValueError(msg)
        self._last_write = None
        if asked:
            self._rows[-1] = self._rows[-1]._replace(label=id_)
        self._state = self._state._replace(pending=(id_,))

    def take_back(self, *, keeps_time: bool = False) -> int:
        """Undo the last write, which was only a probe: its target row or header is fed again later.

        Source rows that the same forward pass fed stay; the next rows share their time, unless it
        is kept: which row sees which is the same either way. Truncate the cache to the number that
        is returned: the fed rows that are still valid.
        """
        if self._last_write is None:
            msg = "only a write whose token was not chosen can be taken back"
            raise ValueError(msg)
        self._restore(self._last_write)
        self._last_write = None
        self._time -= not keeps_time
        return self._n_fed

    def rewind(self, word: int) -> int:
        """Undo source word ``word`` (from 0) and everything that depends on it.

        Rows in arrival order before the word's first token cannot have seen it: they were fed
        earlier, or in the same forward pass at smaller positions. Truncate the cache to the number
        that is returned: the fed rows that are still valid.

        Raises:
            ValueError: the word was evicted.
        """
        word -= self._n_evicted_words
        if word < 0:
            msg = "a word that was evicted cannot be rewound to: begin the utterance anew"
            raise ValueError(msg)
        self._restore(self._words[word])
        del self._words[word:]
        self._last_write = None
        return self._n_fed

    def evict(self) -> Eviction | None:
        """Drop the oldest phase and move the rest up; None if there is only one phase.

        All rows of that phase must be fed. Sight does not change: it depends on differences.
        """
        if len(self._state.phases) < 2:
            return None
        first, second = self._state.phases[:2]
        gone = Eviction(first.row, second.row, second.position - first.position)
        n_rows = gone.stop - gone.start
        kept = self._rows[gone.stop :]
        del self._rows[gone.start :]
        self._rows += [row._replace(position=row.position - gone.distance) for row in kept]
        self._n_fed -= n_rows
        self._state = _moved_state(self._state, gone)
        words = [word for word in self._words if word.n_rows >= gone.stop]
        self._n_evicted_words += len(self._words) - len(words)
        self._words = [_moved(word, gone) for word in words]
        if self._last_write is not None:
            self._last_write = _moved(self._last_write, gone)
        return gone

    @abstractmethod
    def _open_source(self, start: int, header: Sequence[int]) -> State:
        """Place a header from position ``start`` on; return the state of an open source."""

    @abstractmethod
    def _open_target(self) -> None:
        """Place the assistant header; the state then has an open target."""

    @abstractmethod
    def _place_target(self, id_: int) -> None:
        """Place one token of the target."""

    def _make_room(self) -> None:  # noqa: B027  most layouts have nothing to do
        """Ensure that the next source token has a position."""

    def _place_header(self, ids: Sequence[int], start: int) -> None:
        self._rows.extend(Row(id_, start + offset) for offset, id_ in enumerate(ids))

    def _place_pending(self) -> None:
        pending = self._state.pending
        self._state = self._state._replace(pending=())
        for id_ in pending:
            self._place_target(id_)

    def _restore(self, checkpoint: _Checkpoint) -> None:
        del self._rows[checkpoint.n_rows :]
        self._state = checkpoint.state
        self._n_fed = min(self._n_fed, checkpoint.n_rows)


def _moved(checkpoint: _Checkpoint, gone: Eviction) -> _Checkpoint:
    n_rows = checkpoint.n_rows - (gone.stop - gone.start)
    return _Checkpoint(n_rows, _moved_state(checkpoint.state, gone))


def _moved_state(state: State, gone: Eviction) -> State:
    n_rows, distance = gone.stop - gone.start, gone.distance
    return state._replace(
        source=state.source - distance,
        target=state.target - distance,
        slot_end=state.slot_end - distance,
        phases=tuple(
            PhaseStart(row - n_rows, position - distance) for row, position in state.phases[1:]
        ),
    )


class SlotPlanner(Planner):
    """The slots of ExPosST: every source word to come has its position reserved.

    No row is computed twice, or moves. The positions of one phase::

        [user header] [slot: L positions, source only] [assistant header] [target ...]
        u ..          S .. S+L-1                        S+L ..          S+L+A ..

    An unfilled slot costs nothing. When the source overflows a slot after something was written,
    the phase is closed (pending target, user header, next slot); before that the slot is extended
    by L. A word may straddle two slots; it is fed whole with the next write.

    Source: ExPosST section 2.2; docs/decisions has the choices that the paper leaves open.
    """

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


LAYOUTS: dict[str, type[Planner]] = {"slots": SlotPlanner}
"""By name; research adds those that slots are compared with."""


def planner_of(settings: LayoutSettings) -> type[Planner]:
    """Return the kind of planner of a layout; raise ValueError if there is none of its name."""
    check_choice("the layout", settings.name, LAYOUTS)
    return LAYOUTS[settings.name]


def make_planner(headers: Headers, settings: LayoutSettings) -> Planner:
    return planner_of(settings)(headers, settings)
