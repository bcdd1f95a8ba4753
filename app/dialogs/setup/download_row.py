"""A download in a page: its progress in bytes, and buttons to start, cancel and repeat it."""

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.look.icons import icon
from app.look.style_sheet import GAP, make_primary
from app.look.widgets.dialog_text import as_sentence, paragraph, size_text

SILENT_MS = 8000
"""Without a byte; then that is said."""

_STEPS = 1000


class DownloadRow(QWidget):
    """A message, a bar of progress, and the buttons Download, Cancel and Choose a folder.

    After a failure the button Download says *Try again*: the download resumes.

    Signals:
        wanted(): start or resume the download.
        cancelled(): stop it.
        folder_wanted(): choose a folder instead.
    """

    wanted = Signal()
    cancelled = Signal()
    folder_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.is_running = False
        self.message = paragraph()
        keeping = self.message.sizePolicy()
        keeping.setRetainSizeWhenHidden(True)  # else what is below moves when a sentence comes
        self.message.setSizePolicy(keeping)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName(self.tr("Progress of the download"))
        self.download = QPushButton(icon("download", "on_accent", before_text=True), "")
        make_primary(self.download)
        self.cancel = QPushButton(self.tr("&Cancel"))
        self.folder = QPushButton(
            icon("folder-open", before_text=True), self.tr("Choose a f&older…")
        )
        row = QHBoxLayout()
        row.setSpacing(2 * GAP)
        for button in (self.download, self.cancel):
            row.addWidget(button)
        row.addWidget(self.progress, 1)
        row.addStretch(0)
        row.addWidget(self.folder)
        for button in (self.download, self.cancel, self.folder):
            button.setAutoDefault(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GAP)
        column.addWidget(self.message)
        column.addLayout(row)
        self.download.clicked.connect(self.wanted)
        self.cancel.clicked.connect(self.cancelled)
        self.folder.clicked.connect(self.folder_wanted)
        self._offer(self.tr("&Download"))
        self.silence = QTimer(self, singleShot=True, interval=SILENT_MS)
        self.silence.timeout.connect(self._tell_silence)
        self.show_message("")

    def hideEvent(self, event: QHideEvent) -> None:
        """Wait for nothing more."""
        super().hideEvent(event)
        self.silence.stop()

    def set_possible(self, *, possible: bool) -> None:
        """Enable or disable the start of a download."""
        self.download.setEnabled(possible)

    def show_message(self, text: str) -> None:
        """Show a sentence; no download is running."""
        self._offer(self.tr("&Download"))
        self._show(text, running=False)

    def show_contact(self, text: str) -> None:
        """Show that a download begins, without any byte so far."""
        self.progress.setRange(0, 0)
        self._show(text, running=True)

    def show_progress(self, name: str, done: int, total: int) -> None:
        """Show the downloaded and all bytes of a model."""
        self.progress.setRange(0, _STEPS)
        self.progress.setValue(round(_STEPS * done / max(total, 1)))
        text = self.tr("{}: {} of {} downloaded.")
        self._show(text.format(name, size_text(done), size_text(total)), running=True)

    def show_failure(self, message: str) -> None:
        """Show why a download ended; an empty message means that the user cancelled it."""
        stopped = self.tr("Download stopped. It will resume from here next time.")
        self._show(as_sentence(message) or stopped, running=False)
        self._offer(self.tr("&Try again") if message else self.tr("&Download"))

    @Slot()
    def _tell_silence(self) -> None:
        """Show that nothing comes, before the connection is given up."""
        waiting = self.tr("nothing arrives at the moment")
        self.message.setText(f"{self.message.text()} – {waiting}")

    def _offer(self, text: str) -> None:
        self.download.setText(text)

    def _show(self, text: str, *, running: bool) -> None:
        self.is_running = running
        if running:
            self.silence.start()
        else:
            self.silence.stop()
        self.message.setText(text)
        self.message.setVisible(bool(text))
        self.progress.setVisible(running)
        gone, there = self.download, self.cancel
        if not running:
            gone, there = there, gone
        has_focus = gone.hasFocus()
        there.show()
        if has_focus:  # else the next button would have it, and Enter would choose a folder
            there.setFocus()
        gone.hide()
