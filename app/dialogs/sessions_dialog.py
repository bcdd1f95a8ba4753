"""The dialog of earlier sessions, read from their journals: search, show, export or delete."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from app.captions.journal import PastSession, delete_session, past_sessions
from app.config.system.translations import worded
from app.look.style_sheet import make_primary
from app.look.widgets.dialog_text import bring_up, close_button, paragraph
from engine.errors import message_of

_CUES, _CHARACTERS = 5, 70  # of the first captions


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
        """List the journals in ``folder``; ``running`` returns that of the running session."""
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
        action = QDialogButtonBox.ButtonRole.ActionRole
        self.show_again = buttons.addButton(self.tr("&Show"), action)
        make_primary(self.show_again)
        self.export = buttons.addButton(self.tr("&Export…"), action)
        self.delete = buttons.addButton(self.tr("&Delete…"), action)
        self.question = self._make_question()
        column = QVBoxLayout(self)
        for widget in (self.search, self.list, self.message, buttons):
            column.addWidget(widget)
        self.resize(520, 360)
        self.search.textChanged.connect(self._list)
        self.list.itemSelectionChanged.connect(self._take_selection)
        self.show_again.clicked.connect(self._show)
        self.list.itemActivated.connect(self._show)
        self.export.clicked.connect(self._export)
        self.delete.clicked.connect(self._ask)
        self.question.buttonClicked.connect(self._take_answer)
        buttons.rejected.connect(self.close)

    def open_list(self) -> None:
        """Read the journals and show the dialog."""
        self.read()
        bring_up(self)

    def read(self) -> None:
        """Read the journals."""
        past = past_sessions(self._folder, self._running())
        self._all = [session for session in past if session.cues]
        self._list()

    @Slot()
    def _list(self) -> None:
        """List the sessions that contain the text of the search."""
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
    """Return whether a session contains a text, given without case."""
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
