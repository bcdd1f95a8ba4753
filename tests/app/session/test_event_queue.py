"""Events of the engine's threads on their way into the GUI thread."""

import threading
from itertools import pairwise

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer, Signal

from app.session.event_queue import MOST_S_A_TURN, EventQueue
from engine.events import PaceChanged
from tests.support.hand_clock import HandClock

N_EVENTS = 200
EVENT_S = MOST_S_A_TURN / 5


def a_queue(parent, take):
    """Return a queue, and its clock, which goes on while an event is taken."""
    clock = HandClock()
    queue = EventQueue(parent, clock)

    def spend(_run, event):
        clock.now_s += EVENT_S
        take(event.backlog_words)

    queue.came.connect(spend)
    return queue


def fill(queue):
    for number in range(N_EVENTS):
        queue.put(1, PaceChanged(factor=1, backlog_words=number))


def test_a_turn_of_the_loop_takes_few_events_and_all_come_in_their_order(qtbot, qapp):
    taken, turns = [], [0]
    queue = a_queue(qapp, taken.append)
    other = QTimer(qapp, interval=0)  # as keys and the mouse, has a turn each time
    other.timeout.connect(lambda: turns.append(len(taken)))
    other.start()
    worker = threading.Thread(target=fill, args=(queue,))
    worker.start()
    worker.join()
    qtbot.waitUntil(lambda: len(taken) == N_EVENTS)
    other.stop()
    assert taken == list(range(N_EVENTS))
    assert max(after - before for before, after in pairwise(turns)) <= 2 * 5


def test_every_turn_tells_its_end_and_no_event_comes_outside_of_one(qtbot, qapp):
    told, queue = [], None

    def take(number):
        told.append((number, queue.is_in_turn))

    queue = a_queue(qapp, take)
    queue.turn_ended.connect(lambda: told.append(("end", queue.is_in_turn)))
    fill(queue)
    qtbot.waitUntil(lambda: told[-1:] == [("end", False)] and len(told) > N_EVENTS)
    assert [one for one in told if one[0] != "end"] == [(n, True) for n in range(N_EVENTS)]
    ends = [place for place, one in enumerate(told) if one == ("end", False)]
    assert 1 < max(after - before - 1 for before, after in pairwise(ends)) <= 2 * 5


def test_events_go_on_while_one_of_them_holds_a_dialog_open(qapp):
    taken = []

    def take(number):
        taken.append(number)
        if number == 0:
            while len(taken) < N_EVENTS:
                QCoreApplication.processEvents()

    queue = a_queue(qapp, take)
    fill(queue)
    while len(taken) < N_EVENTS:
        QCoreApplication.processEvents()
    assert taken == list(range(N_EVENTS))


def test_what_is_here_can_be_taken_at_once(qapp):
    taken = []
    queue = a_queue(qapp, taken.append)
    fill(queue)  # from this thread it arrives at once
    ended = []
    queue.turn_ended.connect(lambda: ended.append(len(taken)))
    queue.take_all()
    assert len(taken) == N_EVENTS
    assert ended == [N_EVENTS]  # it is one turn


class Ears(QObject):
    """Another one whose signals come from other threads."""

    heard = Signal(str)


def test_what_was_told_before_an_event_arrives_before_it_also_while_others_are_taken(qtbot, qapp):
    came, ears = [], Ears(qapp)

    def tell():  # as a listener tells of words, and the session of what it made of them
        ears.heard.emit("words")
        queue.put(1, PaceChanged(factor=1, backlog_words=1))

    def take(number):
        came.append(number)
        if number == 0:
            worker = threading.Thread(target=tell)
            worker.start()
            worker.join()

    queue = a_queue(qapp, take)
    ears.heard.connect(came.append, Qt.ConnectionType.QueuedConnection)
    queue.put(1, PaceChanged(factor=1, backlog_words=0))
    qtbot.waitUntil(lambda: len(came) == 3)
    assert came == [0, "words", 1]
