from pathlib import Path

import pytest
from PySide6.QtCore import QSize

from app.dialogs import media_dialog as module
from app.dialogs.media_dialog import MediaChoice, MediaDialog


@pytest.fixture
def dialog(qtbot):
    one = MediaDialog()
    qtbot.addWidget(one)
    one.wanted, one.stopped = [], []
    one.start_wanted.connect(one.wanted.append)
    one.stop_wanted.connect(lambda: one.stopped.append(True))
    one.open_file(Path("/talks/town hall.mp4"), "German")
    yield one
    one.is_running = False


def buttons(one):
    """What can be clicked."""
    names = ("start", "stop", "speech", "show_captions", "folder", "leave")
    return [name for name in names if not getattr(one, name).isHidden()]


def test_a_file_is_named_and_begins_with_what_was_chosen(dialog):
    assert dialog.heading.text().replace("\u200b", "") == "town hall.mp4"
    assert buttons(dialog) == ["start", "leave"]
    dialog.slow.setChecked(True)
    dialog.boxes["vtt"].setChecked(True)
    dialog.start.click()
    path = Path("/talks/town hall.mp4")
    assert dialog.wanted == [MediaChoice(path=path, real_time=True, forms=("srt", "vtt"))]


def test_while_a_file_runs_it_can_be_stopped_and_nothing_else_be_chosen(dialog):
    dialog.start.click()
    assert buttons(dialog) == ["stop", "leave"]
    choices = (dialog.fast, dialog.slow, *dialog.boxes.values())
    assert not any(one.isEnabled() for one in choices)
    assert not dialog.progress.isHidden()
    dialog.open_file(Path("/talks/another.mp4"), "German")
    assert dialog.heading.text().replace("\u200b", "") == "town hall.mp4"
    dialog.stop.click()
    assert dialog.stopped == [True]


def test_closing_the_window_stops_a_file_that_runs_and_only_that(dialog):
    dialog.close()
    assert dialog.stopped == []
    dialog.open_file(Path("/talks/another.mp4"), "German")
    dialog.start.click()
    dialog.reject()
    assert dialog.stopped == [True]


@pytest.mark.parametrize(
    ("position_s", "duration_s", "left_s", "told", "share"),
    [
        (203.0, 1260.0, 250.3, "3:23 of 21:00 heard, about 4:10 left.", 0.161),
        (0.0, 3725.0, 0.0, "0:00 of 1:02:05 heard.", 0.0),
        (3600.0, 3725.0, 0.0, "1:00:00 of 1:02:05 heard.", 0.966),
        (59.4, 60.0, 0.0, "0:59 of 1:00 heard.", 0.99),
        (59.6, 60.0, 0.0, "Finishing the last captions…", 0.993),
        (61.0, 60.0, 0.0, "Finishing the last captions…", 1.0),
        (7.0, 0.0, 0.0, "0:07 heard.", None),
    ],
)
def test_how_much_was_heard_is_told_in_minutes_and_hours(
    dialog, position_s, duration_s, left_s, told, share
):
    dialog.start.click()
    dialog.show_position(position_s, duration_s, left_s)
    assert dialog.message.text() == told
    bar = dialog.progress
    if share is None:
        assert bar.maximum() == 0  # it moves without an end
    else:
        assert bar.value() / bar.maximum() == pytest.approx(share, abs=1e-3)


def test_what_was_written_is_named_and_its_folder_can_be_opened(dialog, monkeypatch):
    opened = []
    monkeypatch.setattr(module, "open_folder", lambda path: opened.append(path) or "")
    dialog.start.click()
    assert dialog.start.isDefault()
    dialog.show_done(2, [Path("/talks/town hall.srt"), Path("/talks/town hall.vtt")], apart=False)
    assert dialog.leave.isDefault(), "Enter does not do it all again"
    told = dialog.message.text().replace("\u200b", "")
    assert told.startswith("2 captions are in the transcript.")
    assert told.endswith("Written beside the file: town hall.srt, town hall.vtt.")
    assert buttons(dialog) == ["start", "folder", "leave"]
    dialog.folder.click()
    assert opened == [Path("/talks")]
    dialog.start.click()
    dialog.show_done(1, [], apart=False)
    assert dialog.message.text() == "1 caption is in the transcript."
    assert buttons(dialog) == ["start", "leave"]


def test_after_a_failure_it_can_be_tried_again_and_a_missing_speech_model_be_chosen(dialog):
    wanted = []
    dialog.speech_wanted.connect(lambda: wanted.append(True))
    dialog.start.click()
    dialog.show_failure("there is no sound in it")
    assert dialog.message.text() == "There is no sound in it."
    assert dialog.start.text() == "&Try again"
    assert buttons(dialog) == ["start", "leave"]
    dialog.start.click()
    dialog.show_failure("a speech model is missing", offers_models=True)
    assert buttons(dialog) == ["start", "speech", "leave"]
    dialog.speech.click()
    assert wanted == [True]
    dialog.start.click()
    dialog.show_done(1, [], apart=False)
    assert dialog.start.text() == "&Start"


def test_what_is_told_of_the_file_is_read_without_scrolling_in_a_small_window(dialog, qtbot):
    dialog.resize(dialog.minimumSizeHint().expandedTo(QSize(560, 300)))
    dialog.show_failure(5 * "a Whisper model was expected, and it could not be loaded; ")
    told = dialog.message
    qtbot.waitUntil(lambda: told.height() >= told.heightForWidth(told.width()))
    assert told.visibleRegion().boundingRect().size() == told.size()
    assert told.height() > 2 * told.fontMetrics().height()


def test_the_keyboard_stays_on_the_button_that_takes_the_place_of_another(dialog, qtbot):
    dialog.activateWindow()
    dialog.start.setFocus()
    qtbot.waitUntil(dialog.start.hasFocus)
    dialog.start.click()
    assert dialog.stop.hasFocus()
    dialog.show_failure("there is no sound in it")
    assert dialog.start.hasFocus()
