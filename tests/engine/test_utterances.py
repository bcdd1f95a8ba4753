import gc
import random
import tracemalloc

import pytest

from engine.events import (
    AdapterChanged,
    CaptionChanged,
    FedWord,
    FurtherCaptionLeftOut,
    Ready,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
    untimed,
)
from engine.metrics import latency
from engine.utterances import UtteranceTracker


def heard(number, **times):
    return FedWord(f"w{number}", number=number, **{"spoken_at_s": 0.0, **times})


def opened(*numbers, lane="me"):
    tracker = UtteranceTracker()
    for number in numbers:
        tracker.take(UtteranceOpened(utterance=number, lane=lane), 0.0)
    return tracker


def test_keys_are_never_used_again_whatever_the_sessions_number():
    tracker = UtteranceTracker()
    keys = [tracker.new_key()]
    for _ in range(3):
        keys += [tracker.take(UtteranceOpened(utterance=n), 0.0).key for n in range(3)]
        tracker.restart()
    assert len(set(keys)) == 10


def test_what_was_cleared_is_not_given_again_and_its_words_were_there():
    tracker = opened(0)
    tracker.clear()
    change = SourceChanged(utterance=0, words=(heard(1), heard(2)))
    assert tracker.take(change, 0.0) is None
    assert (tracker.newest("me"), tracker.open) == (2, [])
    assert tracker.take(UtteranceDropped(utterance=0), 0.0) is None


def test_the_pieces_of_a_caption_are_those_that_stand():
    tracker = opened(0)
    for kept, text, n_read in ((0, "Ich", 1), (3, " trinke", 2), (10, " Tee", 3), (3, " aß", 2)):
        change = CaptionChanged(utterance=0, kept=kept, text=text, n_read=n_read)
        utterance = tracker.take(change, 0.0)
    assert (utterance.caption, utterance.pieces) == ("Ich aß", [(3, 1), (6, 2)])


def test_an_utterance_names_the_model_the_adapter_and_the_policy_that_it_was_opened_with():
    tracker = UtteranceTracker()

    def opened_by(number):
        return tracker.take(UtteranceOpened(utterance=number), 0.0).made_by

    assert opened_by(0) == ""
    tracker.take(Ready(model="small", languages={}, load_s=0.0), 0.0)
    tracker.policy = "read:2"
    assert opened_by(1) == "small · read:2"
    tracker.take(AdapterChanged(names=("mine",), used="mine", languages={}), 0.0)
    assert opened_by(2) == "small · mine · read:2"
    tracker.take(AdapterChanged(names=("mine",), used=None, languages={}), 0.0)
    tracker.policy = ""
    assert opened_by(3) == "small"


def test_a_caption_that_keeps_more_than_there_is_is_an_error():
    with pytest.raises(ValueError, match="3 characters were to stay of a caption that has 0"):
        opened(0).take(CaptionChanged(utterance=0, kept=3, text="", n_read=0), 0.0)


def test_memory_does_not_grow_with_ended_utterances():
    tracker = UtteranceTracker(n_ended_kept=16)
    for number in range(1000):
        tracker.take(UtteranceOpened(utterance=number), 0.0)
        tracker.take(SourceChanged(utterance=number, words=untimed("w")), 0.0)
        tracker.take(UtteranceEnded(utterance=number), 0.0)
    assert len(tracker._utterances) < 50


def test_what_a_further_language_left_out_is_waited_for_until_it_comes_or_the_language_goes():
    tracker = UtteranceTracker(n_ended_kept=4)
    for number in range(20):
        tracker.take(UtteranceOpened(utterance=number), 0.0)
        if number in (3, 5):
            left = FurtherCaptionLeftOut(utterance=number, language="fr")
            assert tracker.take(left, 0.0).further["fr"].left_out
        tracker.take(UtteranceEnded(utterance=number), 0.0)
    assert tracker.n_left_out("fr") == 2
    assert tracker.n_left_out("es") == 0
    made = CaptionChanged(utterance=3, language="fr", kept=0, text="Mots", n_read=1)
    assert tracker.take(made, 0.0).further["fr"].caption == "Mots"
    assert tracker.n_left_out("fr") == 1
    tracker.want(["fr"])
    assert tracker.n_left_out("fr") == 1
    tracker.want([])
    assert tracker.n_left_out("fr") == 0


def test_once_the_newest_are_full_nothing_of_a_listener_s_words_and_lags_grows(monkeypatch):
    monkeypatch.setattr(latency, "_REMEMBERED", 100)
    tracker, lags = UtteranceTracker(n_ended_kept=20), latency.WordLags()

    def hear(utterance):
        words = tuple(heard(7 * utterance + n, committed_at_s=float(n)) for n in range(7))
        for event in (
            UtteranceOpened(utterance=utterance, lane=f"lane {utterance % 2}"),
            SourceChanged(utterance=utterance, words=words),
            CaptionChanged(utterance=utterance, kept=0, text=f"Worte {utterance}", n_read=5),
            UtteranceEnded(utterance=utterance),
        ):
            lags.take(it := tracker.take(event, 0.0), 0.0)
            lags.painted(it, 0.0)

    tracemalloc.start()
    try:
        held = []
        for utterance in range(1000):
            hear(1000 + utterance)
            if utterance % 250 == 249:
                gc.collect()
                held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert held[-1] - held[0] < 10_000  # 750 utterances kept would be a megabyte


def test_an_utterance_was_said_when_its_words_were():
    tracker = opened(1)
    words = (
        heard(1, spoken_at_s=10.0, end_s=1.0),
        heard(2, spoken_at_s=11.5, start_s=1.0, end_s=2.5),
    )
    utterance = tracker.take(SourceChanged(utterance=1, words=words[:1]), 12.0)
    assert (utterance.begun_at_s, utterance.said_until_s) == (9.0, 10.0)
    tracker.take(SourceChanged(utterance=1, words=words), 12.0)
    assert (utterance.begun_at_s, utterance.said_until_s) == (9.0, 11.5)


def test_an_utterance_begins_after_the_end_of_the_one_before_in_its_lane():
    tracker = opened(1)
    tracker.take(UtteranceOpened(utterance=2, lane="them"), 0.0)
    tracker.take(UtteranceOpened(utterance=3, lane="me"), 0.0)
    begun = [
        tracker.take(SourceChanged(utterance=number, words=(word,)), 0.0).begun_at_s
        for number, word in (
            (1, heard(1, spoken_at_s=5.0, end_s=0.5)),
            (2, heard(1, spoken_at_s=5.0, end_s=1.0)),
            (3, heard(2, spoken_at_s=5.0, start_s=0.5, end_s=2.0)),  # its sound came faster
        )
    ]
    assert begun == [4.5, 4.0, 5.0]


def test_a_typed_utterance_began_when_its_first_word_was_first_typed():
    tracker = UtteranceTracker()
    tracker.take(UtteranceOpened(utterance=1), 9.0)
    for typed_s in (3.0, 8.0):
        word = FedWord("w", committed_at_s=typed_s)
        utterance = tracker.take(SourceChanged(utterance=1, words=(word,)), 9.0)
    assert (utterance.begun_at_s, utterance.said_until_s) == (3.0, None)


@pytest.mark.parametrize("seed", range(20))
def test_each_word_is_captioned_once_however_the_words_and_captions_come(seed):
    rng = random.Random(seed)
    tracker, n_words, captioned = opened(0), 0, []
    for now_s in range(30):
        if rng.random() < 0.5:
            n_words += rng.randrange(3)
            words = tuple(map(heard, range(1, n_words + 1)))
            event = SourceChanged(utterance=0, words=words)
        else:
            event = CaptionChanged(utterance=0, kept=0, text="a", n_read=rng.randint(0, n_words))
        captioned += tracker.take(event, now_s).new_captioned
    captioned += tracker.take(UtteranceEnded(utterance=0), 30.0).new_captioned
    assert [word.number for word in captioned] == list(range(1, n_words + 1))
    assert len(tracker[0].take_shown()) == n_words
    assert tracker.unshown == []
