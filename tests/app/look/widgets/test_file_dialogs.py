from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from app.look.widgets import desktop


def test_files_are_asked_for_among_the_documents_and_then_where_the_last_was(
    qapp, qtbot, tmp_path, monkeypatch
):
    parent = QWidget()
    qtbot.addWidget(parent)
    asked = []
    qapp.setProperty(desktop._LAST, None)
    monkeypatch.setattr(
        QStandardPaths, "writableLocation", lambda _place: str(tmp_path / "Documents")
    )
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    answers = iter(["", str(tmp_path / "there" / "a.txt"), "", str(tmp_path / "there"), ""])

    def answer(folder):
        asked.append(folder)
        return next(answers)

    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *it: (answer(it[2]), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *it: (answer(it[2]), ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *it: answer(it[2]))
    assert desktop.ask_save(parent, "", "x.srt") is None
    (tmp_path / "Documents").mkdir()
    (tmp_path / "there").mkdir()
    assert desktop.ask_open(parent, "") == tmp_path / "there" / "a.txt"
    assert desktop.ask_save(parent, "", "x.srt") is None
    assert desktop.ask_folder(parent, "") == tmp_path / "there"
    assert desktop.ask_open(parent, "") is None
    assert asked == [
        str(tmp_path / "home" / "x.srt"),
        str(tmp_path / "Documents"),
        str(tmp_path / "there" / "x.srt"),
        str(tmp_path / "there"),
        str(tmp_path),
    ]
    qapp.setProperty(desktop._LAST, None)


def test_a_folder_is_asked_for_where_downloads_lie(qapp, qtbot, tmp_path, monkeypatch):
    qapp.setProperty(desktop._LAST, None)
    parent, asked = QWidget(), []
    qtbot.addWidget(parent)
    monkeypatch.setattr(
        QStandardPaths, "writableLocation", lambda place: str(tmp_path / place.name)
    )
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *it: asked.append(it[2]))
    for name in ("DocumentsLocation", "DownloadLocation"):
        (tmp_path / name).mkdir()
    assert desktop.ask_folder(parent, "") is None
    assert asked == [str(tmp_path / "DownloadLocation")]


def test_no_other_place_asks_for_files():
    app = Path(desktop.__file__).parents[1]
    others = [path for path in app.rglob("*.py") if path.name != "desktop.py"]
    assert [path.name for path in others if "QFileDialog" in path.read_text("utf-8")] == []


def test_a_name_without_an_ending_gets_the_suggested_one_and_replaces_nothing_unasked(
    qtbot, tmp_path, monkeypatch
):
    parent = QWidget()
    qtbot.addWidget(parent)
    asked, answers = [], []

    def ask(*it):
        asked.append(Path(it[2]).name)
        return answers.pop(0), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    answers.append(str(tmp_path / "talk"))
    assert desktop.ask_save(parent, "", "captions.srt") == tmp_path / "talk.srt"
    (tmp_path / "talk.srt").write_text("mine", "utf-8")
    answers += [str(tmp_path / "talk"), ""]
    assert desktop.ask_save(parent, "", "captions.srt") is None
    assert asked[-1] == "talk.srt"
    answers.append(str(tmp_path / "talk.txt"))
    assert desktop.ask_save(parent, "", "captions.srt") == tmp_path / "talk.txt"
