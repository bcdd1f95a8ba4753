"""A session on the disk while it goes on: JSON lines, each there for good when it is written.

    {"event": "session", "version": 1, "started": "2026-11-21T09:30:00+01:00"}
    {"event": "cue", "key": 0, "start_s": 1.2, "end_s": 3.4, "text": "Guten Morgen.", ...}
    {"event": "withdrawn", "key": 0}
    {"event": "mark", "key": 0}
    {"event": "closed"}

Lines are only ever appended, so a crash loses what was not written yet and nothing else. A journal
without its last line is offered for recovery.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from app.cues import Cue
from app.session_record import CueKept, CueMarked, Entry
from app.text_lines import TextError

VERSION = 1
FILE_NAME = "session.jsonl"
_CLOSED = b'{"event": "closed"}\n'
_NAME = "%Y-%m-%d_%H%M%S"


class SessionJournal:
    """Append to one journal. Its folder is made with the first entry, so no session is empty."""

    def __init__(self, folder: Path, started: datetime) -> None:
        """Write into a new folder in ``folder``, named by the time."""
        self._shelf = folder
        self._started = started
        self._file: int | None = None
        self.path: Path | None = None

    def write(self, entry: Entry) -> None:
        """Append an entry; it is on the disk when this returns.

        Raises:
            TextError: it cannot be written; what was written before is still whole.
        """
        if isinstance(entry, CueKept):
            self._append({"event": "cue", "key": entry.key, **asdict(entry.cue)})
        else:
            event = "mark" if isinstance(entry, CueMarked) else "withdrawn"
            self._append({"event": event, "key": entry.key})

    def close(self) -> None:
        """Write that the session ended as it should."""
        if self._file is not None:
            with contextlib.suppress(TextError):  # then it is offered for recovery, and is whole
                self._append({"event": "closed"})
            os.close(self._file)
            self._file = None

    def _append(self, entry: Mapping[str, object]) -> None:
        try:
            if self._file is None:
                self._file = self._create()
                started = self._started.isoformat(timespec="seconds")
                append(self._file, {"event": "session", "version": VERSION, "started": started})
            append(self._file, entry)
        except OSError as error:
            msg = (
                f"the journal in {self._shelf} cannot be written: {error.strerror}; captions go "
                "on, and a crash would lose them"
            )
            raise TextError(msg) from error

    def _create(self) -> int:
        self._shelf.mkdir(parents=True, exist_ok=True, mode=0o700)
        name, number = self._started.strftime(_NAME), 1
        folder = self._shelf / name
        while folder.exists():
            number += 1
            folder = self._shelf / f"{name}_{number}"
        folder.mkdir(mode=0o700)
        self.path = folder / FILE_NAME
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)


@dataclass(frozen=True, slots=True, kw_only=True)
class PastSession:
    """A session as its journal tells it.

    Attributes:
        path: of the journal.
        started: when it began, or when the file was written where it does not say.
        cues: by their beginnings; of an edited one the last.
        ended_well: whether the program closed it.
        damaged_lines: lines that are no entries; more than one is not the work of a crash.
    """

    path: Path
    started: datetime
    cues: tuple[Cue, ...]
    ended_well: bool
    damaged_lines: int


def read_session(path: Path) -> PastSession:
    """Read a journal, however it ended.

    Raises:
        OSError: it cannot be read at all.
    """
    cues: dict[int, Cue] = {}
    started = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    ended_well, damaged, marked = False, 0, -1
    with path.open("rb") as file:
        for line in file:
            try:
                entry = _entry(line)
                started = _take(entry, cues) or started
                ended_well = ended_well or entry["event"] == "closed"
                marked = _mark(entry, marked)
            except ValueError:
                damaged += 1
    if marked in cues:
        cues[marked] = replace(cues[marked], marked=True)
    ordered = tuple(sorted(cues.values(), key=lambda cue: cue.start_s))
    return PastSession(
        path=path, started=started, cues=ordered, ended_well=ended_well, damaged_lines=damaged
    )


def past_sessions(folder: Path) -> list[PastSession]:
    """Read all journals, the newest first; what cannot be read is left out."""
    found = []
    for path in folder.glob(f"*/{FILE_NAME}"):
        with contextlib.suppress(OSError):
            found.append(read_session(path))
    return sorted(found, key=lambda session: session.started, reverse=True)


def close_session(session: PastSession) -> None:
    """Write that a session needs no recovery any more; where that fails it is offered again."""
    with contextlib.suppress(OSError):
        file = os.open(session.path, os.O_WRONLY | os.O_APPEND)
        try:
            # The crash may have cut the last line off; a blank one is no entry and no damage.
            os.write(file, b"\n")
            append(file, {"event": "closed"})
        finally:
            os.close(file)


def delete_session(session: PastSession) -> None:
    """Delete a journal and its folder.

    Raises:
        OSError: it cannot be deleted.
    """
    shutil.rmtree(session.path.parent)


def unfinished_sessions(folder: Path) -> list[PastSession]:
    """Read the journals that were not closed, the newest first; of the others only the end."""
    paths = [path for path in folder.glob(f"*/{FILE_NAME}") if not _is_closed(path)]
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            found.append(read_session(path))
    return sorted(found, key=lambda session: session.started, reverse=True)


def delete_old(folder: Path, now: datetime, days: int) -> None:
    """Delete journals that nothing was written into for so many days."""
    for path in folder.glob(f"*/{FILE_NAME}"):
        with contextlib.suppress(OSError):
            written = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
            if now - written > timedelta(days=days):
                shutil.rmtree(path.parent)


def _is_closed(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - len(_CLOSED)))
        return file.read() == _CLOSED
    return False


def append(file: int, entry: Mapping[str, object]) -> None:
    """Write one line to the end of a file, and wait until it is on the disk.

    Raises:
        OSError: that failed; half a line is taken back.
    """
    size = os.fstat(file).st_size
    data = (json.dumps(entry, ensure_ascii=False) + "\n").encode(errors="replace")
    n_written = 0
    try:
        while n_written < len(data):
            n_written += os.write(file, data[n_written:])
        os.fsync(file)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(file, size)
        raise


def _entry(line: bytes) -> dict[str, object]:
    """Read a line.

    Raises:
        ValueError: it is no entry.
    """
    if not line.strip():
        return {"event": ""}
    entry = json.loads(line)
    if not isinstance(entry, dict) or not isinstance(entry.get("event"), str):
        msg = "a journal holds one object a line, with the name of an event"
        raise ValueError(msg)  # noqa: TRY004  what comes from a file is a value, not a type
    return entry


def _take(entry: dict[str, object], cues: dict[int, Cue]) -> datetime | None:
    """Apply an entry; give the time that the first one has. ``ValueError`` as ``_entry``."""
    key = entry.get("key")
    if entry["event"] == "session":
        return datetime.fromisoformat(str(entry.get("started"))).astimezone()
    if entry["event"] == "cue" and isinstance(key, int):
        cues[key] = _cue(entry)
    elif entry["event"] == "withdrawn" and isinstance(key, int):
        cues.pop(key, None)
    return None


def _mark(entry: dict[str, object], marked: int) -> int:
    """Tell which key is marked after an entry."""
    key = entry.get("key")
    return key if entry["event"] == "mark" and isinstance(key, int) else marked


def _cue(entry: dict[str, object]) -> Cue:
    start_s, end_s = entry.get("start_s"), entry.get("end_s")
    if not isinstance(start_s, int | float) or not isinstance(end_s, int | float):
        msg = "a cue has a beginning and an end"
        raise ValueError(msg)  # noqa: TRY004  what comes from a file is a value, not a type
    text, source, speaker, language = (
        str(entry.get(name, "")) for name in ("text", "source", "speaker", "language")
    )
    return Cue(
        start_s=start_s,
        end_s=end_s,
        text=text,
        source=source,
        speaker=speaker,
        language=language,
    )
