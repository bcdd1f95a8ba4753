import random

import pytest

from engine.events import (
    CaptionChanged,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.utterances import FedWord, UtteranceTracker


def fed(*words):
    return [FedWord(text=word, committed_at_s=0.0) for word in words]


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
            self.sent.take(UtteranceOpened(utterance=self.number, lane=lane), 0.0)
        number, said = self.open[lane]
        said += words
        self.sent.take(SourceChanged(utterance=number, words=tuple(said)), 0.0)

    def end(self, lane, event=UtteranceEnded):
        number, said = self.open.pop(lane)
        self.sent.take(event(utterance=number), 0.0)
        return said


@pytest.mark.parametrize("seed", range(30))
def test_what_did_not_come_back_is_given_and_nothing_else(seed):
    rng = random.Random(seed)
    sent = UtteranceTracker()
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
            sent.feed(lane, fed(*words))
        elif kind == 1 and waiting and not waiting[-1][1]:
            waiting[-1][1] = True
            sent.end_passage(lane)
        elif kind == 2:
            sent.take(UtteranceOpened(utterance=1000 + number), 0.0)  # typed: nobody's
            sent.take(SourceChanged(utterance=1000 + number, words=("a", "b")), 0.0)
            sent.take(UtteranceEnded(utterance=1000 + number), 0.0)
        elif waiting and waiting[0][1]:
            words, _ = waiting.pop(0)
            session.feed(lane, words)
            session.end(lane, rng.choice([UtteranceEnded, UtteranceDropped]))
    expected = {
        (lane, tuple(words), ended) for lane, all_ in passages.items() for words, ended in all_
    }
    sent.restart()
    given = [(lane, *passage) for lane in sent.lanes for passage in sent.unplaced(lane)]
    assert set(given) == expected
    assert [one for one in given if one[0] == "me"] == [
        ("me", tuple(words), ended) for words, ended in passages["me"]
    ]


def test_words_that_were_not_sent_are_left_out_of_those_that_are_sent_again():
    tracker = UtteranceTracker()
    tracker.feed("me", fed("a", "b", "c"))
    tracker.end_passage("me")
    tracker.feed("me", fed("d"))
    tracker.take(UtteranceOpened(utterance=0, lane="me"), 0.0)
    tracker.take(SourceChanged(utterance=0, words=("a", "b")), 0.0)
    tracker.restart()
    assert list(tracker.unplaced("me", 1)) == [(("a", "b", "c"), True)]
    assert list(tracker.unplaced("me")) == [(("a", "b", "c"), True), (("d",), False)]


def test_an_utterance_has_the_times_of_its_words_and_a_word_the_end_of_its_passage():
    tracker = UtteranceTracker()
    tracker.feed("me", [FedWord(text="a", committed_at_s=3.0, spoken_at_s=2.0, end_s=0.5)])
    tracker.take(UtteranceOpened(utterance=0, lane="me"), 0.0)
    tracker.take(SourceChanged(utterance=0, words=("a",)), 0.0)
    tracker.end_passage("me")
    assert (tracker[0].begun_at_s, tracker[0].said_until_s) == (1.5, 2.0)
    tracker.restart()
    assert list(tracker.unplaced("me")) == [(("a",), True)]


def test_keys_are_never_used_again_whatever_the_sessions_number():
    tracker = UtteranceTracker()
    keys = [tracker.new_key()]
    for _ in range(3):
        keys += [tracker.take(UtteranceOpened(utterance=n), 0.0).key for n in range(3)]
        tracker.restart()
    assert len(set(keys)) == 10


def test_what_was_cleared_is_not_given_again_and_its_words_still_count():
    tracker = UtteranceTracker()
    tracker.feed("me", fed("a", "b"))
    tracker.take(UtteranceOpened(utterance=0, lane="me"), 0.0)
    tracker.clear()
    assert tracker.take(SourceChanged(utterance=0, words=("a", "b")), 0.0) is None
    assert (tracker.n_waiting("me"), tracker.open) == (0, [])
    assert tracker.take(UtteranceDropped(utterance=0), 0.0) is None
    assert tracker.all_ended


def test_the_pieces_of_a_caption_are_those_that_stand():
    tracker = UtteranceTracker()
    tracker.take(UtteranceOpened(utterance=0), 0.0)
    for kept, text, n_read in ((0, "Ich", 1), (3, " trinke", 2), (10, " Tee", 3), (3, " aß", 2)):
        change = CaptionChanged(utterance=0, kept=kept, text=text, n_read=n_read)
        utterance = tracker.take(change, 0.0)
    assert (utterance.caption, utterance.pieces) == ("Ich aß", [(3, 1), (6, 2)])


def word(number, *, spoken_at_s=0.0, committed_at_s=1.0):
    return FedWord(
        text=f"w{number}",
        start_s=number,
        end_s=number + 1,
        spoken_at_s=spoken_at_s,
        committed_at_s=committed_at_s,
    )


@pytest.mark.parametrize("seed", range(20))
def test_every_word_is_placed_once_in_the_order_it_was_said(seed):
    rng = random.Random(seed)
    tracker = UtteranceTracker()
    placed, fed, number = {}, {"me": 0, "them": 100}, 0
    for _ in range(30):
        lane = rng.choice(["me", "them"])
        n_words, number = rng.randint(1, 5), number + 1
        tracker.feed(lane, [word(fed[lane] + i) for i in range(n_words)])
        tracker.take(UtteranceOpened(utterance=number, lane=lane), 0.0)
        for n_known in sorted({rng.randint(1, n_words), n_words}):
            texts = tuple(f"w{fed[lane] + i}" for i in range(n_known))
            tracker.take(SourceChanged(utterance=number, words=texts), 0.0)
            placed_now = tracker[number].fed
            assert tuple(one.text for one in placed_now) == texts
            assert tracker[number].lane == lane
            placed[number] = texts
        fed[lane] += n_words
    assert tracker.n_uncaptioned == sum(map(len, placed.values()))
    assert not tracker.all_ended
    for number in placed:
        tracker.take(UtteranceEnded(utterance=number), 0.0)
    assert tracker.all_ended
    assert tracker.n_uncaptioned == 0


def test_typed_words_are_nobodys():
    tracker = UtteranceTracker()
    tracker.take(UtteranceOpened(utterance=1), 0.0)
    assert tracker.take(SourceChanged(utterance=1, words=("typed",)), 0.0).fed == []
    assert tracker.all_ended, "nobody waits for what is still typed"
    tracker.take(UtteranceDropped(utterance=1), 0.0)
    assert tracker.n_uncaptioned == 0


def test_memory_does_not_grow_with_ended_utterances():
    tracker = UtteranceTracker(n_ended_kept=16)
    for number in range(1000):
        tracker.feed("", [word(number)])
        tracker.take(UtteranceOpened(utterance=number), 0.0)
        tracker.take(SourceChanged(utterance=number, words=("w",)), 0.0)
        tracker.take(UtteranceEnded(utterance=number), 0.0)
    assert len(tracker._utterances) < 50


@pytest.mark.parametrize("seed", range(20))
def test_another_session_places_what_the_one_before_did_not_end(seed):
    rng = random.Random(seed)
    tracker = UtteranceTracker()
    left = {"me": list(range(20)), "them": list(range(100, 120))}
    for lane, numbers in left.items():
        tracker.feed(lane, [word(number) for number in numbers])
    while any(left.values()):
        unfed = {lane: list(numbers) for lane, numbers in left.items()}
        for number in range(8):  # each session numbers anew
            lane = rng.choice([lane for lane in unfed if unfed[lane]] or ["me"])
            n_words = rng.randint(0, 5)
            words, unfed[lane] = unfed[lane][:n_words], unfed[lane][n_words:]
            if not words:
                continue
            tracker.take(UtteranceOpened(utterance=number, lane=lane), 0.0)
            texts = tuple(f"w{one}" for one in words)
            tracker.take(SourceChanged(utterance=number, words=texts), 0.0)
            placed_now = tracker[number].fed
            assert tuple(one.text for one in placed_now) == texts
            tracker.take(CaptionChanged(utterance=number, kept=0, text="a", n_read=1), 0.0)
            if rng.random() < 0.5:
                tracker.take(UtteranceEnded(utterance=number), 0.0)
                left[lane] = [one for one in left[lane] if one not in words]
        tracker.restart()
        assert tracker.n_uncaptioned == sum(map(len, left.values()))
        assert tracker.all_ended == (not any(left.values()))


def test_it_is_told_when_the_words_of_an_utterance_were_said():
    tracker = UtteranceTracker()
    tracker.feed("me", [word(0, spoken_at_s=10.0), word(1, spoken_at_s=11.5)])
    tracker.take(UtteranceOpened(utterance=1, lane="me"), 0.0)
    tracker.take(SourceChanged(utterance=1, words=("w0",)), 0.0)
    utterance = tracker[1]
    assert (utterance.begun_at_s, utterance.said_until_s) == (9.0, 10.0)  # a word takes a second
    tracker.take(SourceChanged(utterance=1, words=("w0", "w1")), 0.0)
    assert (utterance.begun_at_s, utterance.said_until_s) == (9.0, 11.5)
