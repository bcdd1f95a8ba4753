"""The history of sessions: storing, recovery after a crash, export; audio and video files."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from app.captions.cues import LATEST_S, Cue, spoken_cue
from app.captions.export import Times, export
from app.captions.journal import PastSession
from app.config.preferences import BOTH, FILE, THEM, CaptionPreferences, Preferences
from app.config.settings_in_force import SettingsInForce
from app.config.text_io import TextError
from app.config.translations import error_text, worded
from app.controllers.listening_controller import can_mend
from app.dialogs.export_dialog import ExportDialog
from app.dialogs.media_dialog import MediaChoice, MediaDialog
from app.dialogs.sessions import SessionsDialog, SessionWindow
from app.look.widgets.desktop import ask_open
from app.look.widgets.names import language_name
from app.main_window.window import MainWindow
from app.session.engine_bridge import EngineBridge
from app.session.history_writer import HistoryWriter
from app.session.listening_service import ListeningService
from engine.events import Configure, Event
from engine.messages import Message
from engine.models.resolve import POLICY_OF_RECORDINGS
from engine.utterances import Utterance, UtteranceTracker


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


_POLL_MS = 250
_FORESEEN_FROM_S = 3.0  # computing after which it is known how long the rest takes
_LONGEST_NAME = 40  # in the status line
_MOST_NAMES = 1000  # talk.srt, talk-2.srt ...
_KINDS = "*.mp3 *.m4a *.wav *.flac *.ogg *.opus *.aac *.wma *.mp4 *.mkv *.mov *.webm *.avi *.m4v"
_STEPS = (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop)


class MediaController(QObject):
    """Caption one file at a time, and write its subtitles when it has ended.

    One that is captioned as fast as it goes is a session of its own; at its own pace it is heard as
    the voices of others are.

    Signals:
        session_wanted(PastSession): show the captions of the file.
        model_damaged(str): a speech model cannot be loaded for what its files are; one sentence.
    """

    session_wanted = Signal(object)
    model_damaged = Signal(str)

    def __init__(
        self,
        settings: SettingsInForce,
        bridge: EngineBridge,
        service: ListeningService,
        window: MainWindow,
        writer: HistoryWriter,
    ) -> None:
        super().__init__(window)
        self._settings, self._service, self._window = settings, service, window
        self._bridge, self._writer = bridge, writer
        self.dialog = MediaDialog(window)
        self._choice: MediaChoice | None = None
        self._is_heard = False  # words of the file come
        self._cues = list[Cue]()
        self._took_s, self._end_s = 0.0, LATEST_S  # computing, without pauses; end of the file
        self._session: PastSession | None = None  # of the newest file
        self._timer = QTimer(self, interval=_POLL_MS)
        self._timer.timeout.connect(self._show_position)
        self._drop = FileDrop((window, window.typed_line), self)
        self._drop.dropped.connect(self._open)
        window.menu_actions.open_file.triggered.connect(self._ask)
        self.dialog.start_wanted.connect(self._start)
        self.dialog.stop_wanted.connect(service.stop_file)
        self.dialog.captions_wanted.connect(lambda: self.session_wanted.emit(self._session))
        service.file_lacks_model.connect(self._offer_model)
        service.file_began.connect(self._begin)
        service.file_noticed.connect(window.banner.show_notice)
        service.file_ended.connect(self._end)
        bridge.utterance_changed.connect(self._follow)
        bridge.apart_changed.connect(self._follow)
        bridge.paused_changed.connect(lambda paused: service.pause_file(paused=paused))

    @Slot()
    def _ask(self) -> None:
        kinds = self.tr("Audio and video ({});;All files (*)").format(_KINDS)
        path = ask_open(self._window, self.tr("Open an audio or video file"), kinds)
        if path:
            self._open(path)

    @Slot(object)
    def _open(self, path: Path) -> None:
        self.dialog.open_file(path, language_name(self._settings.languages[1]))

    @Slot(object)
    def _start(self, choice: MediaChoice) -> None:
        self._choice = choice
        self._cues = []
        for action in (self._window.menu_actions.microphone, self._window.menu_actions.system):
            action.setChecked(False)
        self._timer.start()
        self._took_s = 0.0
        if not choice.real_time:
            translation = replace(self._settings.translation, policy=POLICY_OF_RECORDINGS)
            self._bridge.send(Configure(translation))
        recognizer = self._settings.recognizer
        self._service.caption_file(choice.path, recognizer, real_time=choice.real_time)

    @Slot()
    def _offer_model(self) -> None:
        self._timer.stop()
        self._choice = None
        missing = self.tr("To caption speech, Surtitle needs a speech model")
        self.dialog.show_failure(missing, offers_models=True)

    @Slot()
    def _begin(self) -> None:
        self._is_heard = True
        self._end_s = self._service.file_position_s[1] or LATEST_S
        if self._choice is not None:  # its window may be closed
            name = self._choice.path.name
            short = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
            self._window.status.show_listening(self.tr("Captioning {}").format(short))

    @Slot(object, object)
    def _follow(self, event: Event, utterance: Utterance) -> None:
        """Keep the captions of the file, with the times of its own timeline."""
        cue = spoken_cue(event, utterance)
        if self._is_heard and utterance.lane in (FILE, THEM) and cue is not None:
            self._cues.append(replace(cue, speaker=""))

    @Slot()
    def _show_position(self) -> None:
        position_s, duration_s = self._service.file_position_s
        self._took_s += 0.0 if self._bridge.is_paused else _POLL_MS / 1000
        if position_s > 0:
            captioned_s = self._cues[-1].end_s if self._cues else 0.0
            left_s = time_left_s(self._took_s, captioned_s, duration_s)
            self.dialog.show_position(position_s, duration_s, left_s)

    @Slot(object)
    def _end(self, failure: Message | None) -> None:
        self._timer.stop()
        choice, self._choice, self._is_heard = self._choice, None, False
        if choice is None:
            return
        self._window.status.show_listening("")
        if not choice.real_time:
            self._bridge.send(Configure(self._settings.translation))
            self._cues.sort(key=lambda cue: cue.start_s)
            self._session = self._writer.keep_file(choice.path.name, self._cues)
        if failure is not None:
            is_damaged = can_mend(self._settings.recognizer, failure)
            self.dialog.show_failure(worded(failure), offers_models=is_damaged)
            if is_damaged:
                self.model_damaged.emit(worded(failure))
            return
        try:
            written = [self._write(choice.path, form) for form in choice.forms if self._cues]
        except TextError as error:
            self.dialog.show_failure(error_text(error))
        else:
            self.dialog.show_done(len(self._cues), written, apart=not choice.real_time)

    def _write(self, media: Path, form: str) -> Path:
        """Write subtitles beside a file; an existing file is never replaced."""
        path = _free_path(media, form)
        content = "both" if self._settings.mode == BOTH else "captions"
        export(path, self._cues, form, content, times=Times(end_s=self._end_s))
        return path


def time_left_s(took_s: float, captioned_s: float, duration_s: float) -> float:
    """Return how long the rest of a file takes, 0 while that is unknown.

    By what is captioned: where that takes longer than hearing, words that were heard wait for it.
    """
    if not captioned_s or took_s <= _FORESEEN_FROM_S:
        return 0.0
    return took_s / captioned_s * max(0.0, duration_s - captioned_s)


def _free_path(media: Path, form: str) -> Path:
    names = [f"{media.stem}.{form}"]
    names += [f"{media.stem}-{number}.{form}" for number in range(2, _MOST_NAMES)]
    paths = [media.with_name(name) for name in names]
    return next((path for path in paths if not path.exists()), paths[-1])


class FileDrop(QObject):
    """Accept one file of this computer on any of the widgets; other drops stay theirs.

    Signals:
        dropped(Path): this file was dropped.
    """

    dropped = Signal(Path)

    def __init__(self, widgets: Sequence[QWidget], parent: QObject) -> None:
        super().__init__(parent)
        for widget in widgets:
            widget.setAcceptDrops(True)
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _STEPS and isinstance(event, QDropEvent):
            path = _file_in(event)
            if path is not None:
                event.acceptProposedAction()
                if event.type() == QEvent.Type.Drop:
                    self.dropped.emit(path)
                return True
        return super().eventFilter(watched, event)


def _file_in(event: QDropEvent) -> Path | None:
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return paths[0] if len(paths) == 1 and paths[0].is_file() else None
