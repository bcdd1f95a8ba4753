import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from app.controllers.startup import FailedStart, NoAnswer
from tests.support.programs.run import ran

START = r"""
import gc
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox
from app.controllers import startup
from tests.support.app.home import settings_in
folder = Path(sys.argv[1])

def look():
    box = QApplication.activeModalWidget()
    assert isinstance(box, QMessageBox)
    print(box.text(), box.informativeText(), sep="\n")
    box.reject()

class Broken:
    def __init__(self, settings, bridge):
        QTimer.singleShot(0, look)
        raise TypeError("'<' not supported")

startup.Application = Broken
settings = settings_in(folder, log_folder=folder / "logs")
exit_code = startup.run(settings)
assert not gc.isenabled()  # else Qt may wait for ever while it deletes the dialog
sys.exit(exit_code)
"""


def test_where_the_window_cannot_be_made_a_dialog_says_so_and_the_log_why(tmp_path):
    done = ran(sys.executable, "-c", START, tmp_path)
    log = tmp_path / "logs" / "surtitle.log"
    assert done.stdout.splitlines()[0] == "Surtitle could not open its window."
    assert "TypeError: '<' not supported" in done.stdout
    assert str(log) in done.stdout
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("surtitle: the window could not be opened (TypeError: '<' not")
    assert str(log) in sentence
    assert done.returncode == 1
    assert "Traceback" in log.read_text(encoding="utf-8")
    assert not (tmp_path / "logs" / "fault.log").exists()  # it is no crash of the interpreter


def test_its_details_are_the_traceback_and_what_a_reason_says_is_short_and_no_markup(
    qtbot, tmp_path
):
    def break_it():
        raise ValueError("<b>wrong</b>" * 1000)

    with pytest.raises(ValueError, match="wrong") as caught:
        break_it()
    box = FailedStart(caught.value, tmp_path)
    qtbot.addWidget(box)
    assert "in break_it" in box.detailedText()
    assert len(box.informativeText()) < 800
    assert box.textFormat() == Qt.TextFormat.PlainText


def test_both_reports_have_one_button_that_closes_them(qtbot, tmp_path):
    for box in (FailedStart(ValueError("wrong"), tmp_path), NoAnswer(4711)):
        qtbot.addWidget(box)
        assert box.standardButtons() == QMessageBox.StandardButton.Close
        assert box.windowTitle() == "Surtitle"
