import errno
import socket
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QGuiApplication, QIcon, QKeySequence
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from app.controllers.listening_controller import FETCH
from app.controllers.startup import stays_in_tray
from app.look.widgets.names import policy_names
from app.main_window.actions import Actions, Tray
from app.main_window.input_line import LONGEST_TEXT
from app.main_window.transcript_model import CAPTION, SOURCE
from app.session.caption_lag import LagWatch
from engine.events import NotTranslated, Ready, Refused, Statistics
from engine.files import ASSETS
from engine.messages import Code
from tests.support.app.fake_engine import LANGUAGES, FakeEngine
from tests.support.app.whole_program import cells


def test_a_crash_is_told_at_the_next_start(program):
    assert "crashed last time" in program(crashed=True).window.banner.sentence.text()


def test_all_parts_of_the_program_hear_what_they_heard(program, keeps_parts):
    keeps_parts(program().application)


def test_captions_appear_while_the_sentence_is_still_typed(one):
    one.type("Good morning every")
    one.wait_for_rows(("Good morning", "GOOD MORNING"))
    assert "GOOD MORNING" in one.overlay.accessibleDescription()
    assert one.window.typed_line.text() == "Good morning every"


def test_every_line_of_a_pasted_text_is_ended_but_the_last(one):
    one.type("So ")
    QGuiApplication.clipboard().setText("first one\r\n\nthe second one\nand a third")
    one.window.typed_line.paste()
    one.wait_for_rows(
        ("So first one", "SO FIRST ONE"), ("the second one", "THE SECOND ONE"), ("and a", "AND A")
    )
    assert one.window.typed_line.text() == "and a third"
    one.type(" line ")
    one.wait(lambda: cells(one.window.transcript)[-1][0] == "and a third line")


def test_a_text_that_is_too_long_for_the_line_is_cut_and_that_is_told(one):
    QGuiApplication.clipboard().setText("words " * LONGEST_TEXT)
    one.window.typed_line.paste()
    assert len(one.window.typed_line.text()) == LONGEST_TEXT
    for _ in range(2):
        one.press(Qt.Key.Key_A)
    banner = one.window.banner
    assert banner.sentence.text().startswith("The line takes ")
    banner.dismiss.click()
    assert not banner.isVisible()  # it was told once


def test_what_is_typed_while_the_model_loads_is_kept_and_translated(program):
    may_load = threading.Event()
    one = program(FakeEngine(may_load=may_load)).open()
    one.say("Good morning")
    banner = one.window.banner
    one.wait(lambda: banner.progress.value() == 500)
    assert banner.sentence.text() == "Loading the model… You can type already."
    one.wait_for_rows(("Good morning", ""))  # finished lines wait in sight
    one.type("And on ")
    may_load.set()
    one.wait_for_rows(("Good morning", "GOOD MORNING"), ("And on", "AND ON"))


def test_a_failed_load_is_one_sentence_with_a_button_to_try_again(program):
    one = program(FakeEngine(failures=["the file is cut off: get it again"])).open()
    banner = one.window.banner
    one.type("Good ")
    one.wait(banner.retry.isVisible)
    assert banner.sentence.text() == "The file is cut off: get it again."
    banner.retry.click()
    one.wait_until_ready()
    assert not banner.isVisible()
    one.wait_for_rows(("Good", "GOOD"))


def test_without_any_model_the_banner_says_what_to_do(program, monkeypatch):
    monkeypatch.setattr("engine.hub.catalogue.bundled_models", list)
    one = program(model=None).open()
    one.wait(one.window.banner.offer.isVisible)
    assert "--model FOLDER" in one.window.banner.sentence.text()
    one.type("Good ")
    one.window.banner.offer.click()
    one.wait_until_ready().wait_for_rows(("Good", "Good"))
    assert one.stored()["captions"]["mode"] == "captions only"


def test_pause_holds_what_is_typed_with_its_time_and_resume_translates_it(one):
    rows, state = one.window.transcript.rows, one.window.status.state
    one.press_ctrl(Qt.Key.Key_P)
    assert one.window.controls.pause.isChecked()
    assert state.text() == "Paused"
    before_s = time.time()
    for text in ("First of two.", "Second."):
        one.say(text)
    one.wait_for_rows(("First of two.", ""), ("Second.", ""))
    assert one.session.calls == []
    typed_s = [view.begun_s for view in rows.views]
    assert before_s - 1 < typed_s[0] < typed_s[1] < time.time() + 1
    one.press_ctrl(Qt.Key.Key_P)
    one.wait_for_rows(("First of two.", "FIRST OF TWO."), ("Second.", "SECOND."))
    assert [view.begun_s for view in rows.views] == typed_s
    assert state.text() == "Ready"


def test_clear_empties_the_overlay_alone_and_what_comes_then_is_shown(one):
    one.say("First.")
    one.type("Good morning ")
    one.wait_for_rows(("First.", "FIRST."), ("Good morning", "GOOD MORNING"))
    one.press_ctrl(Qt.Key.Key_L)
    assert "Captions appear here" in one.overlay.accessibleDescription()
    assert cells(one.window.transcript)[0] == ("First.", "FIRST.")
    assert one.window.typed_line.text() == "Good morning "
    one.type("all ")
    one.wait(lambda: one.overlay.accessibleDescription() == "ALL")
    one.wait_for_rows(("First.", "FIRST."), ("Good morning all", "GOOD MORNING ALL"))


def test_what_does_not_look_like_english_is_said_until_something_is_translated(one):
    told = NotTranslated(utterance=7, source="صباح الخير " * 20)
    one.application.bridge.event_came.emit(told)
    sentence = one.window.banner.sentence.text()
    assert sentence.startswith("This does not look like English")
    assert "صباح" in sentence
    assert len(sentence) < 120
    one.type("Good ")
    one.wait(lambda: not one.window.banner.isVisible())


def test_another_language_than_english_is_noticed_once_a_session_and_captions_go_on(one):
    banner = one.window.banner

    def is_told():
        return banner.isVisible() and "looks like German" in banner.sentence.text()

    one.say_whole("Good morning everybody, and thank you.")
    assert not is_told()
    for sentence in ("Guten Morgen, heute haben wir zwei Punkte.", "Ich habe noch eine Frage."):
        one.say_whole(sentence)
    assert is_told()
    banner.dismiss.click()
    one.say_whole("Wir sehen uns dann morgen um zehn.")
    assert not is_told()
    one.window.menu_actions.new_session.trigger()
    one.say_whole("Guten Morgen, heute haben wir zwei Punkte.")
    one.say_whole("Ich habe noch eine Frage.")
    one.wait(is_told)


def test_a_session_that_could_not_be_saved_is_not_lost_in_passing(program, monkeypatch):
    def refuse(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("app.captions.journal.append", refuse)
    one = program().open().wait_until_ready()
    banner = one.window.banner
    banner.show_offer("The speech model is missing", FETCH, ("Do&wnload", list))
    one.say("Good morning.")
    one.wait(lambda: "cannot be saved" in banner.sentence.text())
    assert banner.offer.isHidden()
    banner.dismiss.click()
    assert banner.offer.text() == "Do&wnload"
    banner.dismiss.click()
    one.press_ctrl(Qt.Key.Key_N)
    assert "could not be saved: undo to export it" in banner.sentence.text()
    assert not banner._passing.isActive()


def test_a_new_session_empties_the_transcript_and_is_taken_back(one):
    one.say("Good morning.")
    one.type("And ")
    one.wait_for_rows(("Good morning.", "GOOD MORNING."), ("And", "AND"))
    history = one.application.history
    one.press_ctrl(Qt.Key.Key_N)
    assert cells(one.window.transcript) == []
    assert (one.window.typed_line.text(), history.writer.cues) == ("", [])
    one.say("Next.")
    one.wait_for_rows(("Next.", "NEXT."))
    one.window.banner.offer.click()
    rows = [("Good morning.", "GOOD MORNING."), ("And", "AND"), ("Next.", "NEXT.")]
    one.wait_for_rows(*rows)
    one.wait(lambda: [(cue.source, cue.text) for cue in history.writer.cues] == rows)
    one.press_ctrl(Qt.Key.Key_N)
    assert cells(one.window.transcript) == []


def test_the_key_of_undo_takes_back_typing_then_each_deletion_then_the_new_session(one):
    window, keeper = one.window, one.application.history.writer
    undo = window.menu_actions.undo
    assert (undo.shortcut().toString(), undo.isEnabled()) == ("Ctrl+Z", False)
    press_undo = partial(one.press, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    rows = [("Good", "GOOD"), ("Tea", "TEA")]
    for word, _ in rows:
        one.say(word)
    one.wait(lambda: len(keeper.cues) == len(rows))
    for left in (rows[1:], []):
        one.wait_until_done()
        window.transcript.selectRow(0)
        window.transcript.delete()
        one.wait_for_rows(*left)
    one.type("x")
    press_undo()
    assert window.typed_line.text() == ""
    assert cells(window.transcript) == []
    press_undo()
    one.wait_for_rows(*rows[1:])
    assert window.banner.isHidden(), "its button would do the same again"
    press_undo()
    one.wait_for_rows(*rows)
    assert [cue.source for cue in keeper.cues] == ["Good", "Tea"]
    one.press_ctrl(Qt.Key.Key_N)
    one.wait_for_rows()
    undo.trigger()
    one.wait_for_rows(*rows)
    assert not undo.isEnabled()


def test_undoing_a_new_session_leaves_deleted_what_was_deleted_since(one, monkeypatch):
    monkeypatch.setattr("app.main_window.banner._PASSING_MS", 600_000)  # also on a busy machine
    window = one.window
    for word in ("Good", "Tea"):
        one.say(word)
        one.wait_for_rows((word, word.upper()))
        if word == "Good":
            window.menu_actions.new_session.trigger()
    one.wait_until_done()
    window.transcript.selectRow(0)
    window.transcript.delete()
    window.banner.dismiss.click()
    window.banner.offer.click()
    one.wait_for_rows(("Good", "GOOD"))
    assert not window.menu_actions.undo.isEnabled()


def test_another_language_reaches_the_session_and_the_next_start(program, one):
    menu, told = one.window.choices.language, one.window.status.choices
    assert [text for text, _ in menu.entries] == sorted(LANGUAGES.values())
    assert told.text() == "English → German"
    menu.pick("fr")
    assert told.text() == "English → French"
    assert one.session.calls[-1].translation.target_language == "fr"
    assert one.stored()["translation"]["language"] == "fr"
    again = program().open().wait_until_ready()
    assert again.engine.translations[0].target_language == "fr"


def test_an_overlay_that_the_window_manager_closes_is_hidden_and_buttons_say_so(program):
    one = program().open()
    one.overlay.windowHandle().close()  # as the window manager asks for it
    one.wait(lambda: not one.overlay.isVisible())
    assert not one.window.controls.overlay.isChecked()
    one.window.controls.overlay.click()
    assert one.overlay.isVisible()


def test_keys_of_actions_work_in_the_typed_line_though_it_edits_with_them(program, tmp_path):
    editing = QKeySequence.keyBindings(QKeySequence.StandardKey.MoveToEndOfDocument)[0]
    (tmp_path / "settings.toml").write_text(
        f'schema_version = 2\n[shortcuts]\nexport = "{editing.toString()}"\n'
    )
    one = program().open()
    told = []
    one.window.menu_actions.export.triggered.connect(lambda: told.append("export"))
    for text in ("", "Some words"):
        one.type(text)
        keys = editing[0]
        one.press(keys.key(), keys.keyboardModifiers())
    assert told == ["export"] * 2


def test_many_words_that_wait_are_told_until_none_does(one):
    figures = {"tokens_fed": 1, "forwards": 1, "tokens_recomputed": 0, "probes": 0}
    told = one.window.status.state.text
    for n_words, text in (
        (19, "Ready"),
        (20, "Catching up: 20 words to go"),
        (2, "Catching up: 2 words to go"),
        (0, "Ready"),
    ):
        event = Statistics(**figures, cached_rows=1, ms_per_word=12, backlog_words=n_words)
        one.application.bridge.event_came.emit(event)
        assert told() == text
    one.type("Some ")
    one.wait_for_rows(("Some", "SOME"))
    one.application.bridge.event_came.emit(replace(event, backlog_words=123))
    one.window.menu_actions.new_session.trigger()
    assert told() == "Ready"


def test_how_the_model_was_loaded_and_what_it_refuses_is_told(one):
    sentences = ("it was loaded in 4 bits", "captions come later")
    notices = tuple(Code.AS_SAID(sentence=sentence) for sentence in sentences)
    ready = Ready(model="shouter", languages=LANGUAGES, load_s=1, notices=notices)
    one.application.bridge.event_came.emit(ready)
    assert one.window.banner.sentence.text() == "It was loaded in 4 bits."
    one.window.banner.dismiss.click()
    assert one.window.banner.sentence.text() == "Captions come later."
    one.window.banner.dismiss.click()
    refused = Refused(message=Code.BAD_POLICY(text="fast", forms="A, B"))
    one.application.bridge.event_came.emit(refused)
    assert one.window.banner.sentence.text() == (
        "A policy is written A, B or offline (N and K from 1 to 9999), got 'fast'."
    )


def test_timings_of_drafts_are_offered_where_there_are_drafts(one):
    timing, now = one.window.choices.timing, one.application.settings
    of_slots = timing.entries
    ready = Ready(model="shouter", languages=LANGUAGES, load_s=1, makes_drafts=True)
    one.application.bridge.event_came.emit(ready)
    assert (timing.value, now.translation.policy) == ("", "stable:2")  # none was chosen
    assert timing.entries == [("Balanced (recommended)", ""), ("Sure", "offline")]
    combo = one.application.settings_dialog.translation.policy
    assert [combo.itemData(row) for row in range(combo.count())] == ["", "offline"]
    timing.pick("offline")
    one.application.bridge.event_came.emit(replace(ready, makes_drafts=False))
    assert (timing.entries, timing.value) == (of_slots, "offline")


def test_timings_tell_seconds_as_measured_in_menu_and_settings(one, monkeypatch):
    menu, page = one.window.choices.timing, one.application.settings_dialog.translation
    menu.pick("read:3")
    one.window.menu_actions.settings.trigger()
    entries, recognizer = menu.actions(), one.application.settings.recognizer
    told = [tip for _, _, tip in policy_names(recognizer)]
    assert [entry.toolTip() for entry in entries] == told
    assert "About" in page.explanation.text()
    monkeypatch.setattr(LagWatch, "heard_s", 2.5)
    one.application.lag.measure()
    told = [tip for _, _, tip in policy_names(recognizer, 0.0, ("read:3", 2.5))]
    assert [entry.toolTip() for entry in entries] == told, "the menu may be open"
    assert page.explanation.text() == told[0]
    menu.pick("offline")
    monkeypatch.setattr(LagWatch, "heard_s", None)
    one.application.lag.measure()
    assert page.explanation.text() == told[2]


def shown_windows():
    return [one.windowTitle() for one in QApplication.topLevelWidgets() if one.isVisible()]


def test_closing_while_the_model_loads_ends_everything(program):
    one = program(FakeEngine(may_load=threading.Event())).open()
    one.wait(lambda: bool(one.engine.sessions))
    opened = ("glossary", "adapters", "settings", "share", "help", "about")
    for name in opened:
        one.window.menu_actions.by_name[name].trigger()
    assert len(shown_windows()) >= len(opened)
    one.window.close()
    assert shown_windows() == []
    assert [t.name for t in threading.enumerate() if t.name.startswith(("fake", "surtitle"))] == []


def test_a_setting_is_seen_in_the_overlay_at_once_and_stored(program, one):
    one.window.menu_actions.settings.trigger()
    dialog = one.application.settings_dialog
    assert dialog.isVisible()
    height = one.overlay.height()
    dialog.captions.lines.setValue(4)
    assert one.overlay.height() > height
    assert one.stored()["captions"]["lines"] == 4
    again = program().open()
    assert again.overlay.n_lines == 4


def test_the_timing_that_nobody_chose_has_one_name_in_menu_and_settings(one):
    one.window.menu_actions.settings.trigger()
    page, timing = one.application.settings_dialog.translation.policy, one.window.choices.timing
    assert timing.text == page.currentText() == "Balanced (recommended)"
    assert [text for text, _ in timing.entries] == [page.itemText(n) for n in range(page.count())]
    page.setCurrentIndex(page.findData("read:3"))
    assert timing.value == one.session.calls[-1].translation.policy == "read:3"
    timing.pick("")
    assert page.currentData() == ""


def test_letters_are_made_larger_and_smaller_by_keys(program):
    one = program().open()
    one.press_ctrl(Qt.Key.Key_Plus)
    one.press_ctrl(Qt.Key.Key_Plus)
    one.press_ctrl(Qt.Key.Key_Minus)
    assert one.stored()["captions"]["point_size"] == 30


def test_a_locked_overlay_is_unlocked_by_button_key_and_from_outside(program):
    one = program().open()
    lock, transparent = one.window.menu_actions.lock, Qt.WindowType.WindowTransparentForInput
    for unlock in (
        lock.trigger,
        lambda: one.press_ctrl(Qt.Key.Key_K),
        lambda: one.application.obey("lock"),
    ):
        lock.trigger()
        assert one.overlay.windowFlags() & transparent
        assert one.stored()["overlay"]["locked"] is True
        unlock()
        assert not one.overlay.windowFlags() & transparent
        assert not lock.isChecked()


def test_what_another_start_asks_for_is_done(one):
    one.application.obey("toggle")
    assert not one.overlay.isVisible()
    one.application.obey("pause")
    assert one.window.controls.pause.isChecked()
    one.application.obey("pause")
    one.type("Good ")
    one.wait_for_rows(("Good", "GOOD"))
    one.application.obey("clear")
    assert "Captions appear here" in one.overlay.accessibleDescription()
    one.window.showMinimized()
    one.application.obey("raise")
    assert not one.window.isMinimized()


def test_the_session_that_is_running_is_no_earlier_one(one, tmp_path):
    one.say("Now")
    journals = (tmp_path / "sessions").glob
    one.wait(lambda: any(b"NOW" in path.read_bytes() for path in journals("*/session.jsonl")))
    one.window.menu_actions.recover.trigger()
    dialog = one.application.history.sessions_dialog
    assert dialog.list.count() == 0
    assert "No earlier sessions" in dialog.message.text()
    assert not dialog.delete.isEnabled()


def test_the_caption_page_is_opened_by_a_setting_and_a_port_that_is_taken_is_told(one):
    settings = one.application.settings

    def use(**privacy):
        now = settings.preferences
        settings.choose(replace(now, privacy=replace(now.privacy, **privacy)))

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        use(page=True, page_port=other.getsockname()[1])
        assert "could not be opened at port" in one.window.banner.sentence.text()
    for page in (False, True):
        use(page=page)
    shown = one.application.settings_dialog.advanced.address.text()  # made after it was opened
    assert one.application.page.source.address.startswith(shown.removesuffix("…") or "none")


def test_columns_of_the_transcript_keep_their_widths(program):
    one = program().open()
    header = one.window.transcript.horizontalHeader()
    both = header.sectionSize(SOURCE) + header.sectionSize(CAPTION)
    header.resizeSection(SOURCE, round(0.3 * both))
    one.wait(lambda: one.application.settings.preferences.interface.source_share == 30)
    assert one.stored()["interface"]["source_share"] == 30
    again = program().open()
    header = again.window.transcript.horizontalHeader()
    both = header.sectionSize(SOURCE) + header.sectionSize(CAPTION)
    assert header.sectionSize(SOURCE) == pytest.approx(0.3 * both, abs=3)


def test_diagnostics_hold_nothing_that_was_typed(one):
    one.application.settings.change("captions", name_me="Secret Anna")
    one.application.settings.change("server", certificate=Path("/home/secret/ca.pem"))
    one.type("Secret ")
    one.wait_for_rows(("Secret", "SECRET"))
    one.window.menu_actions.diagnostics.trigger()
    text = QGuiApplication.clipboard().text()
    assert "shouter" in text
    assert "secret" not in text.lower()


@pytest.fixture
def tray(qtbot):
    actions = Actions()
    made = Tray(actions, QIcon(str(ASSETS / "icons" / "surtitle.svg")), actions)
    qtbot.addWidget(made.menu)
    yield made
    made.hide()


def test_the_tray_offers_the_window_and_the_way_back_from_a_locked_overlay(tray, qtbot):
    window, *others = [action for action in tray.menu.actions() if action.text()]
    lock = next(action for action in others if action.text().startswith("Loc&k"))
    with qtbot.waitSignal(lock.toggled):
        lock.trigger()
    assert window.text() == "Show &window"
    for ask in (
        window.trigger,
        lambda: tray.activated.emit(QSystemTrayIcon.ActivationReason.Trigger),
    ):
        with qtbot.waitSignal(tray.window_wanted):
            ask()
    assert tray.contextMenu() is tray.menu


class ByFrame(QCloseEvent):
    """What comes when the frame of a window is used to close it."""

    def spontaneous(self):
        return True


def test_a_window_that_its_frame_closes_stays_in_the_tray_which_is_explained_once(
    program, tray, monkeypatch
):
    one, told = program().open().wait_until_ready(), []
    monkeypatch.setattr(tray, "showMessage", lambda *texts: told.append(texts[1]))
    monkeypatch.setattr(tray, "isVisible", lambda: True)
    one.window.may_hide = partial(stays_in_tray, tray, one.application.settings)
    for _ in range(2):
        one.window.closeEvent(ByFrame())
        assert not one.window.isVisible()
        assert one.application.bridge.is_running
        one.application.raise_window()
        assert one.window.isVisible()
    assert len(told) == 1
    assert "Captions go on" in told[0]
    monkeypatch.setattr(tray, "isVisible", lambda: False)
    one.window.closeEvent(ByFrame())
    assert not one.application.bridge.is_running
