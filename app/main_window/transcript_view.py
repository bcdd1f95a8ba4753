"""The transcript: what was said on the left, its captions on the right, one row for each utterance.

Where somebody is heard, who it is stands before it. Words that may still change are dim.
Only rows that are seen are measured and painted, so a day of captions is as quick as a minute.
"""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QGuiApplication,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QShortcut,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.captions.lanes import ME, THEM
from app.captions.line_breaking import runs_right_to_left
from app.captions.model import UtteranceView
from app.main_window.transcript_model import SPEAKER, TAIL_ROLE, Index, TranscriptModel
from app.widgets.lane_style import lane_name

_POINTS_LARGER = 3
_PADDING = 8


class Transcript(QTableView):
    """A table of two columns; the newest row stays in sight.

    Scrolling up to read stops that, until the end is reached again or ``follow`` is called.

    Signals:
        painted(tuple of int): the utterances of these keys stand on the screen as they are now.
    """

    painted = Signal(tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = TranscriptModel(self)
        self._follows = True
        self.setModel(self.rows)
        self.setItemDelegate(_Cell(self))
        self.setAccessibleName(self.tr("Transcript: source and captions"))
        self._dress()
        self._dress_speakers()
        self._copy_keys = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self)
        self._copy_keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        self._copy_keys.activated.connect(self._copy)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._keep_newest_in_sight)
        bar.actionTriggered.connect(self._note_scrolling)
        bar.valueChanged.connect(self._note_place)
        self.rows.speaker_came.connect(self._show_speakers)

    @Slot(tuple)
    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Make the rows these utterances, by the smallest change that does it."""
        self.rows.show_views(views)
        if self._follows:
            self.scrollToBottom()
        self._fit_rows_in_sight()
        self._keep_newest_in_sight()

    @Slot()
    def follow(self) -> None:
        """Keep the newest row in sight from now on."""
        self._follows = True
        self._keep_newest_in_sight()

    @Slot()
    def mark_newest(self) -> int | None:
        """Mark the newest row, to come back to it.

        Returns:
            its key, or None where there is no row.
        """
        rows = [row for row, view in enumerate(self.rows.views) if view.key >= 0 or view.source]
        if not rows:
            return None  # only words that may still change
        self.rows.mark(rows[-1])
        return self.rows.views[rows[-1]].key

    def mark_row(self, row: int | None) -> None:
        """Mark this row alone; None for no row."""
        self.rows.mark(row)

    @Slot()
    def go_to_mark(self) -> None:
        """Bring the marked row into sight and select it."""
        row = self.rows.marked_row
        if row is not None:
            self.go_to(row)

    def go_to(self, row: int) -> None:
        """Bring a row into sight and select it; the newest one is followed no longer."""
        self._follows = False
        self.selectRow(row)
        # Twice, since rows on the way get their true height only when they are seen.
        for _ in range(2):
            self.scrollTo(self.rows.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)
            self._fit_rows_in_sight()
        self._note_scrolling()

    def find_text(self, text: str, step: int) -> bool:
        """Go to the next row that has a text; tell whether there is one."""
        current = self.currentIndex().row()
        start = current if current >= 0 else (-1 if step > 0 else 0)
        row = self.rows.find(text, start, step) if text else None
        if row is not None:
            self.go_to(row)
        return row is not None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the lines in sight anew."""
        super().resizeEvent(event)
        self._fit_rows_in_sight()
        self._keep_newest_in_sight()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint, and tell what is seen now."""
        super().paintEvent(event)
        views = self.rows.views
        self.painted.emit(tuple(views[row].key for row in self.rows_in_sight()))

    def rows_in_sight(self) -> range:
        """Name the rows that are seen, also in part."""
        first = self.rowAt(0)
        last = self.rowAt(self.viewport().height() - 1)
        if first < 0:
            return range(0)
        return range(first, (self.rows.rowCount() - 1 if last < 0 else last) + 1)

    def _dress(self) -> None:
        font = self.font()
        font.setPointSize(font.pointSize() + _POINTS_LARGER)
        self.setFont(font)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(True)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().lineSpacing() + 2 * _PADDING)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)

    def _dress_speakers(self) -> None:
        """Let who speaks stand first, once somebody does; there is room for every name."""
        header = self.horizontalHeader()
        header.moveSection(SPEAKER, 0)
        header.setSectionResizeMode(SPEAKER, QHeaderView.ResizeMode.Fixed)
        names = (lane_name(ME), lane_name(THEM))
        width = max(self.fontMetrics().horizontalAdvance(name) for name in names)
        header.resizeSection(SPEAKER, width + 4 * _PADDING)
        self.setColumnHidden(SPEAKER, True)  # noqa: FBT003  Qt's own signature

    @Slot()
    def _show_speakers(self) -> None:
        self.setColumnHidden(SPEAKER, False)  # noqa: FBT003

    def _fit_rows_in_sight(self) -> None:
        """Give the rows in sight their true height; that may bring others into sight."""
        fitted = range(0)
        for _ in range(3):
            seen = self.rows_in_sight()
            for row in seen:
                if row not in fitted:
                    self.resizeRowToContents(row)
            fitted = seen
            if self._follows:
                self.scrollToBottom()

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
    def _note_place(self, value: int) -> None:
        if value >= self.verticalScrollBar().maximum():
            self._follows = True
        elif not self._follows:
            self._fit_rows_in_sight()

    @Slot()
    def _copy(self) -> None:
        """Put the selected rows on the clipboard, a line each, columns apart by a tab."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        views = [self.rows.views[row] for row in rows]
        if views:
            lines = [f"{view.source}\t{view.caption}" for view in views]
            QGuiApplication.clipboard().setText("\n".join(lines))


class _Cell(QStyledItemDelegate):
    """Text that begins at the top of its cell, and on the side where its script begins."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Set the direction by the text, not by the window."""
        super().initStyleOption(option, index)
        leading = Qt.AlignmentFlag.AlignLeft
        if runs_right_to_left(option.text):
            option.direction = Qt.LayoutDirection.RightToLeft
            leading = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        option.displayAlignment = leading | Qt.AlignmentFlag.AlignTop

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Leave some room above the text: letters of other scripts are higher."""
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        _paint_tail_text(painter, cell, index.data(TAIL_ROLE) or 0, room=_PADDING // 2)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Leave some room above and below the text."""
        return super().sizeHint(option, index) + QSize(0, _PADDING)


def _paint_tail_text(
    painter: QPainter, option: QStyleOptionViewItem, n_tail: int, *, room: int = 0
) -> None:
    """Paint a cell of a widget as its style does, its last ``n_tail`` characters paler.

    Lines break where the style breaks them, since the letters are the same. They begin ``room``
    pixels below the top; what is higher than its line, as in Arabic, is painted into that room.
    """
    text, option.text = option.text, ""
    style = option.widget.style()
    style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
    option.text = text
    place = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
    margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, option.widget) + 1
    place.adjust(margin, 0, -margin, 0)
    chosen = bool(option.state & QStyle.StateFlag.State_Selected)
    role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
    layout = _laid_out(option, place.width(), n_tail)
    painter.save()
    painter.setClipRect(option.rect)
    painter.setPen(option.palette.color(role))
    layout.draw(painter, QPointF(place.left(), place.top() + room))
    painter.restore()


def _laid_out(option: QStyleOptionViewItem, width: int, n_tail: int) -> QTextLayout:
    pale = QTextCharFormat()
    pale.setForeground(option.palette.color(QPalette.ColorRole.PlaceholderText))
    tail = QTextLayout.FormatRange()
    tail.start, tail.length, tail.format = len(option.text) - n_tail, n_tail, pale
    layout = QTextLayout(option.text, option.font)
    wrapping = QTextOption(option.displayAlignment)
    wrapping.setWrapMode(QTextOption.WrapMode.WordWrap)
    wrapping.setTextDirection(option.direction)
    layout.setTextOption(wrapping)
    layout.setFormats([tail])
    layout.beginLayout()
    height = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        line.setPosition(QPointF(0, height))
        height += line.height()
    layout.endLayout()
    return layout
