import random

import numpy as np
import pytest

from benchmarks.window import Gaps, Seen, WordClock
from engine.events import CaptionChanged, SourceChanged, UtteranceEnded, untimed


def caption(number, n_read):
    return CaptionChanged(utterance=number, kept=0, text="x", n_read=n_read)


def source(number, n_words):
    return SourceChanged(utterance=number, words=untimed(("w",) * n_words))


def test_a_word_waits_for_the_paint_that_shows_a_caption_resting_on_it():
    seen = Seen()
    clock = WordClock(seen)
    for now_ms in (0, 100, 200):
        clock.word(now_ms)
    clock.event(source(0, 3), 210)
    clock.event(caption(0, 3), 250)
    clock.painted(260)
    assert seen.word_to_paint == [260, 160, 60]
    assert seen.last_word_to_paint == [60]
    assert seen.event_to_paint == [10]
    clock.painted(300)  # of something else
    assert len(seen.event_to_paint) == 1


def test_words_of_later_utterances_are_counted_on_and_an_end_shows_the_rest():
    seen = Seen()
    clock = WordClock(seen)
    for n in range(5):
        clock.word(100 * n)
    clock.event(source(4, 2), 110)
    clock.event(source(5, 3), 410)
    clock.event(UtteranceEnded(utterance=4), 420)
    clock.painted(500)
    clock.event(caption(5, 1), 600)
    clock.event(caption(5, 2), 610)
    clock.painted(700)
    assert seen.word_to_paint == [500, 400, 500, 400]
    assert seen.last_word_to_paint == [400, 500, 400]


@pytest.mark.parametrize("seed", range(5))
def test_every_word_is_counted_once_however_events_and_paints_fall(seed):
    rng = random.Random(seed)
    seen = Seen()
    clock = WordClock(seen)
    now_ms, n_words = 0.0, 0
    for number in range(6):
        length = rng.randint(1, 8)
        for n in range(1, length + 1):
            now_ms += rng.random()
            clock.word(now_ms)
            clock.event(source(number, n), now_ms)
            if rng.random() < 0.4:
                clock.event(caption(number, n), now_ms)
            if rng.random() < 0.5:
                clock.painted(now_ms)
        clock.event(UtteranceEnded(utterance=number), now_ms)
        n_words += length
    clock.painted(now_ms + 1)
    assert len(seen.word_to_paint) == n_words
    assert min(seen.word_to_paint) >= 0


def test_gaps_are_summed_up_as_a_list_of_them_would_be():
    rng = random.Random(1)
    drawn = [rng.choice((4, 20, 300)) * (1 + rng.random()) for _ in range(5000)]
    gaps = Gaps()
    for gap in drawn:
        gaps.add(gap)
    for share in (50, 99):
        assert gaps.percentile(share) == pytest.approx(np.percentile(drawn, share), rel=0.02)
    slow = sum(gap for gap in drawn if gap > 33) / sum(drawn)
    assert gaps.time_above(33) == pytest.approx(slow, rel=0.01)
    assert gaps.longest_ms == max(drawn)
    gaps.add(1e9)  # longer than is told apart
    assert gaps.longest_ms == 1e9
