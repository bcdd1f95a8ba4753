import random

import pytest

from app.session.unfinished_words import SentWords
from engine.events import SourceChanged, UtteranceDropped, UtteranceEnded, UtteranceOpened


class Session:
    """Takes words of lanes as a session does: in order, an utterance for each passage."""

    def __init__(self, sent):
        self.sent = sent
        self.number = 0
        self.open = {}

    def feed(self, lane, words):
        if lane not in self.open:
            self.number += 1
            self.open[lane] = (self.number, [])
            self.sent.take(UtteranceOpened(utterance=self.number, lane=lane))
        number, said = self.open[lane]
        said += words
        self.sent.take(SourceChanged(utterance=number, words=tuple(said)))

    def end(self, lane, event=UtteranceEnded):
        number, said = self.open.pop(lane)
        self.sent.take(event(utterance=number))
        return said


@pytest.mark.parametrize("seed", range(30))
def test_what_did_not_come_back_is_given_and_nothing_else(seed):
    rng = random.Random(seed)
    sent = SentWords()
    session = Session(sent)
    passages = {"me": [], "them": []}  # of words and whether they are finished; not ended yet
    for number in range(60):
        lane = rng.choice(["me", "them"])
        waiting = passages[lane]
        kind = rng.randrange(4)
        if kind == 0:
            if not waiting or waiting[-1][1]:
                waiting.append([[], False])
            words = [f"w{number}"] * rng.randint(1, 3)
            waiting[-1][0] += words
            sent.feed(lane, words)
        elif kind == 1 and waiting and not waiting[-1][1]:
            waiting[-1][1] = True
            sent.end(lane)
        elif kind == 2:
            sent.take(UtteranceOpened(utterance=1000 + number))  # typed: nobody's
            sent.take(SourceChanged(utterance=1000 + number, words=("a", "b")))
            sent.take(UtteranceEnded(utterance=1000 + number))
        elif waiting and waiting[0][1]:
            words, _ = waiting.pop(0)
            session.feed(lane, words)
            session.end(lane, rng.choice([UtteranceEnded, UtteranceDropped]))
    expected = {
        (lane, tuple(words), ended) for lane, all_ in passages.items() for words, ended in all_
    }
    given = sent.take_unfinished()
    assert set(given) == expected
    assert [one for one in given if one[0] == "me"] == [
        ("me", tuple(words), ended) for words, ended in passages["me"]
    ]
    assert sent.take_unfinished() == []
