"""Turn READ and WRITE into rows: the only place that counts positions.

The live translator and the training builder run this very object. One phase lies so::

    [user header] [slot: L positions, source only] [assistant header] [target ...]
    u ..          S .. S+L-1                        S+L ..

An unfilled slot costs nothing. When the source overflows a slot after something was written, the
phase is closed (pending target, user header, next slot); before that the slot is extended by L.
Source: ExPosST section 2.2; where the paper is silent the choices are in docs/decisions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.layout import Headers, Row
from engine.settings import LayoutSettings


@dataclass(frozen=True, slots=True)
class _Phase:
    """Where the next rows go; frozen, so that taking back is putting an old one in place."""

    source: int  # position of the next source token
    slot_end: int  # first position behind the open slot
    target: int = -1  # position of the next target token, once the phase writes
    writes: bool = False  # the assistant header is placed
    pending: int | None = None  # chosen and not yet fed: it is fed when its successor is asked for


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    n_rows: int
    phase: _Phase


class Planner:
    """Rows of one utterance in arrival order.

    Verbs: ``read`` the tokens of one source word, ``write`` to get the rows of the forward pass
    that predicts the next target token, ``choose`` that token. ``take_back`` undoes a write that
    was only a probe, ``rewind`` undoes everything from a source word on.

    Invariants: positions are unique and never change; a row is handed out exactly once; the last
    row of a write has the largest position of all.
    """

    def __init__(self, headers: Headers, settings: LayoutSettings) -> None:
        self._headers = headers
        self._slot_length = settings.slot_length
        self._rows: list[Row] = []
        self._words: list[_Checkpoint] = []  # what stood before each source word
        self._last_write: _Checkpoint | None = None  # what stood before the last write
        self._n_fed = 0
        self._time = 0
        for position, id_ in enumerate(headers.system):
            self._rows.append(Row(id_, position))
        self._phase = self._new_phase(len(headers.system))

    @property
    def rows(self) -> Sequence[Row]:
        """All rows, fed and planned, in arrival order."""
        return self._rows

    @property
    def n_fed(self) -> int:
        """Rows handed out by ``write`` and not taken back."""
        return self._n_fed

    @property
    def n_words(self) -> int:
        """Source words read."""
        return len(self._words)

    def skip(self, n_rows: int) -> None:
        """Take the first rows as fed: the system prompt stays cached between utterances."""
        if self._n_fed or n_rows > len(self._headers.system):
            msg = f"only system rows of a new utterance can be skipped, got {n_rows}"
            raise ValueError(msg)
        for index in range(n_rows):
            self._rows[index] = self._rows[index]._replace(time=0)
        self._n_fed = n_rows

    def read(self, ids: Sequence[int]) -> None:
        """Place the tokens of one source word, or the end-of-source marker.

        A word may straddle two slots; it is fed whole with the next write.
        """
        if not ids:
            msg = "a source word needs at least one token"
            raise ValueError(msg)
        for index, id_ in enumerate(ids):
            if self._phase.source == self._phase.slot_end:
                self._overflow()
            if index == 0:
                self._words.append(_Checkpoint(len(self._rows), self._phase))
            self._rows.append(Row(id_, self._phase.source))
            self._phase = replace(self._phase, source=self._phase.source + 1)

    def write(self) -> list[Row]:
        """Close a forward pass: its rows, the last of which predicts the next target token."""
        phase = self._phase
        self._last_write = _Checkpoint(len(self._rows), phase)
        if not phase.writes:
            for offset, id_ in enumerate(self._headers.assistant):
                self._rows.append(Row(id_, phase.slot_end + offset))
            target = phase.slot_end + len(self._headers.assistant)
            self._phase = replace(phase, target=target, writes=True)
        else:
            self._place_pending()
        for index in range(self._n_fed, len(self._rows)):
            self._rows[index] = self._rows[index]._replace(time=self._time)
        fed = self._rows[self._n_fed :]
        self._n_fed = len(self._rows)
        self._time += 1
        return fed

    def choose(self, id_: int) -> None:
        """Tell which token the last write predicted; it becomes that row's label."""
        if self._last_write is None:
            msg = "a token is chosen once, right after a write"
            raise ValueError(msg)
        self._last_write = None
        self._rows[-1] = self._rows[-1]._replace(label=id_)
        self._phase = replace(self._phase, pending=id_)

    def take_back(self) -> int:
        """Undo the last write, which was only a probe: its target row or header is fed again later.

        Source rows that the same forward pass fed stay; what is fed next shares their time.

        Returns:
            how many of the rows that were fed are still valid: truncate the cache to that length.
        """
        if self._last_write is None:
            msg = "only a write whose token was not chosen can be taken back"
            raise ValueError(msg)
        self._restore(self._last_write)
        self._last_write = None
        self._time -= 1
        return self._n_fed

    def rewind(self, word: int) -> int:
        """Forget source word ``word`` (from 0) and everything that depended on it.

        Rows in arrival order before the word's first token cannot have seen it: they were fed
        earlier, or in the same forward pass at smaller positions.

        Returns:
            how many of the rows that were fed are still valid: truncate the cache to that length.
        """
        self._restore(self._words[word])
        del self._words[word:]
        self._last_write = None
        return self._n_fed

    def _restore(self, checkpoint: _Checkpoint) -> None:
        del self._rows[checkpoint.n_rows :]
        self._phase = checkpoint.phase
        self._n_fed = min(self._n_fed, checkpoint.n_rows)

    def _overflow(self) -> None:
        """Make room in a full slot."""
        if not self._phase.writes:
            longer = self._phase.slot_end + self._slot_length
            self._phase = replace(self._phase, slot_end=longer)
            return
        if self._phase.pending is not None:
            self._place_pending()
        self._phase = self._new_phase(self._phase.target)

    def _new_phase(self, start: int) -> _Phase:
        """Place a user header at ``start`` and reserve a slot behind it."""
        for offset, id_ in enumerate(self._headers.user):
            self._rows.append(Row(id_, start + offset))
        source = start + len(self._headers.user)
        return _Phase(source=source, slot_end=source + self._slot_length)

    def _place_pending(self) -> None:
        phase = self._phase
        if phase.pending is None:
            msg = "the last token was not chosen: call choose after each write"
            raise ValueError(msg)
        self._rows.append(Row(phase.pending, phase.target))
        self._phase = replace(phase, pending=None, target=phase.target + 1)
