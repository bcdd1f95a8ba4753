"""The progress of a download, with a button to cancel it; hidden without one."""

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton

from app.config.translations import filled

_STEPS = 1000
_MEGABYTE = 1_000_000
_SILENT_MS = 8000  # without a byte; then that is said


class DownloadBar(QFrame):
    """A sentence, a progress bar and a button.

    Signals:
        cancelled(): stop the download.
    """

    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.sentence = QLabel(wordWrap=True)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(240)
        self.cancel = QPushButton(self.tr("Ca&ncel"))
        self.cancel.setToolTip(self.tr("The download will resume from here next time"))
        row = QHBoxLayout(self)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.bar)
        row.addWidget(self.cancel)
        self.cancel.clicked.connect(self.cancelled)
        self.silence = QTimer(self, singleShot=True, interval=_SILENT_MS)
        self.silence.timeout.connect(self._tell_silence)
        self.hide()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.silence.stop()

    def show_stage(self, text: str, fraction: float | None) -> None:
        """Show a sentence and how much is done; None is unknown."""
        self.bar.setRange(0, 0 if fraction is None else _STEPS)
        if fraction is not None:
            self.bar.setValue(round(_STEPS * fraction))
        self._show(text)

    def show_progress(self, name: str, done: int, total: int) -> None:
        """Show the downloaded bytes; a total of 0 is unknown."""
        text = self.tr("Downloading {} from huggingface.co").format(name)
        self.bar.setRange(0, _STEPS if total else 0)
        if total:
            self.bar.setValue(_STEPS * done // total)
            megabytes = self.tr("{:,} of {:,} MB")
            text += ": " + filled(megabytes, done // _MEGABYTE, -(-total // _MEGABYTE))
        self._show(text)
        self.silence.start()

    @Slot()
    def _tell_silence(self) -> None:
        """Show that nothing comes, before the connection is given up."""
        waiting = self.tr("nothing arrives at the moment")
        self._show(f"{self.sentence.text()} – {waiting}")

    def _show(self, text: str) -> None:
        self.sentence.setText(text)
        self.bar.setAccessibleName(text)
        self.show()
