"""An earlier session, to be read again and exported; it has nothing to do with the one of now."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from app.captions.model import UtteranceView
from app.history.journal import PastSession
from app.main_window.transcript_view import Transcript
from app.widgets.dialog_text import close_button

MOST_SHOWN = 10_000
"""Rows, as in the transcript of now."""


class SessionWindow(QDialog):
    """Its captions in a table of its own.

    Signals:
        export_wanted(PastSession): it should be exported.
    """

    export_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Earlier session"))
        self._session: PastSession | None = None
        self.transcript, self.told = Transcript(), QLabel(wordWrap=True)
        buttons = close_button()
        role = QDialogButtonBox.ButtonRole.ActionRole
        self.export = buttons.addButton(self.tr("&Export…"), role)
        column = QVBoxLayout(self)
        for widget in (self.transcript, self.told, buttons):
            column.addWidget(widget)
        self.resize(760, 460)
        self.export.clicked.connect(self._export)
        buttons.rejected.connect(self.close)

    def show_session(self, session: PastSession) -> None:
        """Show its captions from the first one, or from the one that was marked."""
        self._session = session
        title = self.tr("Session of {:%Y-%m-%d %H:%M}").format(session.started)
        self.setWindowTitle(title)
        cues = session.cues[-MOST_SHOWN:]
        self.told.setText(
            self.tr("{:,} captions").format(len(cues))
            if len(cues) == len(session.cues)
            else self.tr("The last {:,} of {:,} captions; an export has all").format(
                len(cues), len(session.cues)
            )
        )
        self.transcript.show_views(())
        self.transcript.show_views(
            [
                UtteranceView(
                    key=key, source=cue.source, caption=cue.text, ended=True, lane=cue.speaker
                )
                for key, cue in enumerate(cues)
            ]
        )
        self.show()
        self.raise_()
        self.activateWindow()
        marked = next((row for row, cue in enumerate(cues) if cue.marked), None)
        self.transcript.mark_row(marked)
        self.transcript.go_to(marked or 0)

    @Slot()
    def _export(self) -> None:
        self.export_wanted.emit(self._session)
