import json
import random
import threading
from dataclasses import replace

import webvtt
from PySide6.QtCore import Qt

from app.captions.cue_recorder import CueMarked
from app.captions.export import export
from app.captions.journal import read_session
from app.captions.model import UtteranceView
from app.controllers.caption_controller import has_words
from engine.events import CaptionChanged, SourceChanged, UtteranceEnded, UtteranceOpened
from engine.utterances import Utterance
from engine.words import untimed
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.journals import cue, kept, written
from tests.support.utterances import FedRecord


def record_of(n_utterances):
    record = FedRecord()
    for number in range(n_utterances):
        record.follow(UtteranceOpened(utterance=number), number)
        record.follow(SourceChanged(utterance=number, words=untimed((f"w{number}",))), number)
        record.follow(CaptionChanged(utterance=number, kept=0, text=f"W{number}", n_read=1), number)
        record.follow(UtteranceEnded(utterance=number), number + 0.5)
    return record


def marked(cues):
    return [one.source for one in cues if one.marked]


def test_each_bookmark_is_kept_until_it_is_removed():
    rng = random.Random(0)
    record, wanted = record_of(20), set()
    for _ in range(100):
        number, is_set = rng.randrange(20), rng.random() < 0.6
        wanted = wanted | {number} if is_set else wanted - {number}
        assert record.mark(number, marked=is_set) == CueMarked(key=number, marked=is_set)
        assert marked(record.cues) == [f"w{number}" for number in sorted(wanted)]
    assert record.mark(77) is None
    record.clear()
    assert marked(record.cues) == []
    record.bring_back()
    assert marked(record.cues) == [f"w{number}" for number in sorted(wanted)]


def test_the_journal_tells_the_bookmarks_wherever_their_lines_stand(tmp_path):
    marks = [CueMarked(key=0), CueMarked(key=2), CueMarked(key=1), CueMarked(key=0, marked=False)]
    path = written(tmp_path, [kept(0), *marks, kept(1), kept(2), kept(2)], close=False)
    session = read_session(path)
    assert [one.marked for one in session.cues] == [False, True, True]
    assert session.damaged_lines == 0


def test_a_journal_of_the_version_with_one_bookmark_has_the_last_one(tmp_path):
    path = written(tmp_path, [kept(0), kept(1), CueMarked(key=0), CueMarked(key=1)])
    path.write_text(path.read_text().replace(', "marked": true', ""))
    assert [one.marked for one in read_session(path).cues] == [False, True]


def test_a_mark_of_what_is_not_in_the_journal_is_none(tmp_path):
    session = read_session(written(tmp_path, [kept(0), CueMarked(key=9)]))
    assert marked(session.cues) == []


def test_a_mark_is_exported_as_each_form_can(tmp_path):
    cues = [cue(0, "eins"), replace(cue(1, "zwei"), marked=True), cue(2, "drei")]
    for form in ("srt", "vtt", "txt", "jsonl"):
        assert export(tmp_path / f"it.{form}", cues, form) == 3
    assert "→" not in (tmp_path / "it.srt").read_text()  # players would show it
    vtt = (tmp_path / "it.vtt").read_text()
    assert vtt.count("NOTE marked") == 1
    assert vtt.index("eins") < vtt.index("NOTE") < vtt.index("zwei")
    assert [one.text for one in webvtt.read(tmp_path / "it.vtt")] == ["eins", "zwei", "drei"]
    assert (tmp_path / "it.txt").read_text() == "eins\n→ zwei\ndrei\n"
    lines = [json.loads(line) for line in (tmp_path / "it.jsonl").read_text().splitlines()]
    assert [line.get("marked") for line in lines] == [None, True, None]


def test_words_that_may_still_change_are_not_marked(program):
    transcript = program().window.transcript
    tail = UtteranceView(key=-1_000_000, tail="perhaps")
    transcript.show_views([tail])
    assert transcript.row_to_mark is None
    transcript.show_views([UtteranceView(key=4), tail])
    assert transcript.row_to_mark == 0


def test_a_second_press_takes_the_bookmark_away_and_several_stay(program, tmp_path):
    one = program().open().wait_until_ready()
    for word in ("Good", "Tea", "Bad"):
        say(one, word)
        one.wait(lambda word=word: any(cue.source == word for cue in one.application.keeper.cues))
        press_mark(one)
    assert one.window.transcript.rows.marked_rows == [0, 1, 2]
    one.window.transcript.go_to(1)
    press_mark(one)
    assert one.window.transcript.rows.marked_rows == [0, 2]
    one.window.menu_actions.new_session.trigger()
    one.window.banner.offer.click()
    assert one.window.transcript.rows.marked_rows == [0, 2]
    assert marked(one.application.keeper.cues) == ["Good", "Bad"]
    one.window.close()
    assert journal_marks(tmp_path) == ["Good", "Bad"]


def press_mark(one):
    one.press(Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)


def say(one, text):
    one.type(text)
    one.press(Qt.Key.Key_Return)


def journal_marks(tmp_path):
    journal = next((tmp_path / "sessions").glob("*/session.jsonl"))
    return marked(read_session(journal).cues)


def test_a_mark_that_is_set_while_the_model_loads_is_in_the_journal(program, tmp_path):
    may_load = threading.Event()
    one = program(FakeEngine(may_load=may_load)).open()
    say(one, "Good day")
    say(one, "Good tea")
    press_mark(one)
    say(one, "Good")
    assert one.window.transcript.rows.marked_rows == [1]
    may_load.set()
    one.wait_until_ready()
    one.wait(lambda: len(one.application.keeper.cues) == 3)
    one.wait(lambda: marked(one.application.keeper.cues) == ["Good tea"])
    assert one.window.transcript.rows.marked_rows == [1]
    one.window.close()
    assert journal_marks(tmp_path) == ["Good tea"]


def test_a_mark_that_is_set_before_the_caption_is_finished_is_in_the_journal(program, tmp_path):
    one = program().open().wait_until_ready()
    one.type("Good tea ")
    one.wait_for_rows(("Good tea", "GOOD TEA"))
    press_mark(one)
    one.press(Qt.Key.Key_Return)
    say(one, "And on")
    one.wait(lambda: len(one.application.keeper.cues) == 2)
    one.window.close()
    assert journal_marks(tmp_path) == ["Good tea"]


def test_a_mark_of_a_row_of_the_model_before_is_in_the_journal(program, tmp_path):
    one = program().open().wait_until_ready()
    say(one, "Good tea")
    one.wait(lambda: bool(one.application.keeper.cues))
    one.application.model.start_over()
    one.wait(lambda: len(one.engine.sessions) == 2)
    press_mark(one)
    one.window.close()
    assert journal_marks(tmp_path) == ["Good tea"]


def test_words_that_waited_are_known_again_by_the_utterances_that_have_them():
    def has(lane, source, awaited=("", "Good tea. And milk.")):
        words = untimed(source.split())
        utterance = Utterance(
            key=0, number=0, lane=lane, before_key=None, begun_at_s=0.0, words=words
        )
        return has_words(utterance, awaited)

    assert has("", "Good tea.")
    assert has("", "Well now. Good tea. And milk.")
    assert not has("", "And milk.")
    assert not has("", "")
    assert not has("me", "Good tea.")


def test_a_mark_comes_back_after_a_crash(program, tmp_path):
    path = written(tmp_path / "sessions", [kept(0), kept(1), CueMarked(key=0)], close=False)
    one = program().open().wait_until_ready()
    one.window.banner.offer.click()
    assert one.application.archive.session_window.transcript.rows.marked_rows == [0]
    assert one.window.transcript.rows.marked_rows == []
    assert path.exists()
