from dataclasses import replace

import pytest
import webvtt

from app.captions.export import export
from app.captions.journal import read_session
from app.captions.model import UtteranceView, left_out_note
from app.config.preferences import CaptionPreferences
from app.dialogs.sessions import views_of
from app.overlay.last_lines import LastLines
from engine.events import CaptionChanged, FedWord, SourceChanged, UtteranceEnded, UtteranceOpened
from engine.speech.events import LeftOut
from tests.support.app.journals import STARTED, written
from tests.support.utterances import FedCaptions, FedRecord

GAP = LeftOut(lane="", seconds=40.2, start_s=3.0, since_s=103.0, after=2)
NOTE = "… 40 s not captioned"


def said(*texts, first=1, at_s=100.0):
    return tuple(
        FedWord(text, number=number, spoken_at_s=at_s + number, committed_at_s=at_s + number)
        for number, text in enumerate(texts, first)
    )


def spoken(number, words, caption="", lane=""):
    """The events of an utterance that was heard."""
    yield UtteranceOpened(utterance=number, lane=lane)
    yield SourceChanged(utterance=number, words=words)
    if caption:
        yield CaptionChanged(utterance=number, kept=0, text=caption, n_read=len(words))
    yield UtteranceEnded(utterance=number)


def fed(captions, events):
    for event in events:
        captions.feed(event)
    return captions


def test_a_gap_stands_behind_the_words_before_it_and_before_those_after_it():
    captions = FedCaptions()
    assert not captions.leave_out(GAP, 77)
    assert captions.views == ()
    fed(captions, spoken(0, said("ask", "not"), "Fragt nicht"))
    fed(captions, spoken(1, said("what", first=3), "was"))
    assert [view.caption for view in captions.views] == ["Fragt nicht", NOTE, "was"]
    (_, gap, _) = captions.views
    assert (gap.key, gap.source, gap.ended, gap.left_out_s) == (77, NOTE, True, 40.2)
    captions.clear()
    assert captions.views == ()


def test_a_gap_whose_words_never_come_is_forgotten_with_the_session():
    captions = FedCaptions()
    captions.leave_out(GAP, 77)
    captions.clear()
    fed(captions, spoken(0, said("ask", "not"), "Fragt nicht"))
    assert [view.caption for view in captions.views] == ["Fragt nicht"]


@pytest.mark.parametrize(
    ("words", "caption", "seconds"),
    [
        (said("ask", "not", "what"), "", 2.0),
        (said("ask"), "", 1.0),
        (said("ask"), "fragt", 0.0),
        (said("🙂"), "", 0.0),  # is shown as it is
        (said("что", "это"), "", 0.0),  # as well
        ((FedWord("typed", number=1, committed_at_s=1.0),), "", 0.0),
    ],
)
def test_what_was_heard_and_ends_without_a_caption_says_so_in_place_of_silence(
    words, caption, seconds
):
    captions, record = FedCaptions(), FedRecord()
    for event in spoken(0, words, caption):
        captions.feed(event)
        record.follow(event, 100.0)
    (view,), (cue,) = captions.views, record.cues
    assert view.left_out_s == cue.left_out_s == seconds
    assert view.source == cue.source == " ".join(word.text for word in words)
    assert view.caption == cue.text == (left_out_note(seconds) if seconds else caption)


def test_what_is_translated_after_all_has_its_caption():
    captions = FedCaptions()
    fed(captions, spoken(0, said("ask", "not")))
    captions.feed(CaptionChanged(utterance=0, kept=0, text="Fragt nicht", n_read=2))
    (view,) = captions.views
    assert (view.caption, view.left_out_s) == ("Fragt nicht", 0.0)


@pytest.fixture
def session(tmp_path):
    """A session with a gap, read from its journal."""
    record = FedRecord()
    entries = [
        record.follow(event, 102.0) for event in spoken(0, said("ask", "not"), "Fragt nicht")
    ]
    entries.append(record.leave_out(GAP, 77))
    entries += [record.follow(event, 150.0) for event in spoken(1, said("what", at_s=145.0))]
    path = written(tmp_path, [*filter(None, entries)])
    read = read_session(path)
    assert list(read.cues) == record.cues
    return read


def test_a_gap_is_kept_in_the_journal_with_its_time_and_read_again(session):
    assert [round(cue.left_out_s) for cue in session.cues] == [0, 40, 1]
    gap = session.cues[1]
    assert (gap.text, gap.start_s, gap.end_s) == (NOTE, 103.0, 143.2)
    rows = views_of(session.cues, STARTED, range(3))
    assert [view.left_out_s for view in rows] == [cue.left_out_s for cue in session.cues]


@pytest.mark.parametrize("form", ["srt", "vtt", "txt", "jsonl"])
def test_a_gap_is_exported(session, tmp_path, form):
    path = tmp_path / f"captions.{form}"
    export(path, session.cues, form, content="both" if form == "txt" else "captions")
    text = path.read_text()
    assert text.count(NOTE) == (2 if form == "jsonl" else 1)
    assert (text.count('"left_out_s"') == 2) is (form == "jsonl")
    if form == "vtt":
        assert len(webvtt.from_string(text)) == 3


class Letters:
    line_width = 30.0
    measure = measure_source = staticmethod(len)


def last_lines(views, **choices):
    return LastLines(Letters(), CaptionPreferences(**choices), lambda _view: "").of(views, 3)


def test_the_overlay_says_once_how_much_was_left_out_in_a_row_and_beside_no_source():
    gap = UtteranceView(key=1, source=NOTE, caption=NOTE, ended=True, left_out_s=40.2)
    skipped = UtteranceView(key=2, source="ask not", caption="x", ended=True, left_out_s=2.0)
    views = [UtteranceView(key=0, source="And so", caption="Und so", ended=True), gap, skipped]
    shown = last_lines(views)
    assert [(line.text, line.is_quiet) for line in shown.lines] == [
        ("Und so", False),
        ("… 42 s not captioned", True),
    ]
    assert [line.text for line in last_lines([*views[:2]], mode="both").source] == ["And so"]
    alone = last_lines([*views[:2]], mode="captions only").lines
    assert [line.text for line in alone] == ["And so", NOTE]
    other = [gap, replace(skipped, lane="me")]
    assert len(last_lines(other).lines) == 2


def test_the_sentence_of_a_gap_stays_in_one_line_also_behind_a_name():
    gap = UtteranceView(key=1, source=NOTE, caption=NOTE, ended=True, left_out_s=40.2, lane="me")
    lines = LastLines(Letters(), CaptionPreferences(), lambda _view: "Me").of([gap], 3).lines
    assert [line.text for line in lines] == [f"Me: {NOTE}"]
