"""Views as the rows of a table. What did not change is not touched."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QBrush, QColor, QGuiApplication, QPalette

from app.captions.model import UtteranceView, dotted
from app.widgets.lane_style import lane_colour, lane_name

SOURCE, CAPTION, SPEAKER = 0, 1, 2
TAIL_ROLE = Qt.ItemDataRole.UserRole
"""Counts the characters at the end of a cell that may still change."""

_MARK_SHARE = 0.24  # of the desktop's colour for what is selected

Index = QModelIndex | QPersistentModelIndex


class TranscriptModel(QAbstractTableModel):
    """Source, captions, and who speaks; a row for each utterance.

    Signals:
        speaker_came(): for the first time a row has a speaker.
    """

    speaker_came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shown: list[UtteranceView] = []
        self._marked: int | None = None
        self._has_speakers = False

    @property
    def views(self) -> Sequence[UtteranceView]:
        """The utterances, row by row."""
        return self._shown

    @property
    def marked_row(self) -> int | None:
        """The row the person marked, while it is there."""
        keys = (row for row, view in enumerate(self._shown) if view.key == self._marked)
        return next(keys, None)

    def mark(self, row: int | None) -> None:
        """Mark a row, and no other; None for no row."""
        before = self.marked_row
        self._marked = None if row is None else self._shown[row].key
        for one in (before, row):
            if one is not None:
                self._tell_data(one)

    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Make the rows these utterances, by the smallest change that does it."""
        start = _common_start(self._shown, views)
        self._remove_others({view.key for view in views[start:]}, start)
        for row in range(start, len(views)):
            view = views[row]
            if row == len(self._shown) or self._shown[row].key != view.key:
                self.beginInsertRows(QModelIndex(), row, row)
                self._shown.insert(row, view)
                self.endInsertRows()
            elif self._shown[row] is not view:
                self._shown[row] = view
                self._tell_data(row)
        if not self._has_speakers and any(view.lane for view in views[start:]):
            self._has_speakers = True
            self.speaker_came.emit()

    def find(self, text: str, start: int, step: int) -> int | None:
        """Find the next row that has a text, whatever its case; after the last comes the first.

        Args:
            text: not empty.
            start: the row to begin beside.
            step: 1 to search down, -1 to search up.
        """
        wanted, count = text.casefold(), len(self._shown)
        for distance in range(1, count + 1):
            row = (start + step * distance) % count
            view = self._shown[row]
            if wanted in view.source.casefold() or wanted in view.caption.casefold():
                return row
        return None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        """Count utterances."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """There are three; who speaks is the last, wherever it is shown."""
        return 0 if parent.isValid() else 3

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Give the text of a cell, and the colour of the marked row."""
        view = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(view, index.column())
        if role == TAIL_ROLE:
            return len(dotted(view.tail)) if index.column() == SOURCE else 0
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == SPEAKER:
            return lane_colour(view.lane)
        if role == Qt.ItemDataRole.BackgroundRole and view.key == self._marked:
            return QBrush(_mark_colour(QGuiApplication.palette()))
        if role == Qt.ItemDataRole.ToolTipRole and view.key == self._marked:
            return self.tr("Your mark")
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Name the columns."""
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        return {SOURCE: self.tr("Source"), CAPTION: self.tr("Captions")}.get(section, "")

    def _remove_others(self, kept: set[int], start: int) -> None:
        """Remove rows from the end up, a run of neighbours at a time."""
        last = len(self._shown) - 1
        while last >= start:
            first = last
            if self._shown[last].key not in kept:
                while first > start and self._shown[first - 1].key not in kept:
                    first -= 1
                self.beginRemoveRows(QModelIndex(), first, last)
                del self._shown[first : last + 1]
                self.endRemoveRows()
            last = first - 1

    def _tell_data(self, row: int) -> None:
        self.dataChanged.emit(self.index(row, SOURCE), self.index(row, SPEAKER))


def _text(view: UtteranceView, column: int) -> str:
    if column == SPEAKER:
        return lane_name(view.lane)
    if column == CAPTION:
        return view.caption
    return " ".join(filter(None, (view.source, dotted(view.tail))))


def _mark_colour(palette: QPalette) -> QColor:
    """Mix a colour that nothing shines through, so that it may be painted twice."""
    back, selected = palette.base().color(), palette.highlight().color()
    pairs = (
        (back.red(), selected.red()),
        (back.green(), selected.green()),
        (back.blue(), selected.blue()),
    )
    return QColor(*(round(one + _MARK_SHARE * (other - one)) for one, other in pairs))


def _common_start(shown: Sequence[UtteranceView], views: Sequence[UtteranceView]) -> int:
    """Count the views at the beginning that are the very same objects."""
    pairs = enumerate(zip(shown, views, strict=False))
    differing = (place for place, (old, new) in pairs if old is not new)
    return next(differing, min(len(shown), len(views)))
