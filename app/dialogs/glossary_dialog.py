"""The glossary dialog: names, and terms with their translations for one target language."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.captions.glossaries import Fault, Terms, faults, read_terms, sound_terms, write_terms
from app.config.translations import error_text, worded
from app.look.widgets.desktop import ask_open, ask_save
from app.look.widgets.dialog_text import add_action, as_sentence, close_button, paragraph
from engine.errors import ContextError
from engine.text.glossary import LONGEST, MAX_TERMS

_FILES = "TSV (*.tsv *.txt)"


class GlossaryDialog(QDialog):
    """An editable table; pairs with a fault are marked, explained and not used.

    Signals:
        terms_changed(tuple): the pairs without a fault, after an edit.
        use_toggled(bool): whether the model gets the glossary.
    """

    terms_changed = Signal(tuple)
    use_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._reported: Terms = ()
        self._is_filling = False
        self.use = QCheckBox(self.tr("&Use these terms"))
        self.warning, self.cost, self.fault = paragraph(), paragraph(), paragraph()
        self.language = paragraph()
        self.table = QTableWidget(0, 2)
        self._dress()
        self._buttons = close_button()
        self.add = add_action(self._buttons, self.tr("&Add"), self._add_row)
        self.remove = add_action(self._buttons, self.tr("&Remove"), self._remove_rows)
        self.load = add_action(self._buttons, self.tr("&Import…"), self._ask_import)
        self.save = add_action(self._buttons, self.tr("E&xport…"), self._ask_export)
        self._buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        widgets = self.language, self.use, self.warning, self.table, self.fault, self.cost
        for widget in (*widgets, self._buttons):
            column.addWidget(widget, int(widget is self.table))
        self.resize(620, 480)
        self.table.cellChanged.connect(self._take_edit)
        self.use.toggled.connect(self.use_toggled)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs in the table, without empty rows."""
        return [row for row in self._rows() if any(row)]

    def _rows(self) -> list[tuple[str, str]]:
        return [(self._text(row, 0), self._text(row, 1)) for row in range(self.table.rowCount())]

    def show_terms(self, spoken: str, language: str, terms: Terms) -> None:
        self.setWindowTitle(self.tr("Glossary: {} to {}").format(spoken, language))
        self.language.setText(
            self.tr(
                "For captions in {}. A term is used from the next sentence on; one without a "
                "translation is a name, which stays as it is. The speech model prefers all of "
                "them from the next time listening begins."
            ).format(language)
        )
        self._reported = terms
        self._fill(terms)

    def show_use(self, *, used: bool, warning: str) -> None:
        self.use.blockSignals(True)  # noqa: FBT003  Qt's own
        self.use.setChecked(used)
        self.use.blockSignals(False)  # noqa: FBT003
        self.warning.setText(warning)

    def show_cost(self, text: str) -> None:
        """Show how much prompt the glossary takes, or why the model refused it."""
        self.cost.setText(as_sentence(text))

    def import_from(self, path: Path) -> None:
        """Append the terms of a file; they replace terms of the same spelling."""
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
        failure = write_terms(path, sound_terms(self.pairs))
        written = self.tr("The glossary was written to {}").format(path)
        self.fault.setText(as_sentence(written if failure is None else worded(failure)))

    def _dress(self) -> None:
        self.table.setAccessibleName(self.tr("Glossary"))
        self.table.setHorizontalHeaderLabels([self.tr("Term"), self.tr("Its translation")])
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter)

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
        if self._is_filling:
            return
        self._mark_faults()
        terms = sound_terms(self.pairs)
        if terms != self._reported:
            self._reported = terms
            self.terms_changed.emit(terms)

    def _mark_faults(self) -> None:
        self._is_filling = True
        rows = self._rows()
        written = [number for number, row in enumerate(rows) if any(row)]
        by_row = dict(zip(written, faults([rows[number] for number in written]), strict=True))
        texts = {row: self._fault_text(fault) for row, fault in by_row.items() if fault}
        for row in range(len(rows)):
            self._mark(row, texts.get(row, ""))
        self._is_filling = False
        self.remove.setEnabled(bool(rows))
        self.save.setEnabled(any(map(any, rows)))
        first = next(iter(texts), None)
        self.fault.setText(
            ""
            if first is None
            else as_sentence(self.tr("Row {}: {}").format(first + 1, texts[first]))
        )

    def _fault_text(self, fault: Fault) -> str:
        match fault:
            case Fault.EMPTY:
                return self.tr("the term is empty: write it, or remove the row")
            case Fault.LONG:
                text = self.tr("term or translation has more than {} characters: shorten it")
                return text.format(LONGEST)
            case Fault.BREAK:
                return self.tr("it contains a tab or a line break: write it on one line")
            case Fault.REMARK:
                return self.tr("a term must not begin with #, which begins a comment in the file")
            case Fault.DOUBLE:
                return self.tr("this term is already in a row above: remove one of them")
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
        self.remove.setEnabled(True)
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
