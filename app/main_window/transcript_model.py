"""The table model of the transcript; unchanged rows are not touched."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from PySide6.QtCore import (
    QAbstractTableModel,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTime,
    Signal,
)
from PySide6.QtGui import QColor, QGuiApplication, QPalette

from app.captions.model import UtteranceView, dotted, n_same_views
from app.config.preferences import MARKED, OFF, SIGN, with_sign
from app.look.icons import icon
from app.look.widgets.names import lane_colour, lane_name, language_name

SOURCE, CAPTION, SPEAKER, TIME = range(4)
TAIL_ROLE = Qt.ItemDataRole.UserRole
"""Number of characters at the end of a cell that are tentative."""

FOUND_ROLE = TAIL_ROLE + 1
"""Start and length of each match of the search in a cell."""

DOUBT_ROLE = FOUND_ROLE + 1
"""Whether a mark stands before a cell: the model is not sure of it."""

LANGUAGE_ROLE = DOUBT_ROLE + 1
"""The language of a caption as a short mark, such as PL, where the rows have several."""

SECOND_ROLE = LANGUAGE_ROLE + 1
"""Number of characters at the end of a caption that are in a second language."""

BELOW_ROLE = SECOND_ROLE + 1
"""The mark of that language; as ``LANGUAGE_ROLE``."""

_LANGUAGE_ROLES = (
    LANGUAGE_ROLE,
    BELOW_ROLE,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)

MOST_SHOWN = 4_000
"""Characters of a cell that are laid out; of a longer text these are its beginning and its end."""

_GAP = " … "
_SEVERAL = 2  # languages
_NEAR = 4  # rows above one whose speakers may have spoken at once with it
_MINUTE_S = 60.0

Index = QModelIndex | QPersistentModelIndex


class TranscriptModel(QAbstractTableModel):
    """Source, captions, speaker and time; a row for each utterance.

    Signals:
        speakers_came(): a second speaker was added, or one to whom the user gave a name.
        corrected(int, str): the source of the utterance of this key is to be this text.
    """

    speakers_came = Signal()
    corrected = Signal(int, str)

    def __init__(self, parent: QObject | None = None, *, read_only: bool = False) -> None:
        super().__init__(parent)
        self._read_only = read_only
        self.views: list[UtteranceView] = []
        self._lanes = set[str]()
        self._languages = dict[str, None]()  # codes of the captions' languages, in their order
        self._second = ""  # code of the language below the captions
        self._given: Mapping[str, str] = {}
        self._titles = (self.tr("Source"), self.tr("Captions"))
        self._captions_lead = True
        self._needle = ""
        self._bookmark = icon("bookmark-filled", "accent")
        self._doubt_mark = OFF

    @property
    def marked_rows(self) -> list[int]:
        return [row for row, view in enumerate(self.views) if view.marked]

    def show_titles(self, source: str, caption: str) -> None:
        """Name the columns; the source is quieter beside captions, if ``caption`` is not empty."""
        self._captions_lead = bool(caption)
        self._titles = source, caption or source
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, SOURCE, CAPTION)

    def show_second(self, language: str) -> bool:
        """Show a second language below the captions, none if empty; return whether it changed."""
        if language == self._second:
            return False
        self._second = language
        if self.views:
            last = self.index(len(self.views) - 1, CAPTION)
            self.dataChanged.emit(self.index(0, CAPTION), last)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, CAPTION, CAPTION)
        return True

    def mark_doubt(self, mark: str) -> None:
        """Mark doubtful captions from now on by one of ``DOUBT_MARKS``."""
        if mark != self._doubt_mark:
            self._doubt_mark = mark
            for row, view in enumerate(self.views):
                if view.doubtful:
                    self._emit_changed(row)

    def name_speakers(self, given: Mapping[str, str]) -> bool:
        """Use the names that the user gave, by lane; return whether they are others."""
        if given == self._given:
            return False
        self._given = given
        if self.views:
            last = self.index(len(self.views) - 1, SPEAKER)
            self.dataChanged.emit(self.index(0, SPEAKER), last)
        self._report_speakers()
        return True

    def speaker_name(self, lane: str) -> str:
        """Return the name of a speaker for people; empty for typed text."""
        return lane_name(lane, self._given)

    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Show these utterances with as few changes of rows as possible."""
        start = n_same_views(self.views, views)
        self._remove_others({view.key for view in views[start:]}, start)
        for row in range(start, len(views)):
            view = views[row]
            if row == len(self.views) or self.views[row].key != view.key:
                self.beginInsertRows(QModelIndex(), row, row)
                self.views.insert(row, view)
                self.endInsertRows()
            elif self.views[row] is not view:
                changes_next = self.views[row].begun_s != view.begun_s  # times of the next rows
                self.views[row] = view
                self._emit_changed(row, 1 + _NEAR if changes_next else 1)
        self._name_languages(views, start)
        n_lanes = len(self._lanes)
        self._lanes |= {view.lane for view in views[start:] if view.lane}
        if len(self._lanes) > n_lanes:
            self._report_speakers()

    def _name_languages(self, views: Sequence[UtteranceView], start: int) -> None:
        """Name every language in which a row is captioned at the head of the captions.

        With a second one, each row is marked with its own.
        """
        before = dict(self._languages)
        if not views:
            self._languages.clear()
        self._languages |= dict.fromkeys(one.language for one in views[start:] if one.language)
        if self._languages != before:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, CAPTION, CAPTION)
        if self.views and len(before) < _SEVERAL <= len(self._languages):
            last = self.index(len(self.views) - 1, CAPTION)
            self.dataChanged.emit(self.index(0, CAPTION), last)

    def _report_speakers(self) -> None:
        if len(self._lanes) > 1 or not self._lanes.isdisjoint(self._given):
            self.speakers_came.emit()

    @property
    def last_captioned(self) -> int:
        """The last row with a caption; 0 if none has one."""
        rows = range(len(self.views) - 1, -1, -1)
        return next((row for row in rows if self.views[row].caption), 0)

    def search(self, text: str) -> list[int]:
        """Highlight a text, ignoring case, and return the rows that contain it."""
        self._needle = text
        if self.views:
            last = self.index(len(self.views) - 1, CAPTION)
            self.dataChanged.emit(self.index(0, SOURCE), last, [FOUND_ROLE])
        needle = text.casefold()
        return [
            row
            for row, view in enumerate(self.views)
            if needle
            and any(needle in self._text(view, column).casefold() for column in (SOURCE, CAPTION))
        ]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.views)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return 4: source, caption, speaker and time."""
        return 0 if parent.isValid() else 4

    def is_editable(self, index: Index) -> bool:
        """Return whether the user may correct a cell: the source of a complete row."""
        if self._read_only or not index.isValid() or index.column() != SOURCE:
            return False
        view = self.views[index.row()]
        is_note = view.left_out_s > 0 and view.source == view.caption  # nobody said it
        return view.key >= 0 and view.ended and bool(view.source) and not is_note

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let what may be corrected be edited."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if self.is_editable(index) else flags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Report a corrected source; it is shown once it comes back as a view."""
        if role != Qt.ItemDataRole.EditRole or not self.is_editable(index):
            return False
        self.corrected.emit(self.views[index.row()].key, str(value))
        return True

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        view, column = self.views[index.row()], index.column()
        if view.doubtful and self._doubt_mark != OFF and column == CAPTION:
            return self._doubtful(view, role)
        if column == TIME and role == Qt.ItemDataRole.DisplayRole:
            return self._new_time(index.row())
        if column == SOURCE and role == Qt.ItemDataRole.EditRole:
            return view.source
        return self._data(view, column, role)

    def _data(self, view: UtteranceView, column: int, role: int) -> object:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._text(view, column)
        if role in (TAIL_ROLE, SECOND_ROLE):
            end, place = (dotted(view.tail), SOURCE)
            if role == SECOND_ROLE:
                end, place = (self._translation(view), CAPTION)
            return len(end) if column == place else 0
        if role == FOUND_ROLE:
            return self._matches(self._text(view, column)) if column in (SOURCE, CAPTION) else []
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(view, column)
        if role in _LANGUAGE_ROLES and column == CAPTION and len(self._languages) >= _SEVERAL:
            return self._languages_of(view, role)
        return self._sign(view, role, column)

    def _languages_of(self, view: UtteranceView, role: int) -> str:
        """Return the mark of one language of a row, or the names of all."""
        below = self._second if self._translation(view) else ""
        marks = {LANGUAGE_ROLE: view.language, BELOW_ROLE: below}
        if role in marks:
            return marks[role].upper()
        return " · ".join(language_name(code) for code in marks.values() if code)

    def _sign(self, view: UtteranceView, role: int, column: int) -> object:
        """Return what shows a bookmark, what explains italics, and what made a caption."""
        is_tip = role == Qt.ItemDataRole.ToolTipRole
        if is_tip and view.tail and column == SOURCE:
            return self.tr("Words in italics may still change")
        if view.marked and role == Qt.ItemDataRole.DecorationRole and column == TIME:
            return self._bookmark
        tips = (self.tr("Bookmark") if view.marked else "", view.made_by if column == TIME else "")
        return "\n".join(filter(None, tips)) or None if is_tip else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the title of a column; that of the captions may be cut, so a tool tip has it."""
        roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
        if orientation != Qt.Orientation.Horizontal or role not in roles:
            return None
        if section == CAPTION:
            return self._heading
        titles = {SPEAKER: self.tr("Speaker"), TIME: self.tr("Time"), SOURCE: self._titles[SOURCE]}
        return titles[section] if role == Qt.ItemDataRole.DisplayRole else None

    @property
    def _heading(self) -> str:
        """The names of all languages of the captions: of the rows, of those to come, the second."""
        title, second = self._titles[CAPTION], language_name(self._second)
        rows = (name for name in map(language_name, self._languages) if name != title)
        return " · ".join(filter(None, dict.fromkeys((*rows, title, second))))

    def _translation(self, view: UtteranceView) -> str:
        """Return the second language of a row, as it is shown."""
        return _shortened(self._second_of(view))

    def _second_of(self, view: UtteranceView) -> str:
        """Return the second language of a row, without the space that a model may end it with."""
        return view.translation(self._second).strip() if self._second else ""

    def captions_of(self, view: UtteranceView) -> list[str]:
        """Return the captions of a row in full, one for each language that is shown."""
        second = self._second_of(view)
        return [view.caption, second] if second else [view.caption]

    def _matches(self, text: str) -> list[tuple[int, int]]:
        if not self._needle:
            return []
        found = re.finditer(re.escape(self._needle), text, re.IGNORECASE)
        return [(match.start(), match.end() - match.start()) for match in found]

    def _colour(self, view: UtteranceView, column: int) -> QColor | None:
        if column == TIME or (column == SOURCE and self._captions_lead):
            return QGuiApplication.palette().color(QPalette.ColorRole.PlaceholderText)
        return lane_colour(view.lane) if column == SPEAKER else None

    def _doubtful(self, view: UtteranceView, role: int) -> object:
        """Return the data of a doubtful caption; screen readers read the sign in any case."""
        is_signed = self._doubt_mark == SIGN
        match role:
            case Qt.ItemDataRole.DisplayRole if is_signed:
                return self._signed(view)
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._signed(view)
            case Qt.ItemDataRole.ToolTipRole:
                return self.tr("The model is not sure of this caption")
            case _ if role == DOUBT_ROLE:
                return self._doubt_mark == MARKED
        return self._data(view, CAPTION, role)

    def _signed(self, view: UtteranceView) -> str:
        caption = with_sign(_shortened(view.caption))
        return "\n".join(filter(None, (caption, self._translation(view))))

    def _new_time(self, row: int) -> str:
        """Return the time of a row; empty if a row just above has that minute or a later one.

        Rows stand in the order in which they came; where two speak at once, the recogniser of one
        may be slower, and its row begins before the one above.
        """
        above = max((view.begun_s for view in self.views[max(0, row - _NEAR) : row]), default=0.0)
        begun_s = self.views[row].begun_s
        return time_text(begun_s) if begun_s // _MINUTE_S > above // _MINUTE_S else ""

    def _text(self, view: UtteranceView, column: int) -> str:
        if column == SPEAKER:
            return self.speaker_name(view.lane)
        if column == TIME:
            return time_text(view.begun_s)
        if column == CAPTION:
            return "\n".join(map(_shortened, self.captions_of(view)))
        return _shortened(" ".join(filter(None, (view.source, dotted(view.tail)))))

    def _remove_others(self, kept: set[int], start: int) -> None:
        """Remove rows from the end up, one run of neighbours at a time."""
        last = len(self.views) - 1
        while last >= start:
            first = last
            if self.views[last].key not in kept:
                while first > start and self.views[first - 1].key not in kept:
                    first -= 1
                self.beginRemoveRows(QModelIndex(), first, last)
                del self.views[first : last + 1]
                self.endRemoveRows()
            last = first - 1

    def _emit_changed(self, row: int, n_rows: int = 1) -> None:
        last = min(row + n_rows, len(self.views)) - 1
        self.dataChanged.emit(self.index(row, SOURCE), self.index(last, TIME))


def _shortened(text: str) -> str:
    """Leave out the middle of a text that would take long to lay out: its end is what grows."""
    half = MOST_SHOWN // 2
    return text if len(text) <= MOST_SHOWN else text[:half] + _GAP + text[-half:]


def time_text(begun_s: float) -> str:
    """Return the time of day as the system writes it; empty if it is not known."""
    if not begun_s:
        return ""
    begun = datetime.fromtimestamp(begun_s).astimezone()
    return QLocale().toString(QTime(begun.hour, begun.minute), QLocale.FormatType.ShortFormat)
