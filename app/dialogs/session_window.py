"""A window with the captions of an earlier session, to read, to search and to export."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from app.captions.cues import Cue
from app.captions.export import further_languages
from app.captions.journal import PastSession
from app.captions.model import UtteranceView
from app.config.modes import BOTH, CAPTIONS_ONLY, SOURCE_LANGUAGE
from app.config.system.translations import filled
from app.look.widgets.dialog_text import bring_up, close_button, paragraph
from app.look.widgets.language_names import language_name
from app.main_window.find_bar import FindBar
from app.main_window.transcript_view import Transcript

MOST_SHOWN = 10_000
"""Rows, as in the transcript of the running session."""


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
        role = QDialogButtonBox.ButtonRole.ActionRole
        self.search = buttons.addButton(self.tr("&Find…"), role)
        self.export = buttons.addButton(self.tr("&Export…"), role)
        self.resume = buttons.addButton(self.tr("&Continue this session"), role)
        self.find_bar = FindBar()
        column = QVBoxLayout(self)
        for widget in (self.find_bar, self.transcript, self.message, buttons):
            column.addWidget(widget)
        self.resize(760, 460)
        for button in (self.search, self.export, self.resume):
            button.setAutoDefault(False)  # Enter in the search is for the search
        self.find_bar.wanted.connect(self._find)
        self.find_bar.closed.connect(self._end_search)
        self.search.clicked.connect(self.find_bar.open_bar)
        keys = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        keys.activated.connect(self.find_bar.open_bar)
        self.export.clicked.connect(self._export)
        self.resume.clicked.connect(self._resume)
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
    """Return the rows of the cues of a session, by these keys."""
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
    """Return the mode that shows all of a session, and the names of its languages."""
    spoken = _joined(cue.source_language or SOURCE_LANGUAGE for cue in cues)
    if all(cue.text == cue.source for cue in cues):
        return CAPTIONS_ONLY, spoken, ""
    return BOTH, spoken, _joined(cue.language for cue in cues if cue.text != cue.source)


def _joined(codes: Iterable[str]) -> str:
    """Return the names of languages, each once."""
    return " · ".join(sorted({language_name(code) for code in codes if code}))
