"""The history of sessions: storing, recovery after a crash, export."""

from PySide6.QtCore import QObject, Slot

from app.captions.journal import PastSession
from app.config.preferences import BOTH, CaptionPreferences, Preferences
from app.config.settings_in_force import SettingsInForce
from app.dialogs.export_dialog import ExportDialog
from app.dialogs.sessions import SessionsDialog, SessionWindow
from app.main_window.window import MainWindow
from app.session.history_writer import HistoryWriter
from engine.utterances import UtteranceTracker


class HistoryController(QObject):
    """Connects the history with the windows that show it."""

    def __init__(
        self, settings: SettingsInForce, utterances: UtteranceTracker, window: MainWindow
    ) -> None:
        super().__init__(window)
        self._banner = window.banner
        choices = settings.preferences.privacy
        self.writer = HistoryWriter(settings.launch.data_folder, choices, utterances, self)
        self.export_dialog = ExportDialog(window)
        self.session_window = SessionWindow(window)
        self.sessions_dialog = SessionsDialog(
            self.writer.sessions_folder, lambda: self.writer.running_journal, window
        )
        self._exports_running = False
        self.writer.cues_changed.connect(self._follow)
        self.writer.failed.connect(window.banner.show_warning)
        window.menu_actions.export.triggered.connect(self.export)
        window.menu_actions.recover.triggered.connect(self.sessions_dialog.open_list)
        settings.preferences_changed.connect(self._use)
        self._dress(settings.preferences)
        self._use_mode(settings.preferences.captions)
        self.sessions_dialog.show_wanted.connect(self.session_window.show_session)
        self.session_window.resume_wanted.connect(self.sessions_dialog.close)
        for one in (self.sessions_dialog, self.session_window):
            one.export_wanted.connect(self._export_session)

    def offer_lost_session(self) -> None:
        """Report after a crash the session that it ended, and offer its captions."""
        lost, damaged = self.writer.lost_session, self.writer.damaged_session
        if lost is not None:
            text = self.tr(
                "The session of {:%Y-%m-%d %H:%M} ended unexpectedly; its captions are kept"
            ).format(lost.begun)
            if lost.damaged_lines:
                text += self.tr(", but %Ln lines cannot be read", "", lost.damaged_lines)
            self._banner.show_offer(text, "", (self.tr("&Show them"), self._recover))
        elif damaged is not None:
            text = self.tr("A session is damaged, and no caption in it can be read: {}")
            self._banner.show_offer(text.format(damaged.path))

    @Slot()
    def _recover(self) -> None:
        lost = self.writer.take_lost_session()
        if lost is not None:
            self.session_window.show_session(lost)

    @Slot(object, object)
    def _use(self, before: Preferences, now: Preferences) -> None:
        captions = now.captions
        if now.privacy != before.privacy:
            self.writer.use(now.privacy)
        if (captions.mode, captions.second) != (before.captions.mode, before.captions.second):
            self._use_mode(captions)
        self._dress(now)

    def _use_mode(self, captions: CaptionPreferences) -> None:
        self.writer.use_further(*filter(None, (captions.second_shown,)))
        content = self.export_dialog.content
        both = captions.mode == BOTH
        content.setCurrentIndex(content.findData("both" if both else "captions"))

    def _dress(self, now: Preferences) -> None:
        transcript, names = self.session_window.transcript, now.captions.speaker_names
        transcript.mark_doubt(now.captions.doubt)
        transcript.name_speakers(names)
        self.export_dialog.name_speakers(names)

    @Slot()
    def export(self) -> None:
        """Open the export dialog for the captions of the running session, which it follows."""
        self._exports_running = True
        self.export_dialog.show_cues(self.writer.cues, self.writer.started)

    def close(self) -> None:
        self.export_dialog.close()
        self.session_window.close()
        self.sessions_dialog.close()
        self.writer.close()

    @Slot(object)
    def _export_session(self, session: PastSession) -> None:
        self._exports_running = False
        self.export_dialog.show_cues(session.cues, session.started)

    @Slot()
    def _follow(self) -> None:
        if self._exports_running and self.export_dialog.isVisible():
            self.export_dialog.follow(self.writer.cues, self.writer.started)
