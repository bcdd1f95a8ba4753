"""Earlier sessions, read from their journals: a list to search, and a window to read one."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from app.captions.cues import Cue
from app.captions.export import further_languages
from app.captions.journal import PastSession, delete_session, past_sessions
from app.captions.model import UtteranceView
from app.config.preferences import BOTH, CAPTIONS_ONLY, SOURCE_LANGUAGE
from app.config.translations import filled, worded
from app.look.style_sheet import make_primary
from app.look.widgets.dialog_text import add_action, bring_up, close_button, paragraph
from app.look.widgets.names import language_name
from app.main_window.input_line import FindBar
from app.main_window.transcript_view import Transcript
from engine.errors import message_of

MOST_SHOWN = 10_000
"""Rows, as in the transcript of the running session."""

_CUES, _CHARACTERS = 5, 70  # of the first captions


class SessionWindow(QDialog):
    """The captions of an earlier session in a table.

    Signals:
        export_wanted(PastSession): export it.
        resume_wanted(PastSession): continue it.
    """

    export_wanted = Signal(object)
    resume_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Earlier session"))
        self._session: PastSession | None = None
        self.transcript, self.message = Transcript(read_only=True), paragraph()
        buttons = close_button()
        self.find_bar = FindBar()
        self.search = add_action(buttons, self.tr("&Find…"), self.find_bar.open_bar)
        self.export = add_action(buttons, self.tr("&Export…"), self._export)
        self.resume = add_action(buttons, self.tr("&Continue this session"), self._resume)
        column = QVBoxLayout(self)
        for widget in (self.find_bar, self.transcript, self.message, buttons):
            column.addWidget(widget)
        self.resize(760, 460)
        self.find_bar.wanted.connect(self._find)
        self.find_bar.closed.connect(self._end_search)
        keys = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        keys.activated.connect(self.find_bar.open_bar)
        buttons.rejected.connect(self.close)

    def show_session(self, session: PastSession, search: str = "") -> None:
        """Show the captions from the first one, the first bookmark, or where a text is found."""
        self._session = session
        title = self.tr("Session of {:%Y-%m-%d %H:%M}").format(session.begun)
        of_file = self.tr("Captions of {}").format(session.name)
        self.setWindowTitle(of_file if session.name else title)
        self.resume.setVisible(not session.name)
        cues = session.cues[-MOST_SHOWN:]
        self.message.setText(
            self.tr("%Ln captions", "", len(cues))
            if len(cues) == len(session.cues)
            else filled(
                self.tr("The last {:,} of {:,} captions; an export has all"),
                len(cues),
                len(session.cues),
            )
        )
        self.transcript.show_views(())
        self.transcript.show_views(views_of(cues, session.zero, range(len(cues))))
        self.transcript.show_mode(*_languages(cues))
        self.transcript.show_second(next(iter(further_languages(cues)), ""))
        bring_up(self)
        self.transcript.go_to(next(iter(self.transcript.rows.marked_rows), 0))

        self.find_bar.line.setText(search)
        self.find_bar.open_bar() if search else self.find_bar.hide()

    @Slot(str, int)
    def _find(self, text: str, step: int) -> None:
        self.find_bar.show_result(*self.transcript.find_text(text, step))

    @Slot()
    def _end_search(self) -> None:
        self.transcript.find_text("", 0)
        self.transcript.setFocus()

    @Slot()
    def _export(self) -> None:
        self.export_wanted.emit(self._session)

    @Slot()
    def _resume(self) -> None:
        self.close()
        self.resume_wanted.emit(self._session)


def views_of(cues: Iterable[Cue], started: datetime, keys: Iterable[int]) -> list[UtteranceView]:
    return [
        UtteranceView(
            key=key,
            source=cue.source,
            caption=cue.text,
            ended=True,
            lane=cue.speaker,
            begun_s=started.timestamp() + cue.start_s,
            marked=cue.marked,
            doubtful=cue.doubtful,
            language=cue.language if cue.text != cue.source else "",
            left_out_s=cue.left_out_s,
            made_by=cue.made_by,
            further=tuple((one.language, one.text) for one in cue.further),
        )
        for key, cue in zip(keys, cues, strict=True)
    ]


def _languages(cues: Sequence[Cue]) -> tuple[str, str, str]:
    spoken = _joined(cue.source_language or SOURCE_LANGUAGE for cue in cues)
    if all(cue.text == cue.source for cue in cues):
        return CAPTIONS_ONLY, spoken, ""
    return BOTH, spoken, _joined(cue.language for cue in cues if cue.text != cue.source)


def _joined(codes: Iterable[str]) -> str:
    return " · ".join(sorted({language_name(code) for code in codes if code}))


class SessionsDialog(QDialog):
    """List all sessions but the running one, the newest first.

    Signals:
        show_wanted(PastSession, str): show its captions, and where this text is in them.
        export_wanted(PastSession): export it.
    """

    show_wanted = Signal(object, str)
    export_wanted = Signal(object)

    def __init__(
        self,
        folder: Path,
        running: Callable[[], Path | None] = lambda: None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Earlier sessions"))
        self._folder, self._running = folder, running
        self._all: list[PastSession] = []
        self._sessions: list[PastSession] = []  # those that are listed
        self.search = QLineEdit(clearButtonEnabled=True)
        self.search.setPlaceholderText(self.tr("Search in all sessions"))
        self.search.setAccessibleName(self.tr("Search in all sessions"))
        self.list = QListWidget()
        self.list.setAccessibleName(self.windowTitle())
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.message = paragraph()
        buttons = close_button()
        self.show_again = add_action(buttons, self.tr("&Show"), self._show)
        make_primary(self.show_again)
        self.show_again.setDefault(True)  # Enter in the search shows what was found
        self.export = add_action(buttons, self.tr("&Export…"), self._export)
        self.delete = add_action(buttons, self.tr("&Delete…"), self._ask)
        self.question = self._make_question()
        column = QVBoxLayout(self)
        for widget in (self.search, self.list, self.message, buttons):
            column.addWidget(widget)
        self.resize(520, 360)
        self.search.textChanged.connect(self._list)
        self.list.itemSelectionChanged.connect(self._take_selection)
        self.list.itemActivated.connect(self._show)
        self.question.buttonClicked.connect(self._take_answer)
        buttons.rejected.connect(self.close)

    def open_list(self) -> None:
        self.read()
        bring_up(self)

    def read(self) -> None:
        past = past_sessions(self._folder, self._running())
        self._all = [session for session in past if session.cues]
        self._list()

    @Slot()
    def _list(self) -> None:
        text = self.search.text().strip().casefold()
        self.list.clear()
        self._sessions = [session for session in self._all if _contains(session, text)]
        for session in self._sessions:
            self.list.addItem(QListWidgetItem(f"{self._label(session)}\n{_first_words(session)}"))
        none = self.tr("No earlier sessions.")
        missed = self.tr("No session contains this text.")
        self.message.setText("" if self._sessions else (missed if self._all else none))
        self.list.setCurrentRow(0 if self._sessions else -1)
        self._take_selection()

    def _label(self, session: PastSession) -> str:
        text = self.tr("{:%Y-%m-%d %H:%M}, %Ln captions", "", len(session.cues))
        text = text.format(session.begun)
        text = f"{session.name} · {text}" if session.name else text
        return text if session.ended_well else self.tr("{} (ended unexpectedly)").format(text)

    def _chosen(self) -> PastSession | None:
        row = self.list.currentRow()
        return self._sessions[row] if row >= 0 else None

    @Slot()
    def _take_selection(self) -> None:
        for button in (self.show_again, self.export, self.delete):
            button.setEnabled(self._chosen() is not None)

    @Slot()
    def _show(self) -> None:
        self.show_wanted.emit(self._chosen(), self.search.text().strip())

    @Slot()
    def _export(self) -> None:
        self.export_wanted.emit(self._chosen())

    def _make_question(self) -> QMessageBox:
        question = QMessageBox(self)
        question.setWindowTitle(self.tr("Delete a session"))
        question.setTextFormat(Qt.TextFormat.PlainText)
        question.setText(self.tr("Delete this session for good?"))
        self.delete_for_good = question.addButton(
            self.tr("&Delete"), QMessageBox.ButtonRole.DestructiveRole
        )
        keep = question.addButton(self.tr("&Keep it"), QMessageBox.ButtonRole.RejectRole)
        question.setDefaultButton(keep)
        question.setEscapeButton(keep)
        return question

    @Slot()
    def _ask(self) -> None:
        session = self._chosen()
        if session is not None:
            self.question.setInformativeText(self._label(session))
            self.question.open()

    @Slot(QAbstractButton)
    def _take_answer(self, button: QAbstractButton) -> None:
        session = self._chosen()
        if session is None or button is not self.delete_for_good:
            return
        try:
            with contextlib.suppress(FileNotFoundError):  # it is gone, or goes on in another
                delete_session(session)
        except OSError as error:
            self.message.setText(
                self.tr("The session cannot be deleted: {}.").format(worded(message_of(error)))
            )
        else:
            self.read()


def _contains(session: PastSession, text: str) -> bool:
    texts = (
        one
        for cue in session.cues
        for one in (cue.source, cue.text, *(further.text for further in cue.further))
    )
    return text in session.name.casefold() or any(text in one.casefold() for one in texts)


def _first_words(session: PastSession) -> str:
    """Return how the captions begin, which tells one session from another."""
    text = " ".join(" ".join(cue.text.split()) for cue in session.cues[:_CUES])
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS].rstrip()}…"
