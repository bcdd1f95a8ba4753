"""Keeps the session: in memory for export, and in the journal."""

import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.captions.cue_recorder import CueKept, CueRecorder, Entry
from app.captions.cues import Cue
from app.captions.journal import (
    PastSession,
    SessionJournal,
    close_session,
    delete_old,
    unfinished_sessions,
)
from app.config.background import BackgroundQueue
from app.config.preferences import PrivacyPreferences
from app.config.translations import worded_note
from engine.events import Event
from engine.speech.events import LeftOut
from engine.utterances import Utterance, UtteranceTracker


class HistoryWriter(QObject):
    """Follow the session; the owner of the journal.

    Signals:
        failed(str): a file could not be written; emitted once for each file. Captions go on.
        cues_changed(): there are other cues.
    """

    failed = Signal(str)
    cues_changed = Signal()
    _write_failed = Signal(str)

    def __init__(
        self,
        folder: Path,
        choices: PrivacyPreferences,
        utterances: UtteranceTracker,
        parent: QObject | None = None,
    ) -> None:
        """Keep files in ``folder``, as the preferences say."""
        super().__init__(parent)
        self._folder = folder
        self._utterances = utterances
        self.started = datetime.now().astimezone()
        self._record = CueRecorder(utterances, time.monotonic(), worded_note)
        self._journal: SessionJournal | None = None
        # those of sessions before, by keys of what further languages owe them
        self._former: dict[int, SessionJournal | None] = {}
        self._reported: set[str] = set()
        self._write_failed.connect(self._report)  # emitted on the threads of the queues
        self._background = BackgroundQueue(self._write_failed.emit)
        self._choices = PrivacyPreferences(journal=False)
        delete_old(self.sessions_folder, self.started, choices.journal_days)
        self._unfinished = unfinished_sessions(self.sessions_folder)
        self.use(choices)

    @property
    def sessions_folder(self) -> Path:
        return self._folder / "sessions"

    @property
    def running_journal(self) -> Path | None:
        return None if self._journal is None else self._journal.path

    @property
    def is_stored(self) -> bool:
        """Whether the running session has a journal, or will have one with its first caption."""
        return self._journal is not None and not self._journal.has_failed

    @property
    def cannot_be_stored(self) -> bool:
        """Whether it was to be stored and the disk does not take it."""
        return self._journal is not None and self._journal.has_failed

    @property
    def cues(self) -> list[Cue]:
        """The cues since the start, or since ``clear``."""
        return self._record.cues

    @property
    def lost_session(self) -> PastSession | None:
        """The newest session that crashed with captions, or None."""
        return next((it for it in self._unfinished if it.cues), None)

    @property
    def damaged_session(self) -> PastSession | None:
        """The newest session that did not end well and has damage alone, or None."""
        damaged = (it for it in self._unfinished if it.damaged_lines and not it.cues)
        return next(damaged, None)

    def use(self, choices: PrivacyPreferences) -> None:
        before, self._choices = self._choices, choices
        if choices.journal != before.journal:
            self._close_journal()
            self._journal = self._new_journal() if choices.journal else None

    def take(self, event: Event, utterance: Utterance) -> None:
        entry = self._record.feed(event, utterance, time.monotonic())
        if entry is None:
            return
        if utterance.key not in self._former:
            self._write(entry)
            return
        journal = self._former[utterance.key]
        if journal is not None:
            self._background.run(partial(journal.amend, entry))
        self.cues_changed.emit()

    def leave_out(self, event: LeftOut, key: int) -> None:
        """Record that sound was left out, by a key of its own."""
        self._write(self._record.leave_out(event, key))

    def use_further(self, *languages: str) -> None:
        """Keep these further languages beside the captions."""
        self._record.further = languages

    def mark(self, key: int, *, marked: bool) -> None:
        """Record a bookmark, or that it was removed."""
        entry = self._record.mark(key, marked=marked)
        if entry is not None:
            self._write(entry)

    def correct(self, key: int, source: str, utterances: Sequence[Utterance]) -> None:
        """Replace source and captions of a cue that the user corrected."""
        self._write(self._record.correct(key, source, utterances))

    def remove(self, keys: Iterable[int]) -> None:
        """Remove cues on behalf of the user."""
        self._write(*map(self._record.remove, keys))

    def put_back(self, keys: Iterable[int]) -> None:
        """Restore cues that the user removed."""
        self._write(*map(self._record.put_back, keys))

    def keep_file(self, name: str, cues: Sequence[Cue]) -> PastSession:
        """Store the captions of a file as a session of its own, if sessions are stored."""
        started = datetime.now().astimezone()
        if self._choices.journal and cues:
            journal = SessionJournal(self.sessions_folder, started, name=name)
            entries = [CueKept(key=key, cue=cue) for key, cue in enumerate(cues)]
            self._background.run(partial(journal.begin, entries))
            self._background.run(journal.close)
        return PastSession(
            path=self.sessions_folder,
            started=started,
            cues=tuple(cues),
            ended_well=True,
            damaged_lines=0,
            name=name,
        )

    def clear(self) -> None:
        """Forget the session, whose journal stays, and start another journal."""
        self._end_session()
        self._record.clear()
        self.cues_changed.emit()
        if self._journal is not None:
            self._close_journal()
            self._journal = self._new_journal()

    def bring_back(self) -> None:
        """Restore the session forgotten last."""
        self._record.bring_back()
        self.cues_changed.emit()

    def resume(self, session: PastSession) -> list[int]:
        """Continue an earlier session; the running one ends, and stays in its journal.

        Returns:
            the keys that its cues have now.
        """
        self._end_session()
        now_s, now = time.monotonic(), datetime.now().astimezone()
        last_s = max((cue.end_s for cue in session.cues), default=0.0)
        since_s = max((now - session.started).total_seconds(), last_s)
        keys = [self._utterances.new_key() for _ in session.cues]
        cues = dict(zip(keys, session.cues, strict=True))
        entries = self._record.resume(cues, now_s - since_s)
        self._utterances.take_up(self._record.owing)
        self.started = session.started
        if self._journal is not None:
            self._close_journal()
            self._journal = SessionJournal(self.sessions_folder, session.started, session)
            self._background.run(partial(self._journal.begin, entries))
        self.cues_changed.emit()
        return keys

    def take_lost_session(self) -> PastSession | None:
        """Return the session that crashed; it is not offered again."""
        lost = self.lost_session
        self._close_unfinished()
        return lost

    def close(self) -> None:
        self._flush()
        self._close_unfinished()
        self._close_journal()
        self._background.close()

    def _close_unfinished(self) -> None:
        for session in self._unfinished:
            close_session(session)
        self._unfinished = []

    def _end_session(self) -> None:
        """Keep incomplete cues, and which journal gets captions that are still to come."""
        self._flush()
        owing = {one.key: self._journal for one in self._utterances.owing}
        self._former = owing | self._former

    def _flush(self) -> None:
        for entry in self._record.flush(time.monotonic()):
            self._write(entry)

    def _new_journal(self) -> SessionJournal:
        """Return another journal; the times of its cues are counted from the start, too."""
        return SessionJournal(self.sessions_folder, self.started)

    def _write(self, *entries: Entry | None) -> None:
        for entry in entries:
            if self._journal is not None and entry is not None:
                self._background.run(partial(self._journal.write, entry))
        self.cues_changed.emit()

    def _close_journal(self) -> None:
        if self._journal is not None:
            self._background.run(self._journal.close)

    @Slot(str)
    def _report(self, message: str) -> None:
        if message not in self._reported:
            self._reported.add(message)
            self.failed.emit(message)
