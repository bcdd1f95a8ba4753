"""Hands events of the engine's threads to the GUI thread, few enough a turn that it can be used."""

import math
import time
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine.events import Event

MOST_S_A_TURN = 0.02
"""Keys, the mouse and painting wait for events no longer than this, and than the last one takes."""


class EventQueue(QObject):
    """A queue between threads; this object stays in the thread that takes.

    Invariant: what other threads emitted before an event was put has arrived before it is taken.

    Signals:
        came(int, Event): the next event, and the number of the run that reported it.
        turn_ended(): the events of a turn of the loop have been emitted.

    Attributes:
        is_in_turn: ``turn_ended`` follows what is emitted now.
    """

    came = Signal(int, object)
    turn_ended = Signal()
    _put = Signal(int, object)

    def __init__(self, parent: QObject | None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(parent)
        self._clock = clock
        self.is_in_turn = False
        self._events = deque[tuple[int, Event]]()  # filled in this thread: so their order is kept
        # A timer, since calls that are queued are all made before keys and mouse are looked at.
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._take_some)
        # The slot is a method of this object: a plain function would run on the other thread.
        self._put.connect(self._append)

    def put(self, run_number: int, event: Event) -> None:
        """Append an event; may be called from any thread."""
        self._put.emit(run_number, event)

    def take_all(self) -> None:
        """Emit all events that have arrived, those put before what arrived just now among them."""
        self._take_until(math.inf)

    @Slot(int, object)
    def _append(self, run_number: int, event: Event) -> None:
        self._events.append((run_number, event))
        self._wake()

    def _wake(self) -> None:
        if self._events and not self._turn.isActive():
            self._turn.start()

    @Slot()
    def _take_some(self) -> None:
        self._take_until(self._clock() + MOST_S_A_TURN)

    def _take_until(self, until_s: float) -> None:
        while self._events:
            event = self._events.popleft()
            self._wake()  # before the event, which may open a dialog with a loop of its own
            self.is_in_turn = True
            self.came.emit(*event)
            if self._clock() >= until_s:
                break
        self.is_in_turn = False
        self.turn_ended.emit()
