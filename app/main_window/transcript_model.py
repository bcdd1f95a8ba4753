"""The table model of the transcript; unchanged rows are not touched."""

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

from app.captions.doubt import OFF, SIGN, with_sign
from app.captions.model import UtteranceView, dotted
from app.widgets.lane_style import lane_colour, lane_name

SOURCE, CAPTION, SPEAKER = 0, 1, 2
TAIL_ROLE = Qt.ItemDataRole.UserRole
"""Number of characters at the end of a cell that are painted pale."""

_MARK_SHARE = 0.24  # of the highlight colour in the colour of the marked row

Index = QModelIndex | QPersistentModelIndex


class TranscriptModel(QAbstractTableModel):
    """Source, captions and speaker; a row for each utterance.

    Signals:
        speaker_came(): the first row with a speaker was added.
    """

    speaker_came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shown: list[UtteranceView] = []
        self._marked: int | None = None
        self._has_speakers = False
        self._doubt_mark = OFF

    @property
    def views(self) -> Sequence[UtteranceView]:
        """The utterances, row by row."""
        return self._shown

    @property
    def marked_row(self) -> int | None:
        """The row with the mark of the user, or None."""
        keys = (row for row, view in enumerate(self._shown) if view.key == self._marked)
        return next(keys, None)

    def mark(self, row: int | None) -> None:
        """Mark a row and unmark the previous one; None marks no row."""
        before = self.marked_row
        self._marked = None if row is None else self._shown[row].key
        for changed in (before, row):
            if changed is not None:
                self._emit_changed(changed)

    def mark_doubt(self, mark: str) -> None:
        """Mark doubtful captions from now on by one of ``DOUBT_MARKS``."""
        if mark != self._doubt_mark:
            self._doubt_mark = mark
            for row, view in enumerate(self._shown):
                if view.doubtful:
                    self._emit_changed(row)

    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Show these utterances with as few changes of rows as possible."""
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
                self._emit_changed(row)
        if not self._has_speakers and any(view.lane for view in views[start:]):
            self._has_speakers = True
            self.speaker_came.emit()

    def find(self, text: str, start: int, step: int) -> int | None:
        """Return the next row that contains a text, ignoring case and wrapping around, or None.

        Args:
            text: not empty.
            start: the search begins beside this row.
            step: 1 to search down, -1 to search up.
        """
        needle, count = text.casefold(), len(self._shown)
        for distance in range(1, count + 1):
            row = (start + step * distance) % count
            view = self._shown[row]
            if needle in view.source.casefold() or needle in view.caption.casefold():
                return row
        return None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        """Return the number of utterances."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return 3: source, caption and speaker."""
        return 0 if parent.isValid() else 3

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text, colours or tool tip of a cell."""
        view = self._shown[index.row()]
        if view.doubtful and self._doubt_mark != OFF and index.column() == CAPTION:
            return self._doubtful(view, role)
        return self._data(view, index.column(), role)

    def _data(self, view: UtteranceView, column: int, role: int) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(view, column)
        if role == TAIL_ROLE:
            return len(dotted(view.tail)) if column == SOURCE else 0
        if role == Qt.ItemDataRole.ForegroundRole and column == SPEAKER:
            return lane_colour(view.lane)
        if role == Qt.ItemDataRole.BackgroundRole and view.key == self._marked:
            return QBrush(_mark_colour(QGuiApplication.palette()))
        if role == Qt.ItemDataRole.ToolTipRole and view.key == self._marked:
            return self.tr("Your mark")
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the title of a column."""
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        return {SOURCE: self.tr("Source"), CAPTION: self.tr("Captions")}.get(section, "")

    def _doubtful(self, view: UtteranceView, role: int) -> object:
        """Return the data of a doubtful caption; screen readers read the sign in any case."""
        is_signed = self._doubt_mark == SIGN
        match role:
            case Qt.ItemDataRole.DisplayRole if is_signed:
                return with_sign(view.caption)
            case Qt.ItemDataRole.AccessibleTextRole:
                return with_sign(view.caption)
            case Qt.ItemDataRole.ToolTipRole if view.key != self._marked:
                return self.tr("The model is not sure of this caption")
            case _ if role == TAIL_ROLE and not is_signed:
                return len(view.caption)
        return self._data(view, CAPTION, role)

    def _remove_others(self, kept: set[int], start: int) -> None:
        """Remove rows from the end up, one run of neighbours at a time."""
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

    def _emit_changed(self, row: int) -> None:
        self.dataChanged.emit(self.index(row, SOURCE), self.index(row, SPEAKER))


def _text(view: UtteranceView, column: int) -> str:
    if column == SPEAKER:
        return lane_name(view.lane)
    if column == CAPTION:
        return view.caption
    return " ".join(filter(None, (view.source, dotted(view.tail))))


def _mark_colour(palette: QPalette) -> QColor:
    """Mix an opaque colour: Qt paints it twice."""
    back, selected = palette.base().color(), palette.highlight().color()
    channels = (QColor.red, QColor.green, QColor.blue)
    return QColor(*(round(of(back) + _MARK_SHARE * (of(selected) - of(back))) for of in channels))


def _common_start(shown: Sequence[UtteranceView], views: Sequence[UtteranceView]) -> int:
    """Count the leading views that are the same objects."""
    pairs = enumerate(zip(shown, views, strict=False))
    differing = (row for row, (old, new) in pairs if old is not new)
    return next(differing, min(len(shown), len(views)))
