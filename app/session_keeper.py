"""Keeps what was said: in memory for export, in the journal, and in the text file for others."""

import time
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.choices import PrivacyChoices
from app.cues import Cue
from app.live_text import LiveText
from app.scribe import Scribe
from app.session_journal import (
    PastSession,
    SessionJournal,
    close_session,
    delete_old,
    unfinished_sessions,
)
from app.session_record import CueKept, Entry, SessionRecord
from engine.events import Event


class SessionKeeper(QObject):
    """Take the events of the session; the one owner of the journal and the live text.

    Signals:
        failed(str): something could not be written. Told once for each file; captions go on.
    """

    failed = Signal(str)
    _scribe_failed = Signal(str)

    def __init__(
        self, folder: Path, choices: PrivacyChoices, parent: QObject | None = None
    ) -> None:
        """Keep files in ``folder``, as far as the choices want any."""
        super().__init__(parent)
        self._folder = folder
        self._start_s = time.monotonic()
        self.started = datetime.now().astimezone()
        self._record = SessionRecord()
        self._journal: SessionJournal | None = None
        self._live_text: LiveText | None = None
        self._told: set[str] = set()
        self._scribe_failed.connect(self._tell)  # emitted on the scribe's thread
        self._scribe = Scribe(self._scribe_failed.emit)
        self._choices = PrivacyChoices(journal=False)
        delete_old(self.sessions_folder, self.started, choices.journal_days)
        self._unfinished = unfinished_sessions(self.sessions_folder)
        self.use(choices)

    @property
    def sessions_folder(self) -> Path:
        """Where the journals lie."""
        return self._folder / "sessions"

    @property
    def cues(self) -> list[Cue]:
        """What was said since the start, or since it was cleared."""
        return self._record.cues

    @property
    def lost_session(self) -> PastSession | None:
        """The newest session that did not end well, if there was something in it."""
        return next((it for it in self._unfinished if it.cues), None)

    def use(self, choices: PrivacyChoices) -> None:
        """Write from now on what these choices want written."""
        before, self._choices = self._choices, choices
        if choices.journal != before.journal:
            self._run_close(self._journal)
            started = datetime.now().astimezone()
            self._journal = (
                SessionJournal(self.sessions_folder, started) if choices.journal else None
            )
        wanted = (choices.live_text, choices.live_text_file)
        if wanted != (before.live_text, before.live_text_file):
            self._run_close(self._live_text)
            path = choices.live_text_file or self._folder / "captions.txt"
            self._live_text = LiveText(path) if choices.live_text else None

    def take(self, event: Event, language: str) -> None:
        """Take an event of the session, which translates into a language."""
        self._record.language = language
        entry = self._record.feed(event, time.monotonic() - self._start_s)
        if entry is not None:
            self._write(entry)

    def place(self, utterance: int, begun_at_s: float, ended_at_s: float) -> None:
        """Take when an utterance that was heard was said, by ``time.monotonic``."""
        start_s = self._start_s
        self._record.place(utterance, begun_at_s - start_s, ended_at_s - start_s)

    def mark(self, utterance: int) -> None:
        """Take that the person marked an utterance of the session."""
        entry = self._record.mark(utterance)
        if entry is not None:
            self._write(entry)

    def restart(self) -> None:
        """Make ready for a new session, whose numbers begin again."""
        self._record.restart()

    def clear(self) -> None:
        """Forget what was said; the journal keeps what it has until its days are over."""
        self._record.clear()

    def take_lost_session(self) -> PastSession | None:
        """Give the session that did not end well; it is not offered again."""
        lost = self.lost_session
        self._close_unfinished()
        return lost

    def close(self) -> None:
        """Write what is left, and end well."""
        self._close_unfinished()
        self._run_close(self._journal)
        self._run_close(self._live_text)
        self._scribe.close()

    def _close_unfinished(self) -> None:
        for session in self._unfinished:
            close_session(session)
        self._unfinished = []

    def _write(self, entry: Entry) -> None:
        if self._journal is not None:
            journal = self._journal
            self._scribe.run(lambda: journal.write(entry))
        if self._live_text is not None and isinstance(entry, CueKept) and entry.cue.text:
            live_text, text = self._live_text, entry.cue.text
            self._scribe.run(lambda: live_text.write(text))

    def _run_close(self, file: SessionJournal | LiveText | None) -> None:
        if file is not None:
            self._scribe.run(file.close)

    @Slot(str)
    def _tell(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            self.failed.emit(message)
