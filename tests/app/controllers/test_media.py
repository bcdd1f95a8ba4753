"""Audio and video files in the window: captions in the transcript, subtitles beside the file."""

from pathlib import Path

import pytest
import webvtt
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from app.controllers.history_controller import time_left_s
from app.main_window.status_bar import StatusBar
from engine.events import Configure, FeedWords
from engine.messages import Code
from tests.support.app.whole_program import SAID

POINT = QPointF(9, 9)


@pytest.fixture
def talk(tmp_path):
    path = tmp_path / "media" / "talk.mp4"
    path.parent.mkdir()
    path.write_text(SAID)
    return path


@pytest.fixture
def one(listening_program):
    return listening_program().open()


def caption(one, path, *forms):
    dialog = one.application.media.dialog
    dialog.open_file(path, "German")
    for form, box in dialog.boxes.items():
        box.setChecked(form in forms)
    dialog.start.click()
    return dialog


def test_a_file_is_captioned_as_fast_as_possible_with_subtitles_beside_it(
    listening_program, talk, monkeypatch
):
    one, told = listening_program().open(), []
    status = one.window.status
    monkeypatch.setattr(
        status,
        "show_listening",
        lambda text: told.append(text) or StatusBar.show_listening(status, text),
    )
    dialog = caption(one, talk, "srt", "vtt")
    assert dialog.stop.isVisible()
    one.wait(dialog.start.isVisible)
    assert "Captioning talk.mp4" in told
    assert one.window.status.state.text() == "Ready"
    assert one.speech.asked == [(talk, "base.en", False)]
    assert dialog.message.text() == (
        "2 captions, in a session of their own. Written beside the file: talk.srt, talk.vtt."
    )
    cues = webvtt.from_srt(talk.with_suffix(".srt"))
    assert [cue.text for cue in cues] == ["WE WENT TO THE OLD HOUSE.", "THEN IT RAINED."]
    assert [cue.start_in_seconds for cue in cues] == [0, 2], "by the times of the file"
    assert [cue.text for cue in webvtt.read(talk.with_suffix(".vtt"))] == [c.text for c in cues]
    assert not one.bar.system.button.isChecked()


def test_the_captions_of_a_file_are_a_session_of_their_own_with_the_times_of_the_file(one, talk):
    dialog = caption(one, talk)
    one.wait(dialog.show_captions.isVisible)
    assert one.rows() == [], "nothing of it is in the meeting"
    dialog.show_captions.click()
    window = one.application.history.session_window
    assert window.windowTitle() == "Captions of talk.mp4"
    assert not window.resume.isVisible()
    sessions = one.application.history.sessions_dialog
    sessions.open_list()
    one.wait(lambda: sessions.read() or sessions._all)
    (session,) = sessions._all
    assert session.name == "talk.mp4"
    assert sessions.list.item(0).text().startswith("talk.mp4 · ")
    assert [cue.text for cue in session.cues] == ["WE WENT TO THE OLD HOUSE.", "THEN IT RAINED."]
    assert [round(cue.start_s, 1) for cue in session.cues] == [0.5, 2.9]
    assert session.zero.strftime("%H:%M:%S") == "00:00:00", "from where its times are shown"


def test_sentences_of_a_file_are_read_to_their_end_and_those_after_it_as_chosen(one, talk):
    dialog = caption(one, talk)
    one.wait(dialog.start.isVisible)
    session = one.engine.sessions[-1]
    chosen = one.application.settings.translation.policy
    one.wait(lambda: policies(session) == ["offline", chosen])
    assert chosen != "offline"
    places = [isinstance(call, FeedWords) for call in session.calls]
    assert places.index(True) > next(i for i, it in enumerate(session.calls) if asks(it, "offline"))


def policies(session):
    return [it.translation.policy for it in session.calls if isinstance(it, Configure)]


def asks(call, policy):
    return isinstance(call, Configure) and call.translation.policy == policy


@pytest.mark.parametrize(
    ("took_s", "captioned_s", "left_s"),
    [(20.0, 10.0, 380.0), (20.0, 0.0, 0.0), (2.0, 10.0, 0.0), (20.0, 201.0, 0.0)],
)
def test_the_time_that_is_left_is_known_by_what_is_captioned(took_s, captioned_s, left_s):
    assert time_left_s(took_s, captioned_s, duration_s=200.0) == left_s


def test_subtitles_that_are_there_are_never_replaced(one, talk):
    talk.with_suffix(".srt").write_text("mine")
    dialog = caption(one, talk, "srt")
    one.wait(dialog.start.isVisible)
    assert "talk-2.srt" in dialog.message.text()
    assert talk.with_suffix(".srt").read_text() == "mine"
    assert talk.with_name("talk-2.srt").exists()


def test_without_a_wish_nothing_is_written_and_its_own_pace_can_be_chosen(one, talk):
    one.application.media.dialog.slow.setChecked(True)
    dialog = caption(one, talk)
    one.wait(dialog.start.isVisible)
    assert one.speech.asked == [(talk, "base.en", True)]
    assert [path.name for path in talk.parent.iterdir()] == ["talk.mp4"]


def test_without_a_speech_model_it_is_offered_and_can_be_tried_again(listening_program, talk):
    one = listening_program(here=()).open()
    dialog = caption(one, talk)
    one.wait(dialog.speech.isVisible)
    assert "needs a speech model" in dialog.message.text()
    assert dialog.start.text() == "&Try again"
    dialog.speech.click()
    guide = one.application.setup.dialog
    assert guide.stack.currentWidget() is guide.speech
    one.speech.here.add("base.en")
    dialog.start.click()
    one.wait(lambda: "captions, in a session of their own" in dialog.message.text())


@pytest.mark.parametrize("fault", ["file", "model"])
def test_what_cannot_be_captioned_is_one_sentence(one, talk, fault):
    if fault == "file":
        talk.write_text("silent film")
    else:
        one.speech.failure = Code.AS_SAID(sentence="the speech model is damaged")
    dialog = caption(one, talk, "srt")
    one.wait(lambda: dialog.start.text() == "&Try again")
    assert dialog.message.text().endswith(".")
    assert dialog.message.text()
    assert not talk.with_suffix(".srt").exists()
    one.speech.failure = None
    talk.write_text(SAID)
    one.wait(lambda: not one.application.listening.service.is_listening)
    dialog.start.click()
    one.wait(lambda: "captions, in a session of their own" in dialog.message.text())


def test_what_is_damaged_of_a_speech_model_is_fetched_in_the_window_and_the_file_is_captioned(
    one, talk
):
    one.speech.failure = Code.WHISPER_NOT_LOADED(model="base.en", detail="model.bin is incomplete")
    dialog = caption(one, talk)
    one.wait(lambda: "base.en could not be loaded" in dialog.message.text())
    one.wait(lambda: not one.application.listening.service.is_listening)
    assert dialog.speech.isVisible()
    one.speech.failure = None
    one.wait(one.banner.offer.isVisible)
    assert one.banner.offer.text() == "Try a&gain"
    one.banner.offer.click()
    one.wait(lambda: one.speech.fetched == [("base.en", True)])
    one.wait(lambda: not one.window.fetch_bar.isVisible())
    assert not one.bar.on
    dialog.start.click()
    one.wait(lambda: "captions, in a session of their own" in dialog.message.text())


def test_the_microphone_gives_way_to_a_file_and_a_file_to_the_microphone(one, talk):
    one.bar.microphone.button.click()
    one.wait(lambda: one.speech.runs)
    dialog = caption(one, talk)
    assert not one.bar.microphone.button.isChecked()
    one.wait(lambda: len(one.speech.runs) == 2)
    one.bar.microphone.button.click()
    one.wait(lambda: len(one.speech.runs) == 3)
    one.wait(dialog.start.isVisible)


def test_a_pause_stops_reading_until_captions_go_on(one, talk):
    pause = one.window.menu_actions.pause
    pause.setChecked(True)
    dialog = caption(one, talk, "srt")
    one.wait(lambda: one.application.media._is_heard)
    one.qtbot.wait(300)
    assert one.run.file.position_s == 0
    assert dialog.stop.isVisible()
    pause.setChecked(False)
    one.wait(dialog.start.isVisible)
    assert "2 captions" in dialog.message.text()


def test_a_file_that_is_stopped_is_read_no_further(one, talk):
    one.window.menu_actions.pause.setChecked(True)
    dialog = caption(one, talk)
    one.wait(lambda: one.application.media._is_heard)
    dialog.stop.click()
    one.wait(dialog.start.isVisible)
    assert one.run.file.position_s == 0
    assert one.texts("them") == ("", "")


def dropped(widget, *paths):
    """Drag files on a widget and let go, as the window system reports it."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    held = Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton
    no_key = Qt.KeyboardModifier.NoModifier
    for event in (QDragEnterEvent(QPoint(9, 9), *held, no_key), QDropEvent(POINT, *held, no_key)):
        QApplication.sendEvent(widget, event)
        if not event.isAccepted():
            return


def test_a_file_is_dropped_on_the_window_or_its_line(one, talk, monkeypatch):
    dialog = one.application.media.dialog
    dropped(one.window, talk.parent)
    dropped(one.window, talk, talk)
    assert not dialog.isVisible(), "a folder, or several files"
    for widget in (one.window, one.window.typed_line):
        dropped(widget, talk)
        assert dialog.isVisible()
        assert dialog.heading.text() == "talk.mp4"
        dialog.close()
    assert one.window.typed_line.text() == ""
    asked = []
    monkeypatch.setattr(
        "app.controllers.history_controller.ask_open", lambda *said: asked.append(said)
    )
    one.window.menu_actions.open_file.trigger()
    assert "*.mp4" in asked[0][2]
    assert not dialog.isVisible()
    monkeypatch.setattr("app.controllers.history_controller.ask_open", lambda *_: Path(talk))
    one.window.menu_actions.open_file.trigger()
    assert dialog.isVisible()
