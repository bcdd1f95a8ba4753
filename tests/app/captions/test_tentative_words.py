from app.captions.tentative_words import TentativeWords, dotted
from engine.events import SourceChanged, UtteranceEnded, UtteranceOpened
from engine.utterances import FedWord, UtteranceTracker


class FedWords(TentativeWords):
    """Tentative words behind the words and events of a session."""

    def __init__(self):
        self.utterances = UtteranceTracker()
        super().__init__(self.utterances)

    def feed(self, lane, n_words):
        self.utterances.feed(lane, [FedWord(committed_at_s=0.0)] * n_words)

    def take(self, event):
        self.utterances.take(event, 0.0)


def test_a_tail_waits_until_the_words_before_it_came_back():
    tails = FedWords()
    tails.hold("me", ["we", "went"])
    assert tails.release() == {"me": ("we", "went")}
    tails.feed("me", 2)
    tails.hold("me", ["home"])
    tails.hold("them", [])
    assert tails.release() == {"them": ()}
    tails.take(UtteranceOpened(utterance=0, lane="me"))
    tails.take(SourceChanged(utterance=0, words=("we",)))
    assert tails.release() == {}
    tails.take(SourceChanged(utterance=0, words=("we", "went")))
    assert tails.release() == {"me": ("home",)}
    assert tails.release() == {}


def test_the_newest_tail_of_a_lane_is_the_one_that_is_shown():
    tails = FedWords()
    tails.feed("me", 1)
    tails.hold("me", ["a"])
    tails.hold("me", ["b"])
    tails.take(UtteranceOpened(utterance=0, lane="me"))
    tails.take(SourceChanged(utterance=0, words=("w",)))
    assert tails.release() == {"me": ("b",)}


def test_words_that_are_shown_as_waiting_hold_no_tail_back():
    tails = FedWords()
    tails.feed("me", 3)
    tails.hold("me", ["home"])
    tails.wait({"me": 2})
    assert tails.release() == {}
    tails.wait({"me": 3})
    assert tails.release() == {"me": ("home",)}


def test_another_session_numbers_anew_and_holds_nothing_back_for_ever():
    tails = FedWords()
    tails.feed("me", 3)
    tails.take(UtteranceOpened(utterance=0, lane="me"))
    tails.utterances.restart()
    tails.hold("me", ["home"])
    assert tails.release() == {}
    tails.wait({"me": 3})  # the bridge shows what it sends again
    assert tails.release() == {"me": ("home",)}
    tails.wait({})
    tails.take(UtteranceOpened(utterance=0, lane="me"))  # the same words again
    tails.take(SourceChanged(utterance=0, words=("a", "b", "c")))
    tails.take(UtteranceEnded(utterance=0))
    tails.feed("me", 1)
    tails.hold("me", ["then"])
    assert tails.release() == {}, "words that were said twice count once"


def test_dots_take_the_place_of_a_mark_that_may_still_change():
    assert dotted("old book today.") == "old book today…"
    assert dotted("so what?") == "so what?…"
    assert dotted("") == ""
