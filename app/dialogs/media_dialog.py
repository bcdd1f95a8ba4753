"""The window that captions an audio or video file: its pace, subtitles beside it, and progress."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app.dialogs.setup.pages import heading_of, scrolled
from app.look.style_sheet import GAP, make_primary
from app.look.widgets.desktop import open_folder
from app.look.widgets.dialog_text import (
    as_sentence,
    breakable,
    bring_up,
    exchange,
    paragraph,
    push_button,
    quiet,
)

_WIDTH, _HEIGHT = 560, 420
_STEPS = 1000
_END_S = 0.5  # what is left of a file that was read to its end, by its head


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaChoice:
    """The choices for a file.

    Attributes:
        real_time: caption it at its own pace.
        forms: subtitles to write beside it, of ``app.captions.export.SUBTITLES``.
    """

    path: Path
    real_time: bool
    forms: tuple[str, ...]


class MediaDialog(QDialog):
    """Choices for a file; while it runs its progress, then what was written.

    Signals:
        start_wanted(MediaChoice): caption the file.
        stop_wanted(): stop; what was read is still captioned.
        speech_wanted(): show the speech models.
        captions_wanted(): show the captions of the file.
    """

    start_wanted = Signal(object)
    stop_wanted = Signal()
    speech_wanted = Signal()
    captions_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Caption a file"))
        self._path = Path()
        self.is_running = False
        self.heading = heading_of("")
        self.fast = QRadioButton(self.tr("As &fast as possible"))
        self.slow = QRadioButton(self.tr("In real tim&e"))
        self.fast.setChecked(True)
        self.note = quiet("")
        self.boxes = {
            "srt": QCheckBox(self.tr("S&RT, for video players")),
            "vtt": QCheckBox(self.tr("&WebVTT, for web pages")),
        }
        self.boxes["srt"].setChecked(True)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName(self.tr("Progress of the file"))
        self.message = paragraph()
        self.start, self.stop = push_button(self.tr("&Start")), push_button(self.tr("S&top"))
        self.speech = push_button(self.tr("Speech &model…"))
        self.folder = push_button(self.tr("&Open folder"), "folder-open")
        self.show_captions = push_button(self.tr("Show c&aptions"))
        self.leave = push_button(self.tr("C&lose"))
        self._lay_out()
        self._offer(self.start)
        self.start.clicked.connect(self._start)
        self.stop.clicked.connect(self.stop_wanted)
        self.speech.clicked.connect(self.speech_wanted)
        self.folder.clicked.connect(self._open_folder)
        self.show_captions.clicked.connect(self.captions_wanted)
        self.leave.clicked.connect(self.close)

    def open_file(self, path: Path, language: str) -> None:
        """Offer to caption a file in a language; a running one is not disturbed."""
        if not self.is_running:
            self._path = path
            note = self.tr(
                "Captions in {}, as a session of their own; in real time they stand in the "
                "transcript and the overlay."
            )
            self.note.setText(note.format(language))
            self.heading.setText(breakable(path.name))
            self._show(running=False)
            self.show_message("")
        bring_up(self)
        self.start.setFocus()

    def show_position(self, position_s: float, duration_s: float, left_s: float) -> None:
        self.progress.setRange(0, _STEPS if duration_s else 0)
        self.progress.setValue(round(_STEPS * min(1.0, position_s / max(duration_s, 1e-9))))
        text = self.tr("{} of {} heard.").format(_clock(position_s), _clock(duration_s))
        if not duration_s:
            text = self.tr("{} heard.").format(_clock(position_s))
        elif position_s > duration_s - _END_S:
            text = self.tr("Finishing the last captions…")
        elif left_s:
            text = self.tr("{} of {} heard, about {} left.").format(
                _clock(position_s), _clock(duration_s), _clock(left_s)
            )
        self.show_message(text)

    def show_message(self, text: str) -> None:
        self.message.setText(breakable(as_sentence(text)))
        self.message.setVisible(bool(text))

    def show_done(self, n_captions: int, written: Sequence[Path], *, apart: bool) -> None:
        """Show that the file is captioned, and what was written; ``apart``: in its own session."""
        self._show(running=False)
        text = self.tr("%Ln captions are in the transcript.", "", n_captions)
        if apart:
            text = self.tr("%Ln captions, in a session of their own.", "", n_captions)
        self.show_captions.setVisible(apart and n_captions > 0)
        if written:
            names = ", ".join(path.name for path in written)
            text = f"{text} {self.tr('Written beside the file: {}.').format(names)}"
        self.show_message(text)
        self.folder.setVisible(bool(written))
        self.start.setText(self.tr("&Start"))
        self._offer(self.leave)  # Enter does not do it all again

    def show_failure(self, message: str, *, offers_models: bool = False) -> None:
        """Show why the file cannot be captioned; offer to try again, or with another model."""
        self._show(running=False)
        self.show_message(message)
        self.start.setText(self.tr("&Try again"))
        self.speech.setVisible(offers_models)

    def reject(self) -> None:
        super().reject()
        if self.is_running:
            self.stop_wanted.emit()

    def _lay_out(self) -> None:
        content = QWidget()
        rows = QVBoxLayout(content)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(2 * GAP)
        rows.addWidget(self.heading)
        rows.addWidget(self.note)
        rows.addWidget(self.fast)
        rows.addWidget(self.slow)
        rows.addWidget(paragraph(self.tr("Write subtitles beside the file:")))
        for box in self.boxes.values():
            rows.addWidget(box)
        rows.addStretch(1)
        others_row, row = QHBoxLayout(), QHBoxLayout()
        for button in (self.show_captions, self.folder, self.speech):
            others_row.addWidget(button)
        others_row.addStretch(1)
        row.addStretch(1)
        for button in (self.start, self.stop, self.leave):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[6 * GAP] * 4)
        column.setSpacing(4 * GAP)
        column.addWidget(scrolled(content), 1)
        column.addWidget(self.progress)
        column.addWidget(self.message)  # it is read without scrolling
        column.addLayout(others_row)
        column.addLayout(row)
        self.resize(_WIDTH, _HEIGHT)

    def _offer(self, button: QPushButton) -> None:
        """Let Enter press a button, and show it."""
        for one in (self.start, self.leave):
            make_primary(one, primary=one is button)
        button.setDefault(True)
        if self.start.hasFocus():
            button.setFocus()

    def _show(self, *, running: bool) -> None:
        self.is_running = running
        self._offer(self.start)
        for choice in (self.fast, self.slow, *self.boxes.values()):
            choice.setEnabled(not running)
        buttons = self.start, self.stop
        exchange(*(buttons if running else reversed(buttons)))
        self.progress.setVisible(running)
        for button in (self.folder, self.speech, self.show_captions):
            button.hide()

    @Slot()
    def _start(self) -> None:
        forms = tuple(form for form, box in self.boxes.items() if box.isChecked())
        self._show(running=True)
        self.progress.setRange(0, 0)
        self.show_message(self.tr("Loading the speech model…"))
        real_time = self.slow.isChecked()
        self.start_wanted.emit(MediaChoice(path=self._path, real_time=real_time, forms=forms))

    @Slot()
    def _open_folder(self) -> None:
        failure = open_folder(self._path.parent)
        if failure:
            self.show_message(failure)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
