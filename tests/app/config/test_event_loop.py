import gc
import os
import signal
import threading
import time

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer

from app.config.background import GarbageCollector, Interrupt, wait_until


@pytest.mark.parametrize("comes", [True, False])
def test_waiting_serves_the_event_loop_and_ends(qapp, comes):  # noqa: ARG001  it has the loop
    came = []
    if comes:
        QTimer.singleShot(1, lambda: came.append(True))
    began_s = time.monotonic()
    assert wait_until(lambda: bool(came), 60.0 if comes else 0.0) == comes
    assert time.monotonic() - began_s < 60.0


@pytest.mark.skipif(os.name == "nt", reason="there a signal ends the process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_asks_the_program_to_end_until_it_is_nobodys_any_more(qtbot, number):
    before = signal.getsignal(number)
    interrupt = Interrupt()
    with qtbot.waitSignal(interrupt.came):
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) is not before
    interrupt.close()
    assert signal.getsignal(number) is before
    assert signal.set_wakeup_fd(-1) == -1


class Failing(QObject):
    def eventFilter(self, _watched, _event):  # noqa: N802  Qt's name
        return [].pop()  # C raises this error


def test_an_error_that_c_raises_in_an_override_is_reported(qapp):  # noqa: ARG001
    watched, failing = QObject(), Failing()
    watched.installEventFilter(failing)
    with pytest.raises(IndexError, match="pop from empty list"):
        QCoreApplication.sendEvent(watched, QEvent(QEvent.Type.User))


class Cyclic(QObject):
    """Holds itself, so that only the collector of garbage deletes it.

    Where that happens in another thread, the running timer crashes the program at its next turn.
    """

    def __init__(self, deleted_in):
        super().__init__()
        self.itself = self
        QTimer(self, interval=0).start()
        self.deleted_in = deleted_in

    def __del__(self):
        self.deleted_in.append(threading.current_thread().name)


def make_garbage():
    """Make more objects than Python lets be before it collects by itself."""
    lists = [[] for _ in range(20 * gc.get_threshold()[0])]
    for one in lists:
        one.append(one)


@pytest.fixture
def collector(qapp):  # noqa: ARG001  an event loop
    return GarbageCollector()


def test_what_other_threads_make_deletes_no_window_there(collector, qtbot):  # noqa: ARG001
    deleted_in = []
    Cyclic(deleted_in)
    maker = threading.Thread(target=make_garbage, name="maker")
    maker.start()
    maker.join()
    assert deleted_in == []
    qtbot.waitUntil(lambda: deleted_in == ["MainThread"])
