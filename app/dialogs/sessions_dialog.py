"""The dialog of earlier sessions, read from their journals: show, export or delete one."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QDialogButtonBox,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from app.history.journal import PastSession, delete_session, past_sessions
from app.widgets.dialog_text import bring_up, close_button, paragraph


class SessionsDialog(QDialog):
    """List all sessions but the running one, the newest first.

    Signals:
        show_wanted(PastSession): show its captions.
        export_wanted(PastSession): export it.
    """

    show_wanted = Signal(object)
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
        self._sessions: list[PastSession] = []
        self.list = QListWidget()
        self.list.setAccessibleName(self.windowTitle())
        self.message = paragraph()
        buttons = close_button()
        action = QDialogButtonBox.ButtonRole.ActionRole
        self.show_again = buttons.addButton(self.tr("&Show"), action)
        self.export = buttons.addButton(self.tr("&Export…"), action)
        self.delete = buttons.addButton(self.tr("&Delete…"), action)
        self.question = self._make_question()
        column = QVBoxLayout(self)
        for widget in (self.list, self.message, buttons):
            column.addWidget(widget)
        self.resize(520, 360)
        self.list.itemSelectionChanged.connect(self._take_selection)
        self.show_again.clicked.connect(self._show)
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
        self._sessions = [session for session in past if session.cues]
        self.list.clear()
        for session in self._sessions:
            self.list.addItem(QListWidgetItem(self._label(session)))
        none = self.tr("No sessions yet. A session is saved with its first caption.")
        self.message.setText("" if self._sessions else none)
        self.list.setCurrentRow(0 if self._sessions else -1)
        self._take_selection()

    def _label(self, session: PastSession) -> str:
        text = self.tr("{:%Y-%m-%d %H:%M}, {:,} captions").format(session.begun, len(session.cues))
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
        self.show_wanted.emit(self._chosen())

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
            delete_session(session)
        except OSError as error:
            self.message.setText(
                self.tr("The session cannot be deleted: {}.").format(error.strerror)
            )
        else:
            self.read()
