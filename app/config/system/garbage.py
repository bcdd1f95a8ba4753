"""Collects cyclic garbage in the GUI thread alone.

Python collects in whichever thread makes the next object. A window or timer that is garbage would
be deleted there, while Qt's event loop may be about to serve it, and the program crashes: "deleting
a QObject from a thread other than the one that owns the object is unsafe" (Qt, Threads and
QObjects, doc.qt.io/qt-6/threads-qobject.html).
"""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

_EACH_MS = 1000


class GarbageCollector(QObject):
    """Collect now and then in the thread that makes this, whose event loop runs.

    ``close`` lets Python collect again as it did before.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self, interval=_EACH_MS)
        self._timer.timeout.connect(self._collect)
        self._timer.start()

    def close(self) -> None:
        """Let Python collect by itself, in any thread, if it did so before."""
        self._timer.stop()
        if self._was_enabled:
            gc.enable()

    @Slot()
    def _collect(self) -> None:
        collect()


def collect() -> None:
    """Collect what is due, as Python would: the oldest generation, and all younger ones."""
    counts = zip(gc.get_count(), gc.get_threshold(), strict=True)
    due = [generation for generation, (count, most) in enumerate(counts) if count > most]
    if due:
        gc.collect(due[-1])
