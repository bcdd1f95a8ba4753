"""The page before the first caption: the one obvious first step."""

from PySide6.QtCore import QCoreApplication, QLocale, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSpacerItem,
    QVBoxLayout,
    QWidget,
)

from app.look.icons import icon
from app.look.style_sheet import make_primary
from app.look.widgets.dialog_text import paragraph
from engine.hub.catalogue import SPEECH_MEGABYTES

_GAP, _SIDE = 12, 32
_TOP = 72  # pixels above; in the middle a banner below would move all
_POINTS_LARGER = 3


class EmptyPage(QWidget):
    """A hint, and an offer to download the speech model while there is none.

    Signals:
        download_clicked(): download the chosen speech model.
        others_clicked(): choose another speech model.
    """

    download_clicked = Signal()
    others_clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.hint = _centred("")
        self.show_hint(listens=False, paused=False)
        font = self.hint.font()
        font.setPointSize(font.pointSize() + _POINTS_LARGER)
        self.hint.setFont(font)
        self.need = _centred("")
        self.download = QPushButton(self.tr("&Download"))
        make_primary(self.download)
        self.others = QPushButton(self.tr("Choose a&nother…"))
        self.offer = QWidget()
        buttons = QHBoxLayout()
        for part in (None, self.download, self.others, None):
            buttons.addStretch() if part is None else buttons.addWidget(part)
        inner = QVBoxLayout(self.offer)
        inner.setContentsMargins(0, _GAP, 0, 0)
        inner.setSpacing(_GAP)
        inner.addWidget(self.need)
        inner.addLayout(buttons)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        fixed, shrinks = QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum
        column.addItem(QSpacerItem(0, _TOP, fixed, shrinks))
        column.addWidget(_Signs())
        column.addWidget(self.hint)
        column.addWidget(self.offer)
        column.addStretch()
        self._is_missing = self._is_elsewhere = False
        self._show_offer()
        self.download.clicked.connect(self.download_clicked)
        self.others.clicked.connect(self.others_clicked)

    def heightForWidth(self, width: int) -> int:
        """Return the least height: a stack of pages never makes one lower than this."""
        return self._column.minimumHeightForWidth(width)

    def show_hint(self, *, listens: bool, paused: bool) -> None:
        """Show what can be done now: while a source is on, and while the captions are paused."""
        text = self.tr("Switch on the microphone or computer sound, or type below.")
        if listens:
            text = self.tr("Captions appear here as soon as something is said.")
        if paused:
            text = self.tr("Paused. Click Resume to go on.")
        self.hint.setText(text)

    def show_missing(self, recognizer: str) -> None:
        """Offer to download a speech model; empty if there is one on this computer."""
        self.need.setText(needs_speech_model(recognizer))
        self._is_missing = bool(recognizer)
        self._show_offer()

    def show_offered_elsewhere(self, *, is_elsewhere: bool) -> None:
        """Offer nothing while the banner offers the same."""
        self._is_elsewhere = is_elsewhere
        self._show_offer()

    def _show_offer(self) -> None:
        self.offer.setVisible(self._is_missing and not self._is_elsewhere)

    def show_fetching(self, *, is_on: bool) -> None:
        """Show that a speech model is being downloaded, or not any more."""
        self.offer.setEnabled(not is_on)


class _Signs(QWidget):
    """The icons of the two sources, in quiet colours."""

    def __init__(self) -> None:
        super().__init__()
        self._icons = icon("mic", "quiet"), icon("volume-2", "quiet")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def sizeHint(self) -> QSize:
        """Ask for the room of the icons; in a low window they are left out."""
        return QSize(2 * _SIDE + _GAP, _SIDE + _GAP)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  all of it is painted
        """Paint the icons side by side, if there is room."""
        if self.height() < _SIDE:
            return
        painter = QPainter(self)
        left = (self.width() - 2 * _SIDE - _GAP) // 2
        for number, one in enumerate(self._icons):
            one.paint(painter, QRect(left + number * (_SIDE + _GAP), 0, _SIDE, _SIDE))


def needs_speech_model(recognizer: str) -> str:
    """Return the sentence that asks for a speech model, with its size if that is known."""
    megabytes = SPEECH_MEGABYTES.get(recognizer)
    if megabytes is None:
        told = QCoreApplication.translate(
            "SpeechModel", "To caption speech, Surtitle needs the speech model {} (once)."
        )
        return told.format(recognizer)
    told = QCoreApplication.translate(
        "SpeechModel", "To caption speech, Surtitle needs a speech model ({} MB, once)."
    )
    return told.format(QLocale().toString(megabytes))


def _centred(text: str) -> QLabel:
    label = paragraph(text)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    return label
