"""The transcript: what was said on the left, its captions on the right, one row for each utterance.

It shows views and owns no text but what stands on the screen. What did not change is not touched.
"""

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtGui import (
    QTextCursor,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
    QTextTableCellFormat,
    QTextTableFormat,
)
from PySide6.QtWidgets import QTextEdit, QWidget

from app.captions import UtteranceView

_SOURCE, _CAPTION = 0, 1
_POINTS_LARGER = 3
_CELL_PADDING = 7


class Transcript(QTextEdit):
    """A read-only document with a table of two columns; the newest row stays in sight.

    Scrolling up to read stops that, until the end is reached again or ``follow`` is called.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setAccessibleName("Transcript: source and captions")
        font = self.font()
        font.setPointSize(font.pointSize() + _POINTS_LARGER)
        self.document().setDefaultFont(font)
        self._table: QTextTable | None = None
        self._shown: list[UtteranceView] = []
        self._follows = True
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._keep_newest_in_sight)
        bar.actionTriggered.connect(self._note_scrolling)
        bar.valueChanged.connect(self._note_end)

    @Slot(tuple)
    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Make the rows these utterances, by the smallest change that does it."""
        self._remove_rows({view.key for view in views})
        for row, view in enumerate(views):
            if row == len(self._shown) or self._shown[row].key != view.key:
                self._insert_row(row, view)
            before = self._shown[row]
            if before is not view:
                self._show_text(row, _SOURCE, before.source, view.source)
                self._show_text(row, _CAPTION, before.caption, view.caption)
                self._shown[row] = view

    @Slot()
    def follow(self) -> None:
        """Keep the newest row in sight from now on."""
        self._follows = True
        self._keep_newest_in_sight()

    def _remove_rows(self, kept_keys: set[int]) -> None:
        for row in range(len(self._shown) - 1, -1, -1):
            if self._shown[row].key not in kept_keys:
                self._remove_row(row)

    def _remove_row(self, row: int) -> None:
        del self._shown[row]
        if self._table is not None and self._shown:
            self._table.removeRows(row, 1)
        else:
            self._table = None
            self.clear()

    def _insert_row(self, row: int, view: UtteranceView) -> None:
        self._shown.insert(row, UtteranceView(key=view.key))
        if self._table is None:
            self._table = QTextCursor(self.document()).insertTable(1, 2, _table_format())
        elif row == self._table.rows():
            self._table.appendRows(1)
        else:
            self._table.insertRows(row, 1)
        for column in (_SOURCE, _CAPTION):
            self._table.cellAt(row, column).setFormat(self._cell_format())

    def _show_text(self, row: int, column: int, before: str, text: str) -> None:
        if text == before or self._table is None:
            return
        kept = _common_start(before, text)
        cell = self._table.cellAt(row, column)
        cursor = cell.firstCursorPosition()
        cursor.setPosition(cursor.position() + _length_in_qt(kept))
        end = cell.lastCursorPosition().position()
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text[len(kept) :])

    def _cell_format(self) -> QTextTableCellFormat:
        """Underline each row with a hair line."""
        cell_format = QTextTableCellFormat()
        cell_format.setBottomBorder(1)
        cell_format.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        cell_format.setBottomBorderBrush(self.palette().midlight())
        return cell_format

    @Slot()
    def _keep_newest_in_sight(self) -> None:
        if self._follows:
            bar = self.verticalScrollBar()
            bar.setValue(bar.maximum())

    @Slot()
    def _note_scrolling(self) -> None:
        bar = self.verticalScrollBar()
        self._follows = bar.sliderPosition() >= bar.maximum()

    @Slot(int)
    def _note_end(self, value: int) -> None:
        if value >= self.verticalScrollBar().maximum():
            self._follows = True


def _common_start(before: str, text: str) -> str:
    if text.startswith(before):
        return before
    pairs = enumerate(zip(before, text, strict=False))
    return text[: next((place for place, (old, new) in pairs if old != new), len(text))]


def _length_in_qt(text: str) -> int:
    """Count characters as Qt does: those beyond the first 65,536 are two."""
    return len(text) + sum(character > "\uffff" for character in text)


def _table_format() -> QTextTableFormat:
    table_format = QTextTableFormat()
    table_format.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    half = QTextLength(QTextLength.Type.PercentageLength, 50)
    table_format.setColumnWidthConstraints([half, half])
    table_format.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_None)
    table_format.setCellPadding(_CELL_PADDING)
    table_format.setCellSpacing(0)
    return table_format
