"""The passages of a session, by the commands that change them."""

import pytest

from engine.commands import Clear, EndPassage, FeedWords, SetWords
from engine.session.passages import Passages
from engine.translation.passage import Passage
from tests.support.fakes import Receiver, hashing_translator


@pytest.mark.parametrize("words", [SetWords(("ab", "cd.", "ef")), FeedWords(("ab", "cd."), "me")])
def test_clearing_drops_what_has_ended_and_waits_to_be_translated(words):
    translator, receiver = hashing_translator(), Receiver()
    passages = Passages(lambda lane: Passage(translator, lane))
    for command in (words, EndPassage(), Clear()):
        for event in passages.change(command):
            receiver(event)
    assert passages.backlog_words == 0
    assert receiver.text == []
    assert not any(passage.advance() for passage in passages)
