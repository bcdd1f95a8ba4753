"""What was said and what can be done with it: kept, found again after a crash, exported."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.choices import PrivacyChoices
from app.export_dialog import ExportDialog
from app.session_journal import PastSession
from app.session_keeper import SessionKeeper
from app.sessions_dialog import SessionsDialog

_MOST_RESTORED = 10_000  # rows that the transcript keeps


class Archive(QObject):
    """The keeper of the session with the windows that show it.

    Signals:
        restored(list of (str, str, str)): source, caption and lane of an earlier session's, which
            should stand in the transcript again.
        mark_restored(int): which of them the person had marked.
    """

    restored = Signal(list)
    mark_restored = Signal(int)

    def __init__(self, folder: Path, choices: PrivacyChoices, window: QWidget) -> None:
        super().__init__(window)
        self.keeper = SessionKeeper(folder, choices, self)
        self.export_dialog = ExportDialog(window)
        self.sessions_dialog = SessionsDialog(self.keeper.sessions_folder, window)
        self.sessions_dialog.show_wanted.connect(self._restore)
        self.sessions_dialog.export_wanted.connect(self._export_session)

    def offer(self) -> tuple[str, str] | None:
        """Say what is offered after a crash, and what the button says; None where all is well."""
        lost = self.keeper.lost_session
        if lost is None:
            return None
        told = self.tr("The session of {:%Y-%m-%d %H:%M} did not end well; its captions are kept")
        return told.format(lost.started), self.tr("&Show them")

    @Slot()
    def recover(self) -> None:
        """Show the captions of the session that did not end well."""
        lost = self.keeper.take_lost_session()
        if lost is not None:
            self._restore(lost)

    @Slot()
    def export(self) -> None:
        """Ask where the captions of now should be written."""
        self.export_dialog.show_cues(self.keeper.cues, self.keeper.started)

    @Slot()
    def show_sessions(self) -> None:
        """List earlier sessions."""
        self.sessions_dialog.open_list()

    def close(self) -> None:
        """Close the windows and write what is left."""
        self.export_dialog.close()
        self.sessions_dialog.close()
        self.keeper.close()

    @Slot(object)
    def _restore(self, session: PastSession) -> None:
        cues = session.cues[-_MOST_RESTORED:]
        self.restored.emit([(cue.source, cue.text, cue.speaker) for cue in cues])
        for number, cue in enumerate(cues):
            if cue.marked:
                self.mark_restored.emit(number)

    @Slot(object)
    def _export_session(self, session: PastSession) -> None:
        self.export_dialog.show_cues(session.cues, session.started)
