import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent

from app.dialogs.adapter_dialog import AdapterDialog
from app.dialogs.adapter_service import AdapterService
from engine.events import AdapterChanged
from engine.models.adapters.library import AdapterLibrary
from engine.models.model_card import Language
from tests.support.adapter_folders import tiny_card, write_adapter

LOADED = AdapterChanged(names=("tiny-en-de",), used="tiny-en-de", languages={"de": "German"})
BARE = AdapterChanged(names=("tiny-en-de",), used=None, languages={"de": "German"})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return write_adapter(tmp_path_factory.mktemp("adapter") / "tiny-en-de")


class Desk:
    """The dialog over a library, and a person before it."""

    def __init__(self, qtbot, tmp_path):
        self.qtbot = qtbot
        self.home = tmp_path / "adapters"
        self.desk = AdapterService(AdapterLibrary(self.home))
        self.dialog = AdapterDialog(self.desk)
        qtbot.addWidget(self.dialog)

    def do(self, act, told="added"):
        """Act, and wait until the thread tells what came of it."""
        with self.qtbot.waitSignal(getattr(self.desk, told)):
            act()
        return self.dialog.message.text()

    def cells(self):
        rows = self.dialog.table.model()
        return [
            tuple(rows.data(rows.index(row, column)) for column in range(rows.columnCount()))
            for row in range(rows.rowCount())
        ]

    def is_on(self):
        name = self.dialog.table.model().index(0, 0)
        return Qt.CheckState(name.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.Checked

    def can_be_switched(self):
        return bool(self.dialog.table.model().index(0, 0).flags() & Qt.ItemFlag.ItemIsUserCheckable)

    def press_space(self):
        self.qtbot.keyClick(self.dialog.table, Qt.Key.Key_Space)


@pytest.fixture
def desk(qtbot, tmp_path):
    made = Desk(qtbot, tmp_path)
    yield made
    made.desk.close()


def test_an_added_adapter_is_listed_in_plain_words(desk, tmp_path):
    card = tiny_card(licence="Apache-2.0")
    told = desk.do(lambda: desk.dialog.add(write_adapter(tmp_path / "tiny-en-de", card=card)))
    assert told == "The adapter tiny-en-de was added."
    ((name, works, languages, size, licence, now),) = desk.cells()
    assert (name, works, languages, licence, now) == (
        "tiny-en-de", "● Works", "English to German", "Apache-2.0", ""
    )  # fmt: skip
    assert size.endswith("kB")
    assert desk.can_be_switched()


LONG = "For talks, lectures and sermons. " * 9


def test_the_sentence_that_says_what_an_adapter_is_for_is_never_cut(desk, tmp_path):
    card = tiny_card(description=LONG.strip())
    desk.do(lambda: desk.dialog.add(write_adapter(tmp_path / "talks", card=card)))
    purpose = desk.dialog.purpose
    assert purpose.text() == LONG.strip()
    desk.dialog.resize(600, 330)
    desk.dialog.show()
    desk.qtbot.waitUntil(
        lambda: purpose.height() >= purpose.heightForWidth(purpose.width()), timeout=5000
    )


def test_of_many_languages_the_first_are_named(desk, tmp_path):
    languages = {code: Language(name=code, system="-") for code in ("de", "fr", "pl", "it", "es")}
    card = tiny_card(languages=languages)
    desk.do(lambda: desk.dialog.add(write_adapter(tmp_path / "many", card=card)))
    assert desk.cells()[0][2] == "English to German, French, Polish + 2"


def test_a_folder_adds_an_adapter_and_selects_it(desk, whole, pick, tmp_path):
    other = write_adapter(tmp_path / "z-last")
    button = desk.dialog.add_folder
    asked = pick(None)
    button.click()
    pick(whole)
    desk.do(button.click)
    pick(other)
    desk.do(button.click)
    assert [cells[0] for cells in desk.cells()] == ["tiny-en-de", "z-last"]
    assert desk.dialog.table.currentIndex().row() == 1
    assert asked == [("Folder of an adapter", None)] * 3


def test_a_dropped_file_of_an_adapter_is_added(desk, whole):
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(whole / "adapter_config.json"))])
    button, modifier = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    action = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(5, 5), action, mime, button, modifier)
    desk.dialog.dragEnterEvent(enter)
    assert enter.isAccepted()
    drop = QDropEvent(QPointF(5, 5), action, mime, button, modifier)
    desk.do(lambda: desk.dialog.dropEvent(drop))
    assert len(desk.cells()) == 1


def broken(whole, folder):
    """Break a copy of an adapter."""
    there = Path(shutil.copytree(whole, folder))
    weights = there / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-40])
    return there


def test_a_broken_adapter_is_not_added_and_one_sentence_says_why(desk, whole, tmp_path):
    told = desk.do(lambda: desk.dialog.add(broken(whole, tmp_path / "broken")), "reported")
    assert "get it again" in told
    assert "\n" not in told
    assert desk.cells() == []


def test_an_adapter_that_broke_in_the_library_is_blocked_with_its_reason(desk, whole):
    desk.home.mkdir()
    broken(whole, desk.home / "tiny-en-de")
    desk.do(desk.dialog.open_list, "listed")
    assert desk.cells()[0][1] == "✕ Does not work"
    assert desk.dialog.reason.text().startswith(("It ", "Its "))
    assert not desk.can_be_switched()
    assert desk.dialog.remove.isEnabled()


def test_without_a_card_it_is_unknown_and_can_be_used_all_the_same(desk, tmp_path):
    folder = write_adapter(tmp_path / "bare", card=False)
    desk.do(lambda: desk.dialog.add(folder))
    assert desk.cells()[0][1] == "◐ May work"
    assert desk.can_be_switched()
    assert "are not known" in desk.dialog.reason.text()


def test_the_switch_of_a_row_loads_uses_and_leaves_it_by_keyboard(desk, whole, qtbot):
    desk.do(lambda: desk.dialog.add(whole))
    desk.dialog.show()
    with qtbot.waitSignal(desk.dialog.load_wanted) as wanted:
        desk.press_space()
    assert wanted.args[0] == desk.home / "tiny-en-de"
    assert desk.dialog.message.text().startswith("The adapter tiny-en-de is being loaded")
    assert not desk.is_on()  # until it translates
    desk.dialog.show_loaded(LOADED.names, LOADED.used)
    assert desk.dialog.message.text() == "The adapter tiny-en-de translates now."
    assert (desk.is_on(), desk.cells()[0][-1]) == (True, "translates")
    assert not desk.dialog.remove.isEnabled()
    with qtbot.waitSignal(desk.dialog.use_wanted) as wanted:
        desk.press_space()
    assert wanted.args == [""]
    with qtbot.waitSignal(desk.dialog.use_wanted) as wanted:
        desk.dialog.bare.trigger()
    assert wanted.args == [""]
    desk.dialog.show_loaded(BARE.names, BARE.used)
    assert (desk.is_on(), desk.cells()[0][-1]) == (False, "loaded")
    assert not desk.dialog.bare.isEnabled()
    with qtbot.waitSignal(desk.dialog.use_wanted) as wanted:
        desk.press_space()
    assert wanted.args == ["tiny-en-de"]
    with qtbot.waitSignal(desk.dialog.unload_wanted) as wanted:
        desk.dialog.unload.trigger()
    assert wanted.args == ["tiny-en-de"]


def test_a_refusal_ends_the_wait_for_what_was_to_be_loaded(desk, whole, qtbot):
    desk.do(lambda: desk.dialog.add(whole))
    desk.dialog.show()
    with qtbot.waitSignal(desk.dialog.load_wanted):
        desk.press_space()
    desk.dialog.show_message("there is no memory for it")
    desk.dialog.show_loaded(LOADED.names, LOADED.used)
    assert desk.dialog.message.text() == "There is no memory for it."


def test_an_adapter_is_removed_and_the_next_one_shown(desk, whole, tmp_path):
    other = write_adapter(tmp_path / "another")
    desk.do(lambda: desk.dialog.add(whole))
    desk.do(lambda: desk.dialog.add(other))
    desk.dialog.table.selectRow(1)
    assert desk.do(desk.dialog.remove.trigger, "listed") == "The adapter tiny-en-de was removed."
    assert [cells[0] for cells in desk.cells()] == ["another"]
