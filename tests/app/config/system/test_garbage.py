import gc
import threading

import pytest
from PySide6.QtCore import QObject, QTimer

from app.config.system import garbage
from app.config.system.garbage import GarbageCollector


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
    one = GarbageCollector()
    yield one
    one.close()


def test_what_other_threads_make_deletes_no_window_there(collector, qtbot):  # noqa: ARG001
    deleted_in = []
    Cyclic(deleted_in)
    maker = threading.Thread(target=make_garbage, name="maker")
    maker.start()
    maker.join()
    assert deleted_in == []
    qtbot.waitUntil(lambda: deleted_in == ["MainThread"])


@pytest.mark.parametrize(
    ("counts", "collected"),
    [((700, 10, 10), []), ((701, 0, 0), [0]), ((701, 11, 0), [1]), ((0, 11, 11), [2])],
)
def test_what_is_due_is_collected(monkeypatch, counts, collected):
    asked = []
    monkeypatch.setattr(garbage.gc, "get_count", lambda: counts)
    monkeypatch.setattr(garbage.gc, "get_threshold", lambda: (700, 10, 10))
    monkeypatch.setattr(garbage.gc, "collect", asked.append)
    garbage.collect()
    monkeypatch.undo()
    assert asked == collected


@pytest.mark.parametrize("was_enabled", [True, False])
def test_at_its_end_python_collects_as_before(qapp, was_enabled):  # noqa: ARG001
    before = gc.isenabled()
    gc.enable() if was_enabled else gc.disable()
    one = GarbageCollector()
    assert not gc.isenabled()
    one.close()
    after = gc.isenabled()
    gc.enable() if before else gc.disable()
    assert after == was_enabled
