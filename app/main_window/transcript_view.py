"""The transcript: time, speaker, source and captions, one row for each utterance.

Tentative words are in italics, before doubtful captions stands a mark. Only visible rows are
measured and painted, so a day of captions is as fast as a minute.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyle,
    QTableView,
)

from app.captions.model import UtteranceView
from app.config.preferences import CAPTIONS_ONLY, ME, THEM
from app.look.widgets.buttons import tool_button
from app.look.widgets.desktop import announce
from app.main_window.transcript_cell import PADDING, TranscriptCell, small
from app.main_window.transcript_model import (
    CAPTION,
    SOURCE,
    SPEAKER,
    TIME,
    TranscriptModel,
    time_text,
)

_POINTS_LARGER = 3
_NOON_S = 43_200.0  # any time of day is about as wide
_LEAST_WIDTH = 40
_STEP = 10  # percent of the text size
_SETTLED_MS = 300  # after the last move of a column's edge


class Transcript(QTableView):
    """A table that keeps the newest row visible, or the newest caption if many rows wait.

    Scrolling up stops that until the end is reached again or ``follow`` is called.

    Signals:
        painted(tuple of int): keys of the utterances painted in their current state.
        mark_wanted(int): set or remove the bookmark of the utterance of this key.
        delete_wanted(tuple of int): delete the utterances of these keys.
        size_wanted(int): the user turned the wheel for larger or smaller text, in percent.
        corrected(int, str): the source of the utterance of this key is to be this text.
        share_wanted(int): the user gave the source this share of the width of both texts, in
            percent.
        typed(str): a letter was typed here, for the line that takes words.

    Attributes:
        follows: the newest row is kept visible.
        to_newest: button at the end, shown while the newest row is not followed, unless the
            table is read only: nothing new comes there.
    """

    painted = Signal(tuple)
    mark_wanted = Signal(int)
    delete_wanted = Signal(tuple)
    size_wanted = Signal(int)
    share_wanted = Signal(int)
    corrected = Signal(int, str)
    typed = Signal(str)

    def __init__(self, *, read_only: bool = False) -> None:
        """Make an empty table; a ``read_only`` one can be read and copied only."""
        super().__init__()
        self.rows = TranscriptModel(self, read_only=read_only)
        self._read_only = read_only
        self.follows = True
        self._share = 0.5  # of the source in the width of both texts
        self._is_laying_out = False
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(lambda: self.share_wanted.emit(round(100 * self._share)))
        self.setModel(self.rows)
        self.setItemDelegate(TranscriptCell(self))
        self.setAccessibleName(self.tr("Transcript: source and captions"))
        self._points = self.font().pointSize() + _POINTS_LARGER
        tip = self.tr("Go to the newest caption and follow it")
        self.to_newest = tool_button("arrow-down-to-line", self.tr("Newest"), tip, self)
        self.to_newest.hide()
        self._dress()
        self._make_columns()
        self.show_size(100)
        for standard, act in (
            (QKeySequence.StandardKey.Copy, self.copy),
            (QKeySequence.StandardKey.Delete, self.delete),
        ):
            keys = QShortcut(QKeySequence(standard), self)
            keys.setContext(Qt.ShortcutContext.WidgetShortcut)
            keys.activated.connect(act)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
        self._connect()

    def _connect(self) -> None:
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._keep_newest_visible)
        bar.actionTriggered.connect(self._note_scrolling)
        bar.valueChanged.connect(self._note_position)
        self.to_newest.clicked.connect(self.follow)
        self.rows.speakers_came.connect(self._show_speakers)
        self.rows.corrected.connect(self.corrected)
        self.doubleClicked.connect(self._correct)
        self.horizontalHeader().sectionResized.connect(self._note_width)

    # rows

    @Slot(tuple)
    def show_views(self, views: Sequence[UtteranceView]) -> None:
        self.rows.show_views(views)
        self._keep_newest_visible()
        self._fit_visible_rows()
        self._keep_newest_visible()

    @property
    def keeps_its_end(self) -> bool:
        """Whether rows keep their distance from the lower edge, not from the upper one."""
        return self.follows and self.verticalScrollBar().maximum() > 0

    def mark_doubt(self, mark: str) -> None:
        self.rows.mark_doubt(mark)
        self._fit_visible_rows()

    def show_second(self, language: str) -> None:
        if self.rows.show_second(language):
            self._fit_visible_rows()

    @Slot()
    def follow(self) -> None:
        """Keep the newest row visible from now on."""
        self._set_follows(follows=True)
        self._keep_newest_visible()

    def go_to(self, row: int) -> None:
        """Scroll to a row and select it; stop following the newest one."""
        self._set_follows(follows=False)
        self.selectRow(row)
        # Twice, since rows get their true height only once they are visible.
        for _ in range(2):
            self.scrollTo(self.rows.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)
            self._fit_visible_rows()
        self._note_scrolling()

    def find_text(self, text: str, step: int) -> tuple[int, int]:
        """Highlight a text and go to a row that contains it.

        Args:
            text: an empty one is found nowhere.
            step: 1 for the next row, -1 for the one before, 0 for the current one or the next.

        Returns:
            which of the matching rows is selected, from 1, and how many there are; 0 without one.
        """
        found = self.rows.search(text)
        self.viewport().update()
        if not found:
            return 0, 0
        current = self.currentIndex().row()
        if step > 0 or (step == 0 and current >= 0):
            after = [row for row in found if row > current or (step == 0 and row == current)]
            row = after[0] if after else found[0]
        else:
            before = [row for row in found if row < current]
            row = before[-1] if before else found[-1]
        self.go_to(row)
        return found.index(row) + 1, len(found)

    def announce(self, lane: str, caption: str) -> None:
        """Let screen readers say a finished caption, behind its speaker where there are two."""
        name = "" if self.isColumnHidden(SPEAKER) else self.rows.speaker_name(lane)
        if caption.strip():
            announce(self, f"{name}: {caption.strip()}" if name else caption.strip())

    # bookmarks

    @property
    def row_to_mark(self) -> int | None:
        """The selected row if it is visible, else the newest one; None without a row."""
        current = self.currentIndex()
        rows = [row for row, view in enumerate(self.rows.views) if view.key >= 0]
        is_chosen = self.selectionModel().isSelected(current) and current.row() in rows
        if is_chosen and current.row() in self.visible_rows():
            return current.row()
        return rows[-1] if rows else None  # the others wait, or have tentative words only

    @Slot()
    def mark(self) -> None:
        """Set or remove the bookmark of the selected or newest row."""
        row = self.row_to_mark
        if row is not None:
            self.mark_wanted.emit(self.rows.views[row].key)

    def go_to_mark(self, step: int = 1) -> None:
        """Go to the next bookmark, or with a ``step`` of -1 to the one before."""
        marked, current = self.rows.marked_rows, self.currentIndex().row()
        if marked:
            ahead = [row for row in marked if (row > current if step > 0 else row < current)]
            end = 0 if step > 0 else -1
            self.go_to((ahead or marked)[end])

    # look

    def show_mode(self, mode: str, source: str, caption: str) -> None:
        """Show the columns of a mode, with the names of its languages."""
        self.setColumnHidden(CAPTION, mode == CAPTIONS_ONLY)
        self.rows.show_titles(source, "" if mode == CAPTIONS_ONLY else caption)
        self._share_width()

    def show_size(self, percent: int) -> None:
        """Set the size of the text; 100 percent is a little larger than other windows."""
        self._percent = percent
        font = self.font()
        font.setPointSizeF(self._points * percent / 100)
        self.setFont(font)
        height = self.fontMetrics().lineSpacing() + 2 * PADDING
        self.verticalHeader().setDefaultSectionSize(height)
        advance = self.fontMetrics().horizontalAdvance
        speakers = map(self.rows.speaker_name, (ME, THEM))
        figures = QFontMetrics(small(font))
        widths = {
            TIME: max(map(figures.horizontalAdvance, (time_text(_NOON_S), self._title(TIME)))),
            SPEAKER: max(map(advance, (*speakers, self._title(SPEAKER)))),
        }
        self._is_laying_out = True
        for column, width in widths.items():
            mark = self.style().pixelMetric(QStyle.PixelMetric.PM_SmallIconSize)
            room = 3 * PADDING + (mark if column == TIME else 0)
            self.horizontalHeader().resizeSection(column, width + room)
        self._is_laying_out = False
        self._share_width()
        self._fit_visible_rows()

    def show_share(self, percent: int) -> None:
        """Set the share of the source in the width of both texts, unless it is being changed."""
        if not self._settled.isActive() and percent != round(100 * self._share):
            self._share = percent / 100
            self._share_width()

    def name_speakers(self, given: Mapping[str, str]) -> None:
        if self.rows.name_speakers(given):
            self.show_size(self._percent)

    def _title(self, column: int) -> str:
        return str(self.rows.headerData(column, Qt.Orientation.Horizontal))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Hand letters on; the other keys move, mark and correct rows."""
        text = event.text()
        if event.key() == Qt.Key.Key_F2 and not event.modifiers():
            self._correct(self.currentIndex())
            return
        if not self._read_only and text.isprintable() and text.strip() and not is_shortcut(event):
            self.typed.emit(text)
            event.accept()
        else:
            super().keyPressEvent(event)
            self._note_scrolling()

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Let Home and End lead to the first and the last row: whole rows are selected."""
        ends = QAbstractItemView.CursorAction
        if action in {ends.MoveHome, ends.MoveEnd}:
            modifiers |= Qt.KeyboardModifier.ControlModifier
        return super().moveCursor(action, modifiers)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the text size with Ctrl, else scroll."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.size_wanted.emit(_STEP if event.angleDelta().y() > 0 else -_STEP)
            event.accept()
        else:
            super().wheelEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()
        self._fit_visible_rows()
        self._keep_newest_visible()
        self._put_button()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        views = self.rows.views
        self.painted.emit(tuple(views[row].key for row in self.visible_rows()))

    @Slot(object)
    def _correct(self, index: QModelIndex) -> None:
        source = self.rows.index(index.row(), SOURCE)
        if self.rows.is_editable(source):
            self.setCurrentIndex(source)
            self.edit(source)

    def visible_rows(self) -> range:
        """Return the visible rows, including partly visible ones."""
        first = self.rowAt(0)
        last = self.rowAt(self.viewport().height() - 1)
        if first < 0:
            return range(0)
        return range(first, (self.rows.rowCount() - 1 if last < 0 else last) + 1)

    def newest_area(self) -> QRect:
        """Return where the newest row is on the screen; nothing if it is out of sight."""
        row = self.rows.rowCount() - 1
        if row < 0 or not self.isVisible():
            return QRect()
        view = self.viewport()
        place = QRect(0, self.rowViewportPosition(row), view.width(), self.rowHeight(row))
        return (place & view.rect()).translated(view.mapToGlobal(QPoint()))

    def _dress(self) -> None:
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setShowGrid(False)
        self.setWordWrap(True)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(1)

    def _make_columns(self) -> None:
        """Put time and speaker first; the speaker is hidden until there are two."""
        header = self.horizontalHeader()
        header.moveSection(TIME, 0)
        header.moveSection(header.visualIndex(SPEAKER), 1)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setMinimumSectionSize(_LEAST_WIDTH)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setColumnHidden(SPEAKER, True)  # noqa: FBT003  Qt's own signature

    @Slot()
    def _show_speakers(self) -> None:
        self.setColumnHidden(SPEAKER, False)  # noqa: FBT003
        self._share_width()

    def _text_width(self) -> int:
        others = sum(
            self.columnWidth(one) for one in (TIME, SPEAKER) if not self.isColumnHidden(one)
        )
        return max(1, self.viewport().width() - others)

    def _share_width(self) -> None:
        self._is_laying_out = True
        share = 1.0 if self.isColumnHidden(CAPTION) else self._share
        width, header = self._text_width(), self.horizontalHeader()
        header.resizeSection(SOURCE, round(width * share))
        if share < 1:  # the header stretches it only when its own width changes
            header.resizeSection(CAPTION, width - round(width * share))
        self._is_laying_out = False

    @Slot(int, int, int)
    def _note_width(self, column: int, _before: int, width: int) -> None:
        if self._is_laying_out:
            return
        if column == SOURCE and not self.isColumnHidden(CAPTION):
            self._share = min(0.9, max(0.1, width / self._text_width()))
            self._settled.start()
        self._fit_visible_rows()

    def _fit_visible_rows(self) -> None:
        """Fit the visible rows to their true height; that may make others visible."""
        fitted = set[int]()
        while fresh := set(self.visible_rows()) - fitted:
            for row in sorted(fresh):
                self.resizeRowToContents(row)
            fitted |= fresh
            self.updateGeometries()  # else the range is that of the old heights for a while
            self._keep_newest_visible()

    # following

    def _set_follows(self, *, follows: bool) -> None:
        self.follows = follows
        self.to_newest.setVisible(not follows and not self._read_only)
        self._put_button()

    def _put_button(self) -> None:
        self.to_newest.adjustSize()
        area = self.viewport().geometry()
        size = self.to_newest.size()
        left = area.left() + (area.width() - size.width()) // 2
        self.to_newest.move(left, area.bottom() - size.height() - PADDING)

    @Slot()
    def _keep_newest_visible(self) -> None:
        """Show the end; while many rows wait for captions, the newest caption in the middle."""
        if not self.follows:
            return
        self.scrollToBottom()  # which lays new rows out
        row = self.rows.last_captioned
        if row < self.rows.rowCount() - 2 and not self.isColumnHidden(CAPTION):
            header = self.verticalHeader()
            end = header.sectionPosition(row) + header.sectionSize(row)
            height = self.viewport().height()
            if header.length() - end > height // 2:
                self.verticalScrollBar().setValue(end - height // 2)

    @Slot()
    def _note_scrolling(self) -> None:
        bar = self.verticalScrollBar()
        self._set_follows(follows=bar.sliderPosition() >= bar.maximum())

    @Slot(int)
    def _note_position(self, value: int) -> None:
        if value >= self.verticalScrollBar().maximum():
            self._set_follows(follows=True)
        elif not self.follows:
            self._fit_visible_rows()

    # menu

    @Slot(QPoint)
    def _open_menu(self, at: QPoint) -> None:
        row = self.indexAt(at).row()
        if row >= 0:
            if not self.selectionModel().isRowSelected(row):
                self.selectRow(row)
            self.make_menu(row).popup(self.viewport().mapToGlobal(at))

    def make_menu(self, row: int) -> QMenu:
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        view = self.rows.views[row]
        copy = menu.addAction(self.tr("&Copy"), self.copy)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        if not self.isColumnHidden(CAPTION):
            menu.addAction(self.tr("Copy &original"), self.copy_source)
            menu.addAction(self.tr("Copy &translation"), self.copy_captions)
        if not self._read_only and view.key >= 0:
            menu.addSeparator()
            if view.source:
                index = self.rows.index(row, SOURCE)
                correct = menu.addAction(self.tr("Co&rrect"), lambda: self.edit(index))
                correct.setShortcut(Qt.Key.Key_F2)
                correct.setEnabled(self.rows.is_editable(index))
            text = self.tr("Remove &bookmark") if view.marked else self.tr("&Bookmark")
            menu.addAction(text, lambda: self.mark_wanted.emit(view.key))
            delete = menu.addAction(self.tr("&Delete"), self.delete)
            delete.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
            delete.setEnabled(any(one.ended for one in self._chosen()))
        return menu

    def _chosen(self) -> list[UtteranceView]:
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.rows.views[row] for row in rows]

    @Slot()
    def delete(self) -> None:
        """Delete the selected rows that are complete."""
        keys = tuple(view.key for view in self._chosen() if view.ended)
        if keys and not self._read_only:
            self.delete_wanted.emit(keys)

    @Slot()
    def copy(self) -> None:
        """Copy the selected rows, one line each, with a tab between the languages."""
        self._copy_both(self._chosen())

    @Slot()
    def copy_all(self) -> None:
        self._copy_both(self.rows.views)

    @Slot()
    def copy_all_captions(self) -> None:
        """Copy the captions of all rows, one line each."""
        if self.isColumnHidden(CAPTION):
            self.copy_all()
        else:
            _copy([self._captions_of(view) for view in self.rows.views if view.caption])

    def _copy_both(self, views: Sequence[UtteranceView]) -> None:
        if self.isColumnHidden(CAPTION):
            _copy([view.source for view in views])
        else:
            _copy(["\t".join([view.source, *self.rows.captions_of(view)]) for view in views])

    def _captions_of(self, view: UtteranceView) -> str:
        return "\n".join(self.rows.captions_of(view))

    @Slot()
    def copy_source(self) -> None:
        _copy([view.source for view in self._chosen()])

    @Slot()
    def copy_captions(self) -> None:
        _copy([self._captions_of(view) for view in self._chosen()])


def is_shortcut(event: QKeyEvent) -> bool:
    """Return whether Ctrl, Alt or Meta make another thing of a key; AltGr makes letters."""
    held = event.modifiers()
    modifier = Qt.KeyboardModifier
    both = modifier.ControlModifier | modifier.AltModifier  # AltGr on Windows
    return bool(held & (both | modifier.MetaModifier)) and held & both != both


def _copy(lines: Sequence[str]) -> None:
    if lines:
        QGuiApplication.clipboard().setText("\n".join(lines))
