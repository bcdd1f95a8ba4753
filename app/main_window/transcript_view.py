"""The transcript: source on the left, captions on the right, one row for each utterance.

Rows of a sound source begin with the speaker; tentative words are dim. Only visible rows are
measured and painted, so a day of captions is as fast as a minute.
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
    """A table that keeps the newest row visible.

    Scrolling up stops that until the end is reached again or ``follow`` is called.

    Signals:
        painted(tuple of int): keys of the utterances painted in their current state.
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
        bar.rangeChanged.connect(self._keep_newest_visible)
        bar.actionTriggered.connect(self._note_scrolling)
        bar.valueChanged.connect(self._note_position)
        self.rows.speaker_came.connect(self._show_speakers)

    @Slot(tuple)
    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Show these utterances with as few changes of rows as possible."""
        self.rows.show_views(views)
        if self._follows:
            self.scrollToBottom()
        self._fit_visible_rows()
        self._keep_newest_visible()

    def mark_doubt(self, mark: str) -> None:
        """Mark doubtful captions from now on by one of ``DOUBT_MARKS``."""
        self.rows.mark_doubt(mark)
        self._fit_visible_rows()

    @Slot()
    def follow(self) -> None:
        """Keep the newest row visible from now on."""
        self._follows = True
        self._keep_newest_visible()

    @Slot()
    def mark_newest(self) -> int | None:
        """Mark the newest row and return its key, or None without a row."""
        rows = [row for row, view in enumerate(self.rows.views) if view.key >= 0 or view.source]
        if not rows:
            return None  # only tentative words
        self.rows.mark(rows[-1])
        return self.rows.views[rows[-1]].key

    def mark_row(self, row: int | None) -> None:
        """Mark only this row; None marks no row."""
        self.rows.mark(row)

    @Slot()
    def go_to_mark(self) -> None:
        """Scroll to the marked row and select it."""
        row = self.rows.marked_row
        if row is not None:
            self.go_to(row)

    def go_to(self, row: int) -> None:
        """Scroll to a row and select it; stop following the newest one."""
        self._follows = False
        self.selectRow(row)
        # Twice, since rows get their true height only once they are visible.
        for _ in range(2):
            self.scrollTo(self.rows.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)
            self._fit_visible_rows()
        self._note_scrolling()

    def find_text(self, text: str, step: int) -> bool:
        """Go to the next row with a text; return whether there is one."""
        current = self.currentIndex().row()
        start = current if current >= 0 else (-1 if step > 0 else 0)
        row = self.rows.find(text, start, step) if text else None
        if row is not None:
            self.go_to(row)
        return row is not None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt the height of the visible rows."""
        super().resizeEvent(event)
        self._fit_visible_rows()
        self._keep_newest_visible()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint, and emit the keys of the visible rows."""
        super().paintEvent(event)
        views = self.rows.views
        self.painted.emit(tuple(views[row].key for row in self.visible_rows()))

    def visible_rows(self) -> range:
        """Return the visible rows, including partly visible ones."""
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
        """Make the speaker the first column, wide enough for all names; hidden at first."""
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

    def _fit_visible_rows(self) -> None:
        """Fit the visible rows to their true height; that may make others visible."""
        fitted = range(0)
        for _ in range(3):
            seen = self.visible_rows()
            for row in seen:
                if row not in fitted:
                    self.resizeRowToContents(row)
            fitted = seen
            if self._follows:
                self.scrollToBottom()

    @Slot()
    def _keep_newest_visible(self) -> None:
        if self._follows:
            bar = self.verticalScrollBar()
            bar.setValue(bar.maximum())

    @Slot()
    def _note_scrolling(self) -> None:
        bar = self.verticalScrollBar()
        self._follows = bar.sliderPosition() >= bar.maximum()

    @Slot(int)
    def _note_position(self, value: int) -> None:
        if value >= self.verticalScrollBar().maximum():
            self._follows = True
        elif not self._follows:
            self._fit_visible_rows()

    @Slot()
    def _copy(self) -> None:
        """Copy the selected rows, one line each, with a tab between columns."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        views = [self.rows.views[row] for row in rows]
        if views:
            lines = [f"{view.source}\t{view.caption}" for view in views]
            QGuiApplication.clipboard().setText("\n".join(lines))


class _Cell(QStyledItemDelegate):
    """Text aligned to the top of its cell, and to the side where its script begins."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Set the direction by the text instead of the window."""
        super().initStyleOption(option, index)
        leading = Qt.AlignmentFlag.AlignLeft
        if runs_right_to_left(option.text):
            option.direction = Qt.LayoutDirection.RightToLeft
            leading = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        option.displayAlignment = leading | Qt.AlignmentFlag.AlignTop

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Leave room above the text for taller scripts."""
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        _paint_tail_text(painter, cell, index.data(TAIL_ROLE) or 0, room=_PADDING // 2)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Add room above and below the text."""
        return super().sizeHint(option, index) + QSize(0, _PADDING)


def _paint_tail_text(
    painter: QPainter, option: QStyleOptionViewItem, n_tail: int, *, room: int = 0
) -> None:
    """Paint a cell as its style does, with the last ``n_tail`` characters paler.

    Lines begin ``room`` pixels below the top; letters taller than their line, as in Arabic, use it.
    """
    text, option.text = option.text, ""
    style = option.widget.style()
    style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
    option.text = text
    area = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
    margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, option.widget) + 1
    area.adjust(margin, 0, -margin, 0)
    chosen = bool(option.state & QStyle.StateFlag.State_Selected)
    role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
    layout = _make_layout(option, area.width(), n_tail)
    painter.save()
    painter.setClipRect(option.rect)
    painter.setPen(option.palette.color(role))
    layout.draw(painter, QPointF(area.left(), area.top() + room))
    painter.restore()


def _make_layout(option: QStyleOptionViewItem, width: int, n_tail: int) -> QTextLayout:
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
