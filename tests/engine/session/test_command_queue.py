import threading

from engine.events import Clear, EndPassage, SetWords, untimed
from engine.session.session import CommandQueue
from tests.support.commands import fed


def test_commands_come_out_in_the_order_in_which_they_went_in():
    commands = CommandQueue()
    sent = [fed("ab"), EndPassage(), SetWords(untimed(("a", "b"))), Clear(), fed("")]
    for command in sent:
        assert commands.put(command)
    assert [commands.take() for _ in sent] == sent
    assert commands.is_empty


def test_words_that_do_not_fit_are_refused_as_a_whole_and_counted():
    commands = CommandQueue(max_words=5)
    assert commands.put(fed("abc"))
    assert not commands.put(SetWords(untimed(("a", "b", "c"))))
    assert commands.put(fed("de"))
    assert not commands.put(fed("f"))
    assert commands.put(EndPassage())  # a command without words always fits
    assert commands.take_refused() == 4
    assert commands.take_refused() == 0
    assert [commands.take() for _ in range(3)] == [fed("abc"), fed("de"), EndPassage()]
    assert commands.put(fed("abcde"))


def test_taking_waits_for_putting_and_nothing_is_lost():
    commands, taken = CommandQueue(), []

    def take():
        while (command := commands.take()) is not None:
            taken.append(command)

    taker = threading.Thread(target=take)
    taker.start()
    putters = [
        threading.Thread(
            target=lambda first=first: [commands.put(fed([str(first + n)])) for n in range(200)]
        )
        for first in (1000, 2000, 3000)
    ]
    for putter in putters:
        putter.start()
    for putter in putters:
        putter.join()
    commands.put(None)
    taker.join()
    numbers = [int(command.words[0].text) for command in taken]
    assert sorted(numbers) == [first + n for first in (1000, 2000, 3000) for n in range(200)]
    for first in (1000, 2000, 3000):
        mine = [number for number in numbers if first <= number < first + 1000]
        assert mine == sorted(mine)
