from dataclasses import replace
from pathlib import Path

import pytest
import webvtt
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from app.captions.cues import Cue, FurtherText
from app.dialogs.export_dialog import ExportDialog
from app.look.widgets import desktop
from tests.support.app.cues import DOUBTFUL, EIGHT_HOURS, SURE, spoken
from tests.support.app.journals import STARTED


@pytest.fixture
def dialog(qtbot):
    dialog = ExportDialog()
    qtbot.addWidget(dialog)
    return dialog


def test_the_dialog_writes_what_was_chosen_and_tells_it(dialog, tmp_path):
    dialog.show_cues([], STARTED)
    assert not dialog.save.isEnabled()
    dialog.show_cues(EIGHT_HOURS[:3], STARTED)
    dialog.form.setCurrentIndex(dialog.form.findData("txt"))
    dialog.content.setCurrentIndex(dialog.content.findData("source"))
    dialog.export_to(tmp_path / "mine.txt")
    assert (tmp_path / "mine.txt").read_text().startswith("This is sentence 0.\n")
    assert dialog.message.text().startswith("3 captions were written")
    dialog.export_to(tmp_path / "no" / "mine.txt")
    assert dialog.message.text().endswith("choose another place.")
    dialog.form.setCurrentIndex(dialog.form.findData("jsonl"))
    assert not dialog.content.isEnabled()
    assert not dialog.times.isEnabled()
    dialog.form.setCurrentIndex(dialog.form.findData("vtt"))
    assert dialog.content.isEnabled()
    starts = {"first": "00:00:00.000", "session": "00:00:04.000", "clock": "09:30:04.000"}
    assert dialog.times.currentData() == "first"
    for times, first in starts.items():
        dialog.show_cues(EIGHT_HOURS[1:3], STARTED)
        dialog.times.setCurrentIndex(dialog.times.findData(times))
        dialog.export_to(tmp_path / "mine.vtt")
        assert webvtt.read(tmp_path / "mine.vtt")[0].start == first


def test_what_a_further_language_left_out_is_counted_before_and_after(dialog, tmp_path):
    texts = ("Oui.", "", "")
    further = [(FurtherText(language="fr", text=text),) for text in texts]
    cues = [Cue(start_s=n, end_s=n + 1, text="Ja.", further=one) for n, one in enumerate(further)]
    dialog.show_cues([*cues, Cue(start_s=9, end_s=10, text="Nein.")], STARTED)
    assert dialog.message.text() == "4 captions; French lacks 2 captions"
    dialog.export_to(tmp_path / "x.srt")
    assert dialog.message.text().endswith("; French lacks 2 captions")
    dialog.show_cues(cues[:1], STARTED)
    assert dialog.message.text() == "1 caption"


def test_a_file_is_named_by_the_first_caption_in_it(dialog, monkeypatch):
    asked = []
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *it: (asked.append(Path(it[2]).name), ("", ""))[1]
    )
    late = [replace(cue, start_s=cue.start_s + 840, end_s=cue.end_s + 840) for cue in EIGHT_HOURS]
    dialog.show_cues(late, STARTED)
    dialog.save.click()
    assert asked == ["captions-2026-11-21-0944.srt"]


def test_what_the_dialog_says_is_never_cut(dialog, tmp_path):
    dialog.show_cues(EIGHT_HOURS[:3], STARTED)
    before = dialog.size()
    dialog.export_to(tmp_path / "short.srt")
    assert dialog.size() == before  # it has room for that from the beginning
    folder = tmp_path.joinpath(*["a_folder_with_a_long_name"] * 9)
    folder.mkdir(parents=True)
    dialog.export_to(folder / "captions.srt")
    QApplication.processEvents()
    told = dialog.message
    assert str(folder / "captions.srt") in told.text().replace("\u200b", "")
    assert told.height() >= told.heightForWidth(told.width())
    assert dialog.rect().contains(dialog.save.mapTo(dialog, dialog.save.rect().bottomRight()))


def test_enter_exports(dialog, qtbot, tmp_path, monkeypatch):
    dialog.show_cues(EIGHT_HOURS[:3], STARTED)
    asked = []

    def ask(_parent, _title, path, _kinds):
        asked.append(Path(path))
        return str(tmp_path / "it.srt"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    qtbot.keyClick(dialog.form, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert (tmp_path / "it.srt").exists()
    qtbot.keyClick(dialog.form, Qt.Key.Key_Return)
    assert asked[1].parent == tmp_path
    assert asked[0].name == asked[1].name == "captions-2026-11-21-0930.srt"


def test_a_folder_in_which_the_export_failed_is_not_offered_again(dialog, qapp, tmp_path):
    taken = tmp_path / "captions.srt"
    taken.mkdir()
    qapp.setProperty(desktop._LAST + "export", str(tmp_path))
    dialog.show_cues(EIGHT_HOURS[:3], STARTED)
    dialog.export_to(tmp_path / "whole.srt")
    assert desktop.last_folder("export") == tmp_path
    dialog.export_to(taken)
    assert desktop.last_folder("export") == desktop.last_folder("never used")


def test_speakers_have_their_names_in_all_that_people_read(dialog, tmp_path):
    dialog.name_speakers({"them": "Grace <Hopper>"})
    dialog.show_cues(spoken("me", "them"), STARTED)
    for form, text in (
        ("txt", "Me: Satz 0.\nGrace <Hopper>: Satz 1.\n"),
        ("srt", "\nGrace ‹Hopper›: Satz 1.\n"),
        ("vtt", "\n<v Grace Hopper>Satz 1.\n"),
        ("jsonl", '"speaker": "them"'),
    ):
        dialog.form.setCurrentIndex(dialog.form.findData(form))
        dialog.export_to(tmp_path / form)
        assert text in (tmp_path / form).read_text()


def test_the_dialog_offers_signs_where_captions_are_doubtful(dialog, tmp_path):
    dialog.show_cues([SURE], STARTED)
    assert not dialog.marks_doubt.isVisible()
    dialog.show_cues([SURE, DOUBTFUL], STARTED)
    assert dialog.marks_doubt.isVisible()
    assert not dialog.marks_doubt.isChecked()
    dialog.marks_doubt.setChecked(True)
    dialog.form.setCurrentIndex(dialog.form.findData("txt"))
    dialog.export_to(tmp_path / "it.txt")
    assert (tmp_path / "it.txt").read_text().endswith("Wort (?)\n")
    dialog.form.setCurrentIndex(dialog.form.findData("jsonl"))
    assert not dialog.marks_doubt.isEnabled()
