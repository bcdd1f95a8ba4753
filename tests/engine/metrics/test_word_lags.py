import random
from typing import NamedTuple

from engine.events import (
    CaptionChanged,
    FedWord,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.metrics.latency import HEARD_STAGES, WordLags
from engine.utterances import UtteranceTracker


class Source(NamedTuple):
    """An utterance has so many words."""

    utterance: int
    n_words: int


class FedLags(WordLags):
    """Lags of the words and the events of a session."""

    def __init__(self):
        super().__init__()
        self.utterances = UtteranceTracker()
        self.came = {}  # by lane, in order
        self.placed = {}  # by utterance

    def words_came(self, n_words, now_s, lane=""):
        self.came.setdefault(lane, []).extend(
            [FedWord("word", spoken_at_s=now_s, committed_at_s=now_s)] * n_words
        )

    def hear(self, *words):
        self.came.setdefault("", []).extend(words)

    def follow(self, event, now_s):
        if isinstance(event, Source):
            event = self.place(event, now_s)
        utterance = self.utterances.take(event, now_s)
        n_before = len(self._heard["translated"].seconds)
        if utterance is not None:
            self.take(utterance, now_s)
        return list(self._heard["translated"].seconds[n_before:])

    def place(self, event, now_s):
        """Let an utterance have so many words, the next ones that came in its lane."""
        number, n_words = event.utterance, event.n_words
        words = self.placed.setdefault(number, [])
        lane = self.utterances[number].lane if number in self.utterances._utterances else ""
        came = self.came.get(lane, [])
        while len(words) < n_words:
            words.append(
                came.pop(0) if came else FedWord("word", spoken_at_s=now_s, committed_at_s=now_s)
            )
        del words[n_words:]
        return SourceChanged(utterance=number, words=tuple(words))

    def paint(self, number, now_s):
        return self.painted(self.utterances[number], now_s)


def word(*, spoken_at_s=0.0, committed_at_s=1.0):
    return FedWord("word", spoken_at_s=spoken_at_s, committed_at_s=committed_at_s)


def opened(number=1, lane=""):
    return UtteranceOpened(utterance=number, lane=lane)


def source(n_words, number=1):
    return Source(number, n_words)


def caption(n_read, number=1):
    return CaptionChanged(utterance=number, kept=0, text="x", n_read=n_read)


def follow(*steps, record=None):
    """Take steps (seconds, what): a number of words that came, or an event."""
    record = record or FedLags()
    samples = []
    for now_s, what in steps:
        if isinstance(what, int):
            record.words_came(what, now_s)
        else:
            samples += record.follow(what, now_s)
    return record, samples


def test_a_caption_counts_the_words_it_rests_on_and_each_once():
    _, samples = follow(
        (0, opened()), (0, 3), (0, source(3)), (1, caption(2)), (2, caption(2)), (3, caption(3))
    )
    assert samples == [1, 1, 3]


def test_what_has_no_caption_when_the_utterance_ends_counts_until_then():
    end = UtteranceEnded(utterance=1)
    _, samples = follow((0, opened()), (0, 2), (0, source(2)), (1, caption(1)), (4, end))
    assert samples == [1, 4]


def test_paint_counts_from_the_caption_to_the_screen_once():
    record, _ = follow((0, opened()), (0, 2), (0, source(2)), (1, caption(1)))
    assert record.paint(1, 1.5) == [1.5]
    assert record.paint(1, 9) == []
    record.follow(caption(2), 2)
    assert record.paint(1, 3) == [3]
    assert list(record._heard["shown"].seconds) == [0.5, 1]


def test_lanes_keep_their_words_apart():
    record = FedLags()
    record.words_came(1, 0, "me")
    record.words_came(1, 2, "them")
    record.follow(opened(1, "me"), 2)
    record.follow(opened(2, "them"), 2)
    record.follow(source(1, 2), 2)
    record.follow(source(1, 1), 2)
    assert record.follow(caption(1, 2), 4) == [2]
    assert record.follow(caption(1, 1), 4) == [4]


def test_words_of_utterances_that_are_dropped_or_unknown_change_nothing():
    dropped = UtteranceDropped(utterance=1)
    record, samples = follow((0, opened()), (0, source(1)), (1, dropped), (2, caption(1)))
    assert samples == []
    assert record.follow(source(3, 9), 0) == []


def test_every_word_is_committed_once_however_it_comes():
    rng = random.Random(0)
    for _ in range(200):
        record, now_s, n_given, n_known, n_read, committed = FedLags(), 0.0, 0, 0, 0, 0
        record.follow(opened(), 0)
        for _ in range(rng.randrange(30)):
            now_s += rng.random()
            match rng.randrange(3):
                case 0:
                    record.words_came(1, now_s)
                    n_given += 1
                case 1:
                    n_known = n_given
                    record.follow(source(n_known), now_s)
                case 2:
                    n_read = rng.randint(n_read, max(n_read, n_known))
                    committed += len(record.follow(caption(n_read), now_s))
        committed += len(record.follow(UtteranceEnded(utterance=1), now_s))
        assert committed == n_known


def test_each_stage_of_heard_words_is_measured_from_the_one_before():
    record = FedLags()
    record.hear(word(spoken_at_s=1, committed_at_s=3), word(spoken_at_s=2))
    record.follow(opened(), 3.0)
    record.follow(source(2), 3.0)
    record.follow(caption(1), 4.5)
    record.paint(1, 5.0)
    record.paint(1, 9.0)  # again, but nothing new
    lags = {lag.stage: lag for lag in record.heard()}
    assert [lags[stage].n_words for stage in HEARD_STAGES] == [1, 1, 1, 1]
    assert lags["translated"].median_s == 1.5
    assert lags["shown"].median_s == 0.5
    assert lags["whole"].median_s == 4.0
    record.begin_listening()
    assert record.heard() == []


def test_each_lane_has_its_own_lag_from_the_sound_of_a_word_to_its_caption():
    record = FedLags()
    for number, lane, painted_s in ((1, "me", 3.0), (2, "them", 7.0)):
        record.came[lane] = [word(spoken_at_s=1, committed_at_s=2)]
        record.follow(UtteranceOpened(utterance=number, lane=lane), 2.0)
        record.follow(Source(number, 1), 2.0)
        record.follow(caption(1, number), 2.5)
        record.paint(number, painted_s)
    assert record.lanes == ["me", "them"]
    assert [record.heard(lane=lane)[-1].median_s for lane in record.lanes] == [2.0, 6.0]
    assert record.heard()[-1].n_words == 2


def test_typed_words_are_none_of_the_heard():
    record = FedLags()
    record.came[""] = [FedWord("word", committed_at_s=0)]
    follow((0, opened()), (0, source(1)), (1, caption(1)), record=record)
    assert record.paint(1, 2) == []
    assert record.heard() == []


def test_median_and_tail_are_those_of_all_heard_words_or_of_the_newest():
    record = FedLags()
    record.hear(*(word(spoken_at_s=0, committed_at_s=s) for s in range(101)))
    follow((101, opened()), (101, source(101)), (101, caption(101)), record=record)
    lag = record.heard()[0]
    assert (lag.n_words, lag.median_s, lag.p95_s) == (101, 50.0, 95.0)
    lag = record.heard(11)[0]
    assert (lag.n_words, lag.median_s) == (11, 95.0)


def test_the_oldest_words_are_forgotten(monkeypatch):
    monkeypatch.setattr("engine.metrics.latency._REMEMBERED", 3)
    record = FedLags()
    for number in range(5):
        record.came["them" if number > 2 else "me"] = [word(spoken_at_s=0, committed_at_s=number)]
        record.follow(UtteranceOpened(utterance=number, lane="them" if number > 2 else "me"), 9.0)
        record.follow(Source(number, 1), 9.0)
        record.follow(caption(1, number), 10.0)
        record.paint(number, 10.0)
    assert list(record._heard["translated"].seconds) == [8, 7, 6]
    (recognised, *_) = record.heard(lane="them")
    assert (recognised.n_words, recognised.median_s) == (2, 3)
    assert record.heard()[0].n_words == 3
    assert record.lanes == ["me", "them"]
