"""A window with the captions of an earlier session, to read and to export."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from app.captions.model import UtteranceView
from app.history.journal import PastSession
from app.main_window.transcript_view import Transcript
from app.widgets.dialog_text import bring_up, close_button, paragraph

MOST_SHOWN = 10_000
"""Rows, as in the transcript of the running session."""


class SessionWindow(QDialog):
    """The captions of an earlier session in a table.

    Signals:
        export_wanted(PastSession): export it.
    """

    export_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Earlier session"))
        self._session: PastSession | None = None
        self.transcript, self.message = Transcript(), paragraph()
        buttons = close_button()
        role = QDialogButtonBox.ButtonRole.ActionRole
        self.export = buttons.addButton(self.tr("&Export…"), role)
        column = QVBoxLayout(self)
        for widget in (self.transcript, self.message, buttons):
            column.addWidget(widget)
        self.resize(760, 460)
        self.export.clicked.connect(self._export)
        buttons.rejected.connect(self.close)

    def show_session(self, session: PastSession) -> None:
        """Show the captions from the first one, or from the marked one."""
        self._session = session
        self.setWindowTitle(self.tr("Session of {:%Y-%m-%d %H:%M}").format(session.started))
        cues = session.cues[-MOST_SHOWN:]
        self.message.setText(
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
                    key=key,
                    source=cue.source,
                    caption=cue.text,
                    ended=True,
                    lane=cue.speaker,
                    doubtful=cue.doubtful,
                )
                for key, cue in enumerate(cues)
            ]
        )
        bring_up(self)
        marked = next((row for row, cue in enumerate(cues) if cue.marked), None)
        self.transcript.mark_row(marked)
        self.transcript.go_to(marked or 0)

    @Slot()
    def _export(self) -> None:
        self.export_wanted.emit(self._session)
