import random

import pytest

from engine.events import (
    CaptionChanged,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.speech.word_tracker import WordTracker
from engine.utterances import FedWord


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
    tracker = WordTracker()
    placed, fed, number = {}, {"me": 0, "them": 100}, 0
    for _ in range(30):
        lane = rng.choice(["me", "them"])
        n_words, number = rng.randint(1, 5), number + 1
        tracker.commit(lane, [word(fed[lane] + i) for i in range(n_words)])
        tracker.take(UtteranceOpened(utterance=number, lane=lane), 0.0)
        for n_known in sorted({rng.randint(1, n_words), n_words}):
            texts = tuple(f"w{fed[lane] + i}" for i in range(n_known))
            tracker.take(SourceChanged(utterance=number, words=texts), 0.0)
            placed_now = tracker.utterances[number].fed
            assert tuple(one.text for one in placed_now) == texts
            assert tracker.utterances[number].lane == lane
            placed[number] = texts
        fed[lane] += n_words
    assert tracker.utterances.n_uncaptioned == sum(map(len, placed.values()))
    assert not tracker.utterances.all_ended
    for number in placed:
        tracker.take(UtteranceEnded(utterance=number), 0.0)
    assert tracker.utterances.all_ended
    assert tracker.utterances.n_uncaptioned == 0


def test_each_stage_is_measured_from_the_one_before():
    tracker = WordTracker()
    tracker.commit("", [word(0, spoken_at_s=1, committed_at_s=3), word(1, spoken_at_s=2)])
    tracker.take(UtteranceOpened(utterance=1), 3.0)
    tracker.take(SourceChanged(utterance=1, words=("w0", "w1")), 3.0)
    tracker.take(CaptionChanged(utterance=1, kept=0, text="a", n_read=1), 4.5)
    tracker.shown(1, 5.0)
    tracker.shown(1, 9.0)  # again, but nothing new
    lags = {lag.stage: lag for lag in tracker.lags()}
    assert [lags[stage].n_words for stage in ("recognised", "translated", "shown", "whole")] == [
        2,
        1,
        1,
        1,
    ]
    assert lags["translated"].median_s == 1.5
    assert lags["shown"].median_s == 0.5
    assert lags["whole"].median_s == 4.0
    assert tracker.utterances.n_uncaptioned == 1


def test_median_and_tail_are_those_of_all_words():
    tracker = WordTracker()
    tracker.commit("", [word(0, spoken_at_s=0, committed_at_s=s) for s in range(101)])
    (lag,) = tracker.lags()
    assert (lag.n_words, lag.median_s, lag.p95_s) == (101, 50.0, 95.0)


def test_typed_words_are_nobodys():
    tracker = WordTracker()
    tracker.take(UtteranceOpened(utterance=1), 0.0)
    assert tracker.take(SourceChanged(utterance=1, words=("typed",)), 0.0) is None
    assert tracker.utterances.all_ended, "nobody waits for what is still typed"
    tracker.take(UtteranceDropped(utterance=1), 0.0)
    assert tracker.utterances.n_uncaptioned == 0


def test_memory_does_not_grow_with_ended_utterances():
    tracker = WordTracker()
    for number in range(1000):
        tracker.commit("", [word(number)])
        tracker.take(UtteranceOpened(utterance=number), 0.0)
        tracker.take(SourceChanged(utterance=number, words=("w",)), 0.0)
        tracker.take(UtteranceEnded(utterance=number), 0.0)
    assert len(tracker.utterances._utterances) < 50


@pytest.mark.parametrize("seed", range(20))
def test_another_session_places_what_the_one_before_did_not_end(seed):
    rng = random.Random(seed)
    tracker = WordTracker()
    left = {"me": list(range(20)), "them": list(range(100, 120))}
    for lane, numbers in left.items():
        tracker.commit(lane, [word(number) for number in numbers])
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
            placed_now = tracker.utterances[number].fed
            assert tuple(one.text for one in placed_now) == texts
            tracker.take(CaptionChanged(utterance=number, kept=0, text="a", n_read=1), 0.0)
            if rng.random() < 0.5:
                tracker.take(UtteranceEnded(utterance=number), 0.0)
                left[lane] = [one for one in left[lane] if one not in words]
        tracker.utterances.restart()
        assert tracker.utterances.n_uncaptioned == sum(map(len, left.values()))
        assert tracker.utterances.all_ended == (not any(left.values()))


def test_lags_of_the_newest_words_alone_can_be_asked_for():
    tracker = WordTracker()
    tracker.commit("", [word(0, spoken_at_s=0, committed_at_s=s) for s in range(101)])
    (lag,) = tracker.lags(11)
    assert (lag.n_words, lag.median_s) == (11, 95.0)


def test_it_is_told_when_the_words_of_an_utterance_were_said():
    tracker = WordTracker()
    tracker.commit("me", [word(0, spoken_at_s=10.0), word(1, spoken_at_s=11.5)])
    tracker.take(UtteranceOpened(utterance=1, lane="me"), 0.0)
    tracker.take(SourceChanged(utterance=1, words=("w0",)), 0.0)
    utterance = tracker.utterances[1]
    assert (utterance.begun_at_s, utterance.said_until_s) == (9.0, 10.0)  # a word takes a second
    tracker.take(SourceChanged(utterance=1, words=("w0", "w1")), 0.0)
    assert (utterance.begun_at_s, utterance.said_until_s) == (9.0, 11.5)
