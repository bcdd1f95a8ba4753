"""The lines of the window: typed text becomes words by ``typed_draft``; the search."""

import re
import time
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.captions.typed_draft import Draft, Words
from app.look.widgets.buttons import tool_button
from engine.text.sentences import committed_words

_LINE_END = re.compile(r"[\r\n\u2028\u2029]+")
LONGEST_TEXT = 20_000
"""Characters that the line takes; ``inputRejected`` is emitted where more were pasted."""


class InputLine(QLineEdit):
    """A line to type or paste into.

    Signals:
        words_changed(tuple of str): all committed words of the line.
        lines_pasted(tuple of tuple of str): the words of each line of a text but the last, all
            ended; those of the first one replace the words of the line so far.
        finished(): the line has ended, after its last ``words_changed``; it is empty again.
    """

    words_changed = Signal(tuple)
    lines_pasted = Signal(tuple)
    finished = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._draft = Draft()
        self._timer = QTimer(self, singleShot=True)
        self.setMaxLength(LONGEST_TEXT)
        self.show_use(translates=True)
        self._timer.timeout.connect(self._wake)
        self.textChanged.connect(self._take_text)
        self.cursorPositionChanged.connect(self._take_caret)
        self.returnPressed.connect(self.finish)

    def show_use(self, *, translates: bool) -> None:
        """Show whether typed text is translated, or captioned as it is."""
        hint = self.tr("Type or paste to caption; Enter ends the sentence")
        name = self.tr("Text to caption")
        if translates:
            hint = self.tr("Type or paste to translate; Enter ends the sentence")
            name = self.tr("Text to translate")
        self.setPlaceholderText(hint)
        self.setAccessibleName(name)

    @Slot(str)
    def _take_text(self, text: str) -> None:
        *lines, rest = _LINE_END.split(text)
        if lines:
            self._take_lines(lines, rest)
        else:
            self._emit_words(self._draft.change(text, self.cursorPosition(), _now_ms()))

    def _take_lines(self, lines: list[str], rest: str) -> None:
        """Commit every line of a pasted text but the last one, which stays in the input line."""
        self._draft.begin()
        whole = (tuple(committed_words(one, finished=True)) for one in lines if one.strip())
        self.lines_pasted.emit(tuple(whole))
        self.setText(rest)  # cannot be undone: the lines before it are captions now

    @Slot(int, int)
    def _take_caret(self, _before: int, caret: int) -> None:
        self._emit_words(self._draft.move(caret))

    @Slot()
    def _wake(self) -> None:
        self._emit_words(self._draft.wake(_now_ms()))

    @Slot()
    def finish(self) -> None:
        """Commit the whole line; an empty one is ignored."""
        if self.text().strip():
            self._emit_words(self._draft.finish())
            self.finished.emit()
        self._draft.begin()
        with QSignalBlocker(self):
            self.setText("")  # cannot be undone: a sentence that comes back is said twice
        self._schedule()

    def _emit_words(self, words: Words | None) -> None:
        self._schedule()
        if words is not None:
            self.words_changed.emit(words)

    def _schedule(self) -> None:
        due_ms = self._draft.due_ms
        if due_ms is None:
            self._timer.stop()
        else:
            self._timer.start(max(0, due_ms - _now_ms()))


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class FindBar(QWidget):
    """A search field, hidden until ``open_bar``; Escape hides it again.

    Signals:
        wanted(str, int): go to a row with this text: 1 the next, -1 the one before, 0 the nearest.
        closed(): the bar was hidden; nothing is searched any more.
    """

    wanted = Signal(str, int)
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.line = QLineEdit(clearButtonEnabled=True)
        self.line.setAccessibleName(self.tr("Find in the transcript"))
        self.line.setPlaceholderText(self.tr("Find in the transcript"))
        self.up, self.down = QPushButton(self.tr("&Up")), QPushButton(self.tr("Do&wn"))
        self.close_button = tool_button("x", "", self.tr("Close the search"))
        self.answer = QLabel()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.line, 1)
        for widget in (self.answer, self.up, self.down, self.close_button):
            row.addWidget(widget)
        for signal, step in (
            (self.line.textChanged, 0),
            (self.line.returnPressed, -1),
            (self.up.clicked, -1),
            (self.down.clicked, 1),
        ):
            signal.connect(partial(self._search, step))
        self.close_button.clicked.connect(self.close_bar)
        self.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Hide the bar on Escape, and not the window around it."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)

    @Slot()
    def open_bar(self) -> None:
        """Show the bar, give it the focus, and search for the text before."""
        self.show()
        self.line.setFocus()
        self.line.selectAll()
        if self.line.text():
            self._search(0)

    @Slot()
    def close_bar(self) -> None:
        self.hide()
        self.closed.emit()

    def show_result(self, at: int, count: int) -> None:
        """Show which of the found rows is selected, and how many there are."""
        found = self.tr("{} of {}").format(at, self.locale().toString(count))
        nothing = self.tr("Not found") if self.line.text() else ""
        self.answer.setText(found if count else nothing)

    def _search(self, step: int, *_signal: object) -> None:
        self.wanted.emit(self.line.text(), step)
