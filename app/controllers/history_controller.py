"""The history of sessions: storing, recovery after a crash, export."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from app.captions.journal import PastSession
from app.config.preferences import BOTH, PrivacyPreferences
from app.dialogs.export_dialog import ExportDialog
from app.dialogs.sessions import SessionsDialog, SessionWindow
from app.main_window.banner import Offer
from app.session.history_writer import HistoryWriter
from engine.utterances import UtteranceTracker


class HistoryController(QObject):
    """Connects the history with the windows that show it."""

    def __init__(
        self,
        folder: Path,
        choices: PrivacyPreferences,
        utterances: UtteranceTracker,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self.keeper = HistoryWriter(folder, choices, utterances, self)
        self.export_dialog = ExportDialog(window)
        self.session_window = SessionWindow(window)
        self.sessions_dialog = SessionsDialog(
            self.keeper.sessions_folder, lambda: self.keeper.running_journal, window
        )
        self._exports_running = False
        self.keeper.cues_changed.connect(self._follow)
        self.sessions_dialog.show_wanted.connect(self.session_window.show_session)
        self.session_window.resume_wanted.connect(self.sessions_dialog.close)
        for one in (self.sessions_dialog, self.session_window):
            one.export_wanted.connect(self._export_session)

    def offer(self) -> tuple[str, tuple[Offer, ...]] | None:
        """Return what to say after a crash and what to offer then, or None."""
        lost, damaged = self.keeper.lost_session, self.keeper.damaged_session
        if lost is not None:
            text = self.tr(
                "The session of {:%Y-%m-%d %H:%M} ended unexpectedly; its captions are kept"
            ).format(lost.begun)
            if lost.damaged_lines:
                text += self.tr(", but %Ln lines cannot be read", "", lost.damaged_lines)
            return text, ((self.tr("&Show them"), self.recover),)
        if damaged is not None:
            text = self.tr("A session is damaged, and no caption in it can be read: {}")
            return text.format(damaged.path), ()
        return None

    @Slot()
    def recover(self) -> None:
        lost = self.keeper.take_lost_session()
        if lost is not None:
            self.session_window.show_session(lost)

    def use_mode(self, mode: str, second: str = "") -> None:
        """Let journal and export follow the mode of the captions, and their second language."""
        self.keeper.use_further(*filter(None, (second,)))
        content = self.export_dialog.content
        content.setCurrentIndex(content.findData("both" if mode == BOTH else "captions"))

    @Slot()
    def export(self) -> None:
        """Open the export dialog for the captions of the running session, which it follows."""
        self._exports_running = True
        self.export_dialog.show_cues(self.keeper.cues, self.keeper.started)

    @Slot()
    def show_sessions(self) -> None:
        self.sessions_dialog.open_list()

    def close(self) -> None:
        self.export_dialog.close()
        self.session_window.close()
        self.sessions_dialog.close()
        self.keeper.close()

    @Slot(object)
    def _export_session(self, session: PastSession) -> None:
        self._exports_running = False
        self.export_dialog.show_cues(session.cues, session.started)

    @Slot()
    def _follow(self) -> None:
        if self._exports_running and self.export_dialog.isVisible():
            self.export_dialog.follow(self.keeper.cues, self.keeper.started)
