import random

import pytest

from app.captions.model import Captions, EpochClock, SpeakerNames, UtteranceView, dotted
from engine.events import (
    CaptionChanged,
    Confidence,
    FedWord,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
    untimed,
)
from tests.support.utterances import FedCaptions


def opened(*numbers, limit=200):
    captions = FedCaptions(limit=limit)
    for number in numbers:
        captions.feed(UtteranceOpened(utterance=number))
    return captions


def grow(captions, number, text, kept=None):
    """Append a piece, or cut back to ``kept`` characters and append."""
    if kept is None:
        kept = len(next(v.caption for v in captions.views if v.key == number))
    return captions.feed(CaptionChanged(utterance=number, kept=kept, text=text, n_read=1))


def test_text_never_changes_before_the_cut_whatever_comes():
    rng = random.Random(0)
    captions = opened(0)
    text = ""
    for _ in range(500):
        kept = len(text) if rng.random() < 0.8 else rng.randrange(len(text) + 1)
        piece = "".join(rng.choice("aé漢🙂 ") for _ in range(rng.randrange(4)))
        grow(captions, 0, piece, kept=kept)
        assert captions.views[0].caption[:kept] == text[:kept]
        text = text[:kept] + piece
        assert captions.views[0].caption == text


def test_an_event_about_text_that_never_came_is_an_error():
    captions = opened(0)
    with pytest.raises(ValueError, match="5 characters were to stay of a caption that has 0"):
        grow(captions, 0, "x", kept=5)


def test_an_utterance_opens_before_the_one_it_is_told_to_precede():
    captions = opened(0, 1)
    captions.feed(UtteranceOpened(utterance=2, before=1))
    captions.feed(SourceChanged(utterance=2, words=untimed(("middle",))))
    assert [view.source for view in captions.views] == ["", "middle", ""]


def test_a_dropped_utterance_is_gone_and_stays_gone():
    captions = opened(0, 1)
    captions.feed(UtteranceDropped(utterance=0))
    assert [view.key for view in captions.views] == [1]
    assert not captions.feed(SourceChanged(utterance=0, words=untimed(("late",))))


def test_an_ended_utterance_that_is_edited_is_open_again():
    captions = opened(0)
    grow(captions, 0, "Tee.")
    captions.feed(UtteranceEnded(utterance=0))
    assert captions.views[0].ended
    grow(captions, 0, "Kaffee.", kept=0)
    assert not captions.views[0].ended


def test_what_did_not_change_stays_the_very_same_object():
    captions = opened(0, 1)
    first = captions.views[0]
    grow(captions, 1, "neu")
    assert captions.views[0] is first


def test_only_the_newest_utterances_are_kept():
    captions = opened(*range(10), limit=3)
    assert [view.key for view in captions.views] == [7, 8, 9]
    assert not captions.feed(SourceChanged(utterance=0, words=untimed(("late",))))


def test_after_clear_late_events_show_nothing():
    captions = opened(0)
    captions.clear()
    captions.utterances.clear()
    assert not captions.feed(CaptionChanged(utterance=0, kept=0, text="late", n_read=1))
    assert captions.views == ()


def test_a_new_session_uses_the_same_numbers_for_other_utterances():
    captions = opened(0, 1)
    grow(captions, 0, "fertig")
    captions.feed(UtteranceEnded(utterance=0))
    captions.restart()
    captions.utterances.restart()
    captions.feed(UtteranceOpened(utterance=0))
    captions.feed(CaptionChanged(utterance=0, kept=0, text="neu", n_read=1))
    assert [view.caption for view in captions.views] == ["fertig", "neu"]
    assert len({view.key for view in captions.views}) == 2
    assert not captions.feed(SourceChanged(utterance=1, words=untimed(("late",))))


def test_a_tail_stands_behind_the_newest_utterance_of_its_lane():
    captions = FedCaptions()
    captions.feed(UtteranceOpened(utterance=0, lane="me"))
    captions.feed(SourceChanged(utterance=0, words=untimed(("We", "went"))))
    captions.feed(UtteranceOpened(utterance=1, lane="them"))
    captions.set_tail("me", ["home", "and"], 0)
    mine, theirs = captions.views
    assert (mine.lane, mine.source, mine.tail) == ("me", "We went", "home and")
    assert (theirs.lane, theirs.tail) == ("them", "")
    captions.set_tail("me", [], 0)
    assert captions.views[0].tail == ""


def test_a_tail_without_an_open_utterance_stands_alone_until_there_is_one():
    captions = FedCaptions()
    captions.set_tail("them", ["good"], 0)
    (alone,) = captions.views
    assert (alone.lane, alone.source, alone.tail) == ("them", "", "good")
    assert alone.key < 0
    captions.feed(UtteranceOpened(utterance=0, lane="them"))
    (view,) = captions.views
    assert (view.key, view.tail) == (0, "good")
    captions.feed(UtteranceEnded(utterance=0))
    assert [(view.key < 0, view.tail) for view in captions.views] == [(False, ""), (True, "good")]


def test_tails_go_when_everything_is_cleared_or_the_session_is_another():
    for forget in (Captions.clear, Captions.restart):
        captions = FedCaptions()
        captions.set_tail("me", ["so"], 0)
        forget(captions)
        assert captions.views == ()


def test_rows_that_come_back_have_keys_that_no_other_has():
    captions = opened(0, 1)
    captions.feed(UtteranceEnded(utterance=0))
    before = (*captions.views, UtteranceView(key=-1, source="waited"))
    captions.clear()
    captions.utterances.clear()
    captions.feed(UtteranceOpened(utterance=2))
    captions.bring_back(before)
    captions.feed(UtteranceOpened(utterance=3))
    keys = [view.key for view in captions.views]
    assert keys[:2] == [0, 1]
    assert len(set(keys)) == 5
    assert all(view.ended for view in captions.views[:3])
    assert not captions.feed(SourceChanged(utterance=1, words=untimed(("late",))))


def heard(*texts):
    return tuple(FedWord(text, number=number) for number, text in enumerate(texts, start=1))


def tails(captions):
    """The tails that are shown, by lane."""
    return {view.lane: view.tail for view in captions.views if view.tail}


def test_a_tail_waits_until_the_words_before_it_came_back():
    captions = FedCaptions()
    captions.set_tail("me", ["we", "went"], 0)
    assert tails(captions) == {"me": "we went"}
    assert not captions.set_tail("me", ["house"], 2)
    assert not captions.set_tail("me", ["home"], 2), "the newest is shown, once it may be"
    assert captions.set_tail("them", ["so"], 0)
    assert tails(captions) == {"me": "we went", "them": "so"}
    captions.feed(UtteranceOpened(utterance=0, lane="me"))
    captions.feed(SourceChanged(utterance=0, words=heard("we")))
    assert tails(captions)["me"] == "went", "what stands in the row is no tail any more"
    captions.feed(SourceChanged(utterance=0, words=heard("we", "went")))
    assert tails(captions)["me"] == "home"
    assert not captions.release_tails()


def test_words_that_are_shown_as_waiting_hold_no_tail_back():
    captions = FedCaptions()
    captions.set_tail("me", ["home"], 3)
    assert not captions.note_waiting({"me": 2})
    assert tails(captions) == {}
    assert captions.note_waiting({"me": 3})
    assert tails(captions) == {"me": "home"}


def test_another_session_numbers_anew_and_holds_nothing_back_for_ever():
    captions = FedCaptions()
    captions.feed(UtteranceOpened(utterance=0, lane="me"))
    captions.restart()
    captions.utterances.restart()
    captions.set_tail("me", ["home"], 3)
    assert tails(captions) == {}
    captions.note_waiting({"me": 3})  # the bridge shows what it sends again
    assert tails(captions) == {"me": "home"}
    captions.note_waiting({})
    captions.feed(UtteranceOpened(utterance=0, lane="me"))  # the same words again
    captions.feed(SourceChanged(utterance=0, words=heard("a", "b", "c")))
    captions.feed(UtteranceEnded(utterance=0))
    captions.set_tail("me", ["then"], 4)
    assert tails(captions) == {"me": "home"}, "words that were said twice count once"


def test_words_that_come_back_to_what_was_cleared_release_a_tail_too():
    captions = FedCaptions()
    captions.feed(UtteranceOpened(utterance=0, lane="me"))
    captions.clear()
    captions.utterances.clear()
    captions.set_tail("me", ["home"], 1)
    assert not captions.feed(SourceChanged(utterance=0, words=heard("w")))
    assert captions.release_tails()
    assert tails(captions) == {"me": "home"}


def test_dots_take_the_place_of_a_mark_that_may_still_change():
    assert dotted("old book today.") == "old book today…"
    assert dotted("so what?") == "so what?…"
    assert dotted("") == ""


def test_whatever_is_removed_and_put_back_the_order_is_as_before():
    rng = random.Random(0)
    captions = opened(*range(30))
    for number in range(25):
        captions.feed(UtteranceEnded(utterance=number))
    before = captions.views
    for _ in range(100):
        keys = {rng.randrange(30) for _ in range(rng.randrange(12))}
        removed = captions.remove(keys)
        assert [view.key for _, view in removed] == sorted(key for key in keys if key < 25)
        assert [view.key for view in captions.views] == [
            view.key for view in before if view.key not in keys or view.key >= 25
        ], "rows that are not complete stay"
        captions.put_back(removed)
        assert captions.views == before


def test_a_bookmark_is_set_and_removed():
    captions = opened(0, 1)
    assert (captions.mark(1), captions.views[1].marked) == (True, True)
    assert (captions.mark(1), captions.views[1].marked) == (False, False)
    assert captions.mark(7) is None


@pytest.mark.parametrize(
    ("confidence", "doubtful"),
    [(None, False), (Confidence(0.9), False), (Confidence(0.2, is_low=True), True)],
)
def test_a_caption_is_doubtful_from_its_end_to_its_next_edit(confidence, doubtful):
    captions = opened(0)
    grow(captions, 0, "Tee.")
    assert not captions.views[0].doubtful
    captions.feed(UtteranceEnded(utterance=0, confidence=confidence))
    assert captions.views[0].doubtful is doubtful
    grow(captions, 0, "Kaffee.", kept=0)
    assert not captions.views[0].doubtful
    captions.feed(UtteranceEnded(utterance=0, confidence=confidence))
    captions.feed(SourceChanged(utterance=0, words=untimed(("coffee",))))
    assert not captions.views[0].doubtful


def test_a_time_is_the_same_each_time_until_the_time_of_day_is_set():
    now = {"epoch": 1_000_000.0, "monotonic": 50.0}
    clock = EpochClock(lambda: now["epoch"], lambda: now["monotonic"])
    assert clock(40.0) == 999_990.0
    now["epoch"] += 10.002  # clocks differ a little
    now["monotonic"] += 10.0
    assert clock(40.0) == 999_990.0
    now["epoch"] += 3600.0
    assert round(clock(40.0)) == 1_003_590


@pytest.fixture
def names():
    return SpeakerNames({"me": "Me", "them": "Them"})


def view(key, lane="me"):
    return UtteranceView(key=key, lane=lane)


def test_two_speakers_have_names_from_then_on_and_typed_words_never(names):
    names.hear(["me"])
    assert [names.name_of(view(0)), names.name_of(view(-1_000_000))] == ["", ""]
    names.hear(["me", "them"])
    assert names.name_of(view(0)) == "", "that would move its text"
    shown = [names.name_of(view(key, lane)) for key, lane in enumerate(("me", "them", "", "x"), 1)]
    assert shown == ["Me", "Them", "", ""]
    assert names.name_of(view(-1_000_000)) == "Me", "tentative words, as what they become"
    names.hear(["me"])
    assert names.name_of(view(9)) == "Me"


def test_a_name_that_the_user_gave_is_shown_at_once_and_always(names):
    assert names.name_of(view(0)) == ""
    names.give({"me": "Ada"})
    assert names.name_of(view(0)) == "Ada"
    assert names.name_of(view(1, "them")) == ""
    names.hear(["me", "them"])
    assert names.name_of(view(2, "them")) == "Them"
