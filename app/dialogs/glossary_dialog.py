"""The window of the glossary: terms with their translations, for one target language at a time."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.library.glossaries import (
    LONGEST,
    MAX_TERMS,
    Fault,
    Terms,
    faults,
    read_terms,
    sound_terms,
    write_terms,
)
from app.system.translations import error_text
from app.widgets.dialog_text import as_sentence, close_button, paragraph
from app.widgets.file_dialogs import ask_open, ask_save
from engine.errors import ContextError

_FILES = "TSV (*.tsv *.txt)"


class GlossaryDialog(QDialog):
    """A table to write in. What has a fault is marked, named, and not used.

    Signals:
        terms_changed(tuple): these pairs are wanted now, all without a fault.
        use_toggled(bool): the model is told of them, or not.
    """

    terms_changed = Signal(tuple)
    use_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._told: Terms = ()
        self._is_filling = False
        self.use = QCheckBox(self.tr("&Tell the model of these terms"))
        self.warning, self.cost, self.fault = paragraph(), paragraph(), paragraph()
        self.language = QLabel()
        self.table = QTableWidget(0, 2)
        self._dress()
        self._buttons = close_button()
        self.add = self._add_button(self.tr("&Add"), self._add_row)
        self.remove = self._add_button(self.tr("&Remove"), self._remove_rows)
        self.load = self._add_button(self.tr("&Import…"), self._ask_import)
        self.save = self._add_button(self.tr("E&xport…"), self._ask_export)
        self._buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        above: tuple[QWidget, ...] = (self.language, self.use, self.warning)
        below: tuple[QWidget, ...] = (self.fault, self.cost, self._buttons)
        for widget in above:
            column.addWidget(widget)
        column.addWidget(self.table, 1)
        for widget in below:
            column.addWidget(widget)
        self.resize(620, 480)
        self.table.cellChanged.connect(self._take_edit)
        self.use.toggled.connect(self.use_toggled)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What stands in the table; rows without a letter are left out."""
        rows = [(self._text(row, 0), self._text(row, 1)) for row in range(self.table.rowCount())]
        return [row for row in rows if any(row)]

    def show_terms(self, language: str, terms: Terms) -> None:
        """Show the terms of a language."""
        self.setWindowTitle(self.tr("Glossary: English to {}").format(language))
        self.language.setText(
            self.tr("For captions in {}. A term is used from the next sentence on.").format(
                language
            )
        )
        self._told = terms
        self._fill(terms)

    def show_use(self, *, used: bool, warning: str) -> None:
        """Show whether the model is told, and what that does to it."""
        self.use.blockSignals(True)  # noqa: FBT003  Qt's own
        self.use.setChecked(used)
        self.use.blockSignals(False)  # noqa: FBT003
        self.warning.setText(warning)

    def show_cost(self, text: str) -> None:
        """Tell what the glossary costs, or why the model was not told."""
        self.cost.setText(as_sentence(text))

    def import_from(self, path: Path) -> None:
        """Put the terms of a file below the others; one that stands there already gives way."""
        try:
            fresh = read_terms(path)
        except ContextError as error:
            self.fault.setText(as_sentence(error_text(error)))
            return
        known = {term.casefold() for term, _ in fresh}
        kept = [pair for pair in self.pairs if pair[0].strip().casefold() not in known]
        self._fill((*kept, *fresh))
        self._take_edit()

    def export_to(self, path: Path) -> None:
        """Write the terms into a file."""
        failure = write_terms(path, sound_terms(self.pairs))
        told = self.tr("The glossary was written to {}").format(path)
        self.fault.setText(as_sentence(failure or told))

    def _dress(self) -> None:
        self.table.setAccessibleName(self.tr("Glossary"))
        self.table.setHorizontalHeaderLabels([self.tr("Term"), self.tr("Its translation")])
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter)

    def _add_button(self, text: str, act: object) -> QPushButton:
        button = self._buttons.addButton(text, QDialogButtonBox.ButtonRole.ActionRole)
        button.clicked.connect(act)
        button.setAutoDefault(False)
        return button

    def _text(self, row: int, column: int) -> str:
        item = self.table.item(row, column)
        return "" if item is None else item.text()

    def _fill(self, pairs: Terms) -> None:
        self._is_filling = True
        self.table.setRowCount(len(pairs))
        for row, pair in enumerate(pairs):
            for column, text in enumerate(pair):
                self.table.setItem(row, column, QTableWidgetItem(text))
        self._is_filling = False
        self._mark_faults()

    @Slot()
    def _take_edit(self) -> None:
        """Tell the pairs without a fault, if they are others than before."""
        if self._is_filling:
            return
        self._mark_faults()
        terms = sound_terms(self.pairs)
        if terms != self._told:
            self._told = terms
            self.terms_changed.emit(terms)

    def _mark_faults(self) -> None:
        """Name the first fault, and mark every row that has one."""
        self._is_filling = True
        rows = [(self._text(row, 0), self._text(row, 1)) for row in range(self.table.rowCount())]
        written = [number for number, row in enumerate(rows) if any(row)]
        found = dict(zip(written, faults([rows[number] for number in written]), strict=True))
        for row in range(len(rows)):
            fault = found.get(row)
            self._mark(row, "" if fault is None else self._fault_words(fault))
        self._is_filling = False
        named = ((row, fault) for row, fault in found.items() if fault is not None)
        row, fault = next(named, (0, None))
        told = self.tr("Row {}: {}")
        self.fault.setText(
            "" if fault is None else as_sentence(told.format(row + 1, self._fault_words(fault)))
        )

    def _fault_words(self, fault: Fault) -> str:
        match fault:
            case Fault.EMPTY:
                return self.tr("term or translation is empty: write it, or remove the row")
            case Fault.LONG:
                told = self.tr("term or translation has more than {} characters: shorten it")
                return told.format(LONGEST)
            case Fault.BREAK:
                return self.tr("there is a tab or a line break in it: write it on one line")
            case Fault.REMARK:
                return self.tr("a term may not begin with #, which begins a remark in the file")
            case Fault.DOUBLE:
                return self.tr("this term stands above already: remove one of the rows")
            case Fault.MANY:
                return self.tr("more than {} terms are too many: remove some").format(MAX_TERMS)

    def _mark(self, row: int, fault: str) -> None:
        for column in range(2):
            item = self.table.item(row, column)
            if item is not None:
                item.setToolTip(fault)
                font = item.font()
                font.setStrikeOut(bool(fault))  # not by colour alone
                item.setFont(font)
                role = QPalette.ColorRole.PlaceholderText if fault else QPalette.ColorRole.Text
                item.setForeground(self.palette().brush(role))

    @Slot()
    def _add_row(self) -> None:
        row = self.table.rowCount()
        self._is_filling = True
        self.table.insertRow(row)
        term = QTableWidgetItem("")
        self.table.setItem(row, 0, term)
        self.table.setItem(row, 1, QTableWidgetItem(""))
        self._is_filling = False
        self.table.setCurrentCell(row, 0)
        self.table.editItem(term)

    @Slot()
    def _remove_rows(self) -> None:
        rows = {index.row() for index in self.table.selectionModel().selectedIndexes()}
        for row in sorted(rows, reverse=True):
            self.table.removeRow(row)
        self._take_edit()

    @Slot()
    def _ask_import(self) -> None:
        path = ask_open(self, self.tr("Import a glossary"), _FILES)
        if path:
            self.import_from(path)

    @Slot()
    def _ask_export(self) -> None:
        path = ask_save(self, self.tr("Export the glossary"), "glossary.tsv", _FILES)
        if path:
            self.export_to(path)
