import threading

from PySide6.QtCore import Qt

from app.captions.cue_recorder import CueMarked
from app.captions.journal import read_session
from app.captions.model import UtteranceView
from app.controllers.caption_controller import has_words
from engine.utterances import Utterance
from engine.words import untimed
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.journals import kept, written


def marked(cues):
    return [one.source for one in cues if one.marked]


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
