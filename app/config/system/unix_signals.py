"""Ctrl+C in the terminal closes the window: a signal wakes the Qt event loop by a socket."""

import signal
import socket

from PySide6.QtCore import QObject, QSocketNotifier, Signal, Slot


class Interrupt(QObject):
    """Listen for SIGINT and SIGTERM; made in the main thread. ``close`` restores the handlers.

    Signals:
        came(): a signal asked the program to end.
    """

    came = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)  # noqa: FBT003  Python's own
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._wake)
        # Qt waits in C++, where Python runs no handler; the byte on the socket wakes it up.
        self._old_wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._old_handlers = {
            number: signal.signal(number, _do_nothing) for number in (signal.SIGINT, signal.SIGTERM)
        }

    def close(self) -> None:
        """Restore the previous handlers."""
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_wakeup)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    @Slot()
    def _wake(self) -> None:
        self._reader.recv(4096)
        self.came.emit()


def _do_nothing(_number: int, _frame: object) -> None:
    """Replace the default handler, which would end the program at once."""
