"""Captions audio and video files: from the menu, or dropped on the window."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from app.captions.cues import LATEST_S, Cue, spoken_cue
from app.captions.export import Times, export
from app.config.preferences import BOTH, FILE, THEM
from app.config.settings_in_force import SettingsInForce
from app.config.text_io import TextError
from app.config.translations import error_text, worded
from app.controllers.recognizer_choice import can_mend
from app.dialogs.media_dialog import MediaChoice, MediaDialog
from app.look.widgets.desktop import ask_open
from app.look.widgets.names import language_name, speech_name
from app.main_window.window import MainWindow
from app.session.engine_bridge import EngineBridge
from app.session.history_writer import HistoryWriter
from app.session.listening_service import ListeningService
from engine.events import Configure, Event
from engine.messages import Message
from engine.models.resolve import POLICY_OF_RECORDINGS
from engine.utterances import Utterance

if TYPE_CHECKING:
    from app.captions.journal import PastSession

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
    """

    session_wanted = Signal(object)

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
        self._damaged = ""  # a speech model, of which the next try fetches what is damaged
        self._fetching = ""
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
        self.dialog.stop_wanted.connect(self._stop)
        self.dialog.captions_wanted.connect(lambda: self.session_wanted.emit(self._session))
        service.progressed.connect(self._show_fetch)
        service.fetched.connect(self._begin_after_fetch)
        service.fetch_failed.connect(self._end_fetch)
        service.file_lacks_model.connect(self._offer_model)
        service.file_began.connect(self._begin)
        service.file_noticed.connect(window.banner.show_notice)
        service.file_ended.connect(self._end)
        bridge.utterance_changed.connect(self._follow)
        bridge.apart_changed.connect(self._follow)
        bridge.paused_changed.connect(lambda paused: service.pause_file(paused=paused))

    def close(self) -> None:
        self.dialog.close()

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
        recognizer = self._settings.recognizer
        if recognizer == self._damaged:
            self._fetching = recognizer
            self.dialog.show_message(self.tr("Contacting huggingface.co…"))
            self._service.fetch(recognizer, again=True)
        else:
            self._caption(choice)

    def _caption(self, choice: MediaChoice) -> None:
        self._timer.start()
        self._took_s = 0.0
        if not choice.real_time:
            translation = replace(self._settings.translation, policy=POLICY_OF_RECORDINGS)
            self._bridge.send(Configure(translation))
        recognizer = self._settings.recognizer
        self._service.caption_file(choice.path, recognizer, real_time=choice.real_time)

    @Slot()
    def _stop(self) -> None:
        if self._fetching:
            self._service.cancel_fetch()
        else:
            self._service.stop_file()

    @Slot(str, object, object)
    def _show_fetch(self, recognizer: str, done: int, total: int) -> None:
        if recognizer == self._fetching:
            self.dialog.show_fetch(speech_name(recognizer), done, total)

    @Slot(str)
    def _begin_after_fetch(self, recognizer: str) -> None:
        """Caption the file with the speech model, which is whole again."""
        if recognizer == self._damaged:
            self._damaged = ""
        if recognizer == self._fetching and self._choice is not None:
            self._fetching = ""
            self._caption(self._choice)

    @Slot(str)
    def _end_fetch(self, message: str) -> None:
        if self._fetching:
            self._fetching, self._choice = "", None
            stopped = self.tr("Download stopped. It will resume from here next time.")
            self.dialog.show_failure(message or stopped, offers_models=True)

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
            recognizer = self._settings.recognizer
            self._damaged = recognizer if can_mend(recognizer, failure) else ""
            self.dialog.show_failure(worded(failure), offers_models=bool(self._damaged))
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
