"""Which words no session has captioned yet."""

import numpy as np
import pytest

from app.session.unfinished_words import append, readable
from engine.commands import EndPassage, FeedWords, SetWords
from engine.words import TYPED, FedWord, untimed


class Watched(list):
    """A list that knows the first place that was looked at, and is never looked through."""

    first = None

    def __getitem__(self, place):
        self.first = place if self.first is None else min(place, self.first)
        return super().__getitem__(place)

    def tail(self, start):
        return super().__getitem__(slice(start, None))

    def __iter__(self):
        pytest.fail("the whole list was looked through")


def typed(text):
    return SetWords(untimed(text.split()))


def test_the_words_of_a_line_replace_those_of_before_however_many_lines_came_earlier():
    earlier = [typed("One line"), EndPassage(TYPED)] * 1000
    commands = Watched([*earlier, typed("It"), FeedWords(untimed(["said"]), "mic")])
    append(commands, typed("It is"))
    assert commands.first == len(earlier)
    assert commands.tail(len(earlier)) == [FeedWords(untimed(["said"]), "mic"), typed("It is")]


def test_the_words_of_a_line_replace_none_of_a_line_that_has_ended():
    earlier = [typed("One line"), EndPassage(TYPED)] * 1000
    commands = Watched(earlier)
    append(commands, typed("It"))
    assert commands.first == len(earlier) - 1
    assert commands.tail(len(earlier) - 2) == [*earlier[:2], typed("It")]


def test_the_next_session_gets_the_words_that_it_can_read_and_the_ends_of_all():
    block = FedWord("", number=2, vectors=np.zeros((2, 4), np.float32))
    said = FeedWords((*untimed(["one"]), block), "mic")
    commands = [typed("a b"), said, EndPassage("mic")]
    texts = [typed("a b"), FeedWords(untimed(["one"]), "mic"), EndPassage("mic")]
    assert readable(commands, hears=False) == texts
    assert readable(commands, hears=True) == [FeedWords((block,), "mic"), EndPassage("mic")]
