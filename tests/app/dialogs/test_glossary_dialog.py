import pytest
from PySide6.QtWidgets import QTableWidgetItem

from app.dialogs.glossary_dialog import GlossaryDialog
from engine.text.glossary import LONGEST

TERMS = (("slot", "Platz"), ("overlay", ""))
NAME = ("overlay", "overlay")
"""What is used of a term without a translation."""


@pytest.fixture
def dialog(qtbot):
    one = GlossaryDialog()
    qtbot.addWidget(one)
    one.told, one.used = [], []
    one.terms_changed.connect(one.told.append)
    one.use_toggled.connect(one.used.append)
    one.show_terms("English", "German", TERMS)
    return one


def write(one, *rows):
    """Write rows below those that are there, as somebody does who types."""
    for term, translation in rows:
        one.add.click()
        row = one.table.rowCount() - 1
        one.table.item(row, 0).setText(term)
        one.table.item(row, 1).setText(translation)


def struck(one):
    """The rows that are marked as not used."""
    rows = range(one.table.rowCount())
    return [row for row in rows if one.table.item(row, 0).font().strikeOut()]


def test_each_edit_that_changes_the_terms_is_told_with_all_of_them(dialog):
    dialog.table.item(0, 1).setText("Fach")
    assert dialog.told == [(("slot", "Fach"), NAME)]
    dialog.table.item(0, 1).setText("Fach")
    assert len(dialog.told) == 1
    write(dialog, ("caption", "Untertitel"))
    assert dialog.told[-1] == (("slot", "Fach"), NAME, ("caption", "Untertitel"))


def test_rows_that_are_selected_are_removed_and_no_others(dialog):
    write(dialog, ("caption", "Untertitel"))
    dialog.table.selectRow(1)
    dialog.remove.click()
    assert dialog.pairs == [("slot", "Platz"), ("caption", "Untertitel")]
    assert dialog.told[-1] == tuple(dialog.pairs)
    for _ in range(2):
        dialog.table.selectRow(0)
        dialog.remove.click()
    assert dialog.told[-1] == ()
    assert not dialog.remove.isEnabled()
    assert not dialog.save.isEnabled()


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (("a" * (LONGEST + 1), "Wort"), f"more than {LONGEST} characters"),
        (("Slot", "Schlitz"), "already in a row above"),
    ],
)
def test_a_row_with_a_fault_is_struck_out_explained_and_not_used(dialog, row, fault):
    write(dialog, row, ("caption", "Untertitel"))
    assert struck(dialog) == [2]
    assert dialog.fault.text().startswith("Row 3: ")
    assert fault in dialog.fault.text()
    assert fault in dialog.table.item(2, 0).toolTip()
    assert dialog.told[-1] == (TERMS[0], NAME, ("caption", "Untertitel"))
    dialog.table.selectRow(2)
    dialog.remove.click()
    assert struck(dialog) == []
    assert dialog.fault.text() == ""


def test_empty_rows_are_neither_a_fault_nor_a_term(dialog):
    write(dialog, ("", ""))
    assert struck(dialog) == []
    assert dialog.pairs == list(TERMS)
    assert dialog.told == []
    dialog.table.setItem(2, 1, QTableWidgetItem("Wort"))
    assert struck(dialog) == [2]


def test_a_file_is_appended_and_replaces_terms_of_the_same_spelling(dialog, tmp_path, pick):
    file = tmp_path / "mine.tsv"
    file.write_text("Slot\tSchlitz\ncaption\tUntertitel\n", "utf-8")
    asked = pick(file)
    dialog.load.click()
    assert asked == [("Import a glossary", "TSV (*.tsv *.txt)")]
    assert dialog.pairs == [("overlay", ""), ("Slot", "Schlitz"), ("caption", "Untertitel")]
    assert dialog.told == [(NAME, ("Slot", "Schlitz"), ("caption", "Untertitel"))]


def test_a_file_that_cannot_be_read_is_a_sentence_and_changes_nothing(dialog, tmp_path):
    dialog.import_from(tmp_path / "none.tsv")
    assert "none.tsv" in dialog.fault.text()
    assert dialog.pairs == list(TERMS)
    assert dialog.told == []


def test_what_is_exported_can_be_imported_and_its_place_is_told(dialog, tmp_path, pick):
    file = tmp_path / "mine.tsv"
    asked = pick(file)
    dialog.save.click()
    assert asked == [("Export the glossary", "TSV (*.tsv *.txt)")]
    assert str(file) in dialog.fault.text()
    dialog.show_terms("English", "German", ())
    dialog.import_from(file)
    assert dialog.pairs == [TERMS[0], NAME]
    dialog.export_to(file / "mine.tsv")
    assert "was written" not in dialog.fault.text()


def test_nothing_is_read_or_written_when_the_file_dialog_is_left(dialog, pick):
    pick(None)
    dialog.load.click()
    dialog.save.click()
    assert dialog.fault.text() == ""
    assert dialog.pairs == list(TERMS)


def test_use_is_told_when_somebody_ticks_it_and_not_when_it_is_shown(dialog):
    dialog.show_use(used=True, warning="It costs time.")
    assert dialog.use.isChecked()
    assert dialog.warning.text() == "It costs time."
    assert dialog.used == []
    dialog.use.click()
    assert dialog.used == [False]
    dialog.show_cost("41 of 256 rows")
    assert dialog.cost.text() == "41 of 256 rows."
