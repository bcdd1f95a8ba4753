"""The line for typed input: keys become committed words by the rules of ``typed_draft``."""

import re
import time

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from app.captions.typed_draft import Draft, Words

_LINE_END = re.compile(r"[\r\n\u2028\u2029]+")
_LONGEST_TEXT = 1_000_000  # Qt would cut a pasted text at 32,767 characters without a word


class InputLine(QLineEdit):
    """A line to type or paste into.

    Signals:
        words_changed(tuple of str): these are the committed words of the line now.
        finished(): the line is done, its words were told; it is empty again.
    """

    words_changed = Signal(tuple)
    finished = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._draft = Draft()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self.setMaxLength(_LONGEST_TEXT)
        self.setPlaceholderText(self.tr("Type or paste here; Enter ends the line"))
        self.setAccessibleName(self.tr("Text to translate"))
        self._timer.timeout.connect(self._wake)
        self.textChanged.connect(self._take_text)
        self.cursorPositionChanged.connect(self._take_caret)
        self.returnPressed.connect(self.finish)

    @Slot()
    def discard(self) -> None:
        """Empty the line as if it had never been typed; undo brings the text back."""
        self._draft.begin()
        self.blockSignals(True)  # noqa: FBT003  Qt's own
        self._empty()
        self.blockSignals(False)  # noqa: FBT003
        self._schedule()

    def _empty(self) -> None:
        self.selectAll()
        self.insert("")

    @Slot(str)
    def _take_text(self, text: str) -> None:
        *lines, rest = _LINE_END.split(text)
        if lines:
            self._take_lines(lines, rest)
        else:
            self._tell(self._draft.change(text, self.cursorPosition(), _now_ms()))

    def _take_lines(self, lines: list[str], rest: str) -> None:
        """End every line of a pasted text but the last one, which stays to be typed on."""
        for line in filter(str.strip, lines):
            self._tell(self._draft.change(line, len(line), _now_ms()))
            self._tell(self._draft.finish())
            self.finished.emit()
            self._draft.begin()
        self.selectAll()
        self.insert(rest)

    @Slot(int, int)
    def _take_caret(self, _before: int, caret: int) -> None:
        self._tell(self._draft.move(caret))

    @Slot()
    def _wake(self) -> None:
        self._tell(self._draft.wake(_now_ms()))

    @Slot()
    def finish(self) -> None:
        """End the line, whole as it stands; nothing where it is empty."""
        if self.text().strip():
            self._tell(self._draft.finish())
            self.finished.emit()
        self.discard()

    def _tell(self, words: Words | None) -> None:
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
