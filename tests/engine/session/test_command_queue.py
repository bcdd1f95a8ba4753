import threading

from engine.session.command_queue import Inbox


def test_commands_come_out_in_the_order_in_which_they_went_in():
    inbox = Inbox()
    for number in range(5):
        assert inbox.put(number, n_words=number)
    assert inbox.n_words == 10
    assert [inbox.take() for _ in range(5)] == list(range(5))
    assert inbox.is_empty
    assert inbox.n_words == 0


def test_words_that_do_not_fit_are_refused_as_a_whole_and_counted():
    inbox = Inbox(max_words=5)
    assert inbox.put("three", 3)
    assert not inbox.put("three more", 3)
    assert inbox.put("two", 2)
    assert not inbox.put("one more", 1)
    assert inbox.put("no words")  # what has none always fits
    assert inbox.take_refused() == 4
    assert inbox.take_refused() == 0
    assert [inbox.take() for _ in range(3)] == ["three", "two", "no words"]
    assert inbox.put("again", 5)


def test_who_takes_waits_for_who_puts_and_nothing_is_lost():
    inbox, taken = Inbox(), []

    def take():
        while (one := inbox.take()) is not None:
            taken.append(one)

    taker = threading.Thread(target=take)
    taker.start()
    putters = [
        threading.Thread(target=lambda first=first: [inbox.put(first + n, 1) for n in range(200)])
        for first in (1000, 2000, 3000)
    ]
    for putter in putters:
        putter.start()
    for putter in putters:
        putter.join()
    inbox.put(None)
    taker.join()
    assert sorted(taken) == [first + n for first in (1000, 2000, 3000) for n in range(200)]
    for first in (1000, 2000, 3000):
        mine = [one for one in taken if first <= one < first + 1000]
        assert mine == sorted(mine)
