"""The page before the first caption: the one obvious first step."""

from PySide6.QtCore import QCoreApplication, QLocale, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.widgets.dialog_text import paragraph
from engine.hub.catalogue import WHISPER_MEGABYTES

_GAP = 12


class EmptyPage(QFrame):
    """A hint, and an offer to download the speech model while there is none.

    Signals:
        download_clicked(): download the chosen speech model.
        others_clicked(): choose another speech model.
    """

    download_clicked = Signal()
    others_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("empty_page")
        self.hint = _centred(self.tr("Switch on the microphone or computer sound, or type below."))
        self.need = _centred("")
        self.download = QPushButton(self.tr("&Download"))
        self.others = QPushButton(self.tr("Choose a&nother…"))
        self.offer = QWidget()
        buttons = QHBoxLayout()
        for part in (None, self.download, self.others, None):
            buttons.addStretch() if part is None else buttons.addWidget(part)
        inner = QVBoxLayout(self.offer)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(_GAP)
        inner.addWidget(self.need)
        inner.addLayout(buttons)
        column = QVBoxLayout(self)
        column.setSpacing(2 * _GAP)
        column.addStretch()
        column.addWidget(self.hint)
        column.addWidget(self.offer)
        column.addStretch()
        self.offer.hide()
        self.download.clicked.connect(self.download_clicked)
        self.others.clicked.connect(self.others_clicked)

    def show_missing(self, recognizer: str) -> None:
        """Offer to download a speech model; empty if there is one on this computer."""
        self.need.setText(needs_speech_model(recognizer))
        self.offer.setVisible(bool(recognizer))


def needs_speech_model(recognizer: str) -> str:
    """Return the sentence that asks for a speech model, with its size if that is known."""
    megabytes = WHISPER_MEGABYTES.get(recognizer)
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
