"""Captions as they come during a talk: an example that moves."""

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout

from app.look.style_sheet import GAP
from app.look.widgets.dialog_text import paragraph

_WORD_MS, _REST = 380, 6  # between two words; words' time before it begins again
_BEGUN = 6  # words when it is first seen
_LATE = 3  # words between what is said and its caption
_SAID = "Good morning everyone, and welcome to our meeting."
_CAPTIONS = {
    "de": "Guten Morgen zusammen und willkommen zu unserer Besprechung.",
    "es": "Buenos días a todos y bienvenidos a nuestra reunión.",
    "fr": "Bonjour à tous et bienvenue à notre réunion.",
}
_BIG = 1.3  # letters, of those of the window


class ExampleCaption(QFrame):
    """A box as that of the overlay, in which a sentence and its caption grow, word for word."""

    def __init__(self) -> None:
        super().__init__()
        self._said, self._caption, self._n_words = _SAID.split(), list[str](), _BEGUN
        self.said, self.caption = paragraph(), paragraph()
        font = self.caption.font()
        font.setPointSizeF(_BIG * font.pointSizeF())
        self.caption.setFont(font)
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * GAP, 2 * GAP, 3 * GAP, 2 * GAP)
        column.setSpacing(GAP)
        for line in (self.said, self.caption):
            line.setAccessibleName(self.tr("Example"))
            line.setMinimumHeight(line.fontMetrics().lineSpacing())
            column.addWidget(line)
        self._timer = QTimer(self, interval=_WORD_MS)
        self._timer.timeout.connect(self._go_on)
        self.show_language("de")

    def show_language(self, language: str) -> None:
        """Show the caption in a language; what is said alone where there is no example in it."""
        self._caption = _CAPTIONS.get(language, "").split()
        self.caption.setVisible(bool(self._caption))
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to move."""
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stand still."""
        super().hideEvent(event)
        self._timer.stop()

    @Slot()
    def _go_on(self) -> None:
        last = len(self._said) + _LATE + len(self._caption) + _REST
        self._n_words = (self._n_words + 1) % last
        self._show()

    def _show(self) -> None:
        self.said.setText(" ".join(self._said[: self._n_words + 1]))
        n_shown = max(0, self._n_words - _LATE)
        self.caption.setText(" ".join(self._caption[:n_shown]))
