"""The journal of a session: JSON lines, each flushed to the disk when it is written.

    {"event": "session", "version": 1, "started": "2026-11-21T09:30:00+01:00"}
        (with "name": "talk.mp4" where a file was captioned)
    {"event": "cue", "key": 0, "start_s": 1.2, "end_s": 3.4, "text": "Guten Morgen.", ...}
        (with "pieces": [[13, 2, 3.4]] where it was heard, and "confidence": 0.71,
        "doubtful": false from a calibrated model, "further": [{"language": "fr", "text": ...,
        "pieces": []}] with further languages, see Cue)
        ("made_by": "surtitle-en-de · read:2" where that is known)
    {"event": "withdrawn", "key": 0}
    {"event": "closed"}

Lines are only appended, so a crash loses only unwritten ones. A journal without a closing line is
offered for recovery.
"""

import contextlib
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from app.captions.cue_recorder import CueKept, Entry
from app.captions.cues import LATEST_S, Cue, FurtherText, Piece, begun
from app.config.messages import AppCode
from app.config.text_io import TextError
from engine.errors import message_of
from engine.files import append_text
from engine.untrusted.plain_files import open_plain

_log = logging.getLogger(__name__)

VERSION = 1
FILE_NAME = "session.jsonl"
_CLOSED = b'{"event": "closed"}\n'
_CLOSING = {"event": "closed"}
_NAME = "%Y-%m-%d_%H%M%S"

_MARK_NAME, _LEAST_OLD = "old", timedelta(days=2)
"""A file beside a journal that was found to be old, and how long before it is deleted."""

_MOST_BYTES, _LONGEST_LINE = 20_000_000, 1_000_000
"""Of a journal that is read: seventy hours of talk, and far more than an utterance has."""

_LINES_OF_THE_REST = 2
"""As so many damaged ones counts what is beyond that: who continues the session leaves it there."""

_LONGEST_NAME = 255  # of a file
_MOST_FURTHER = 16  # languages of a cue

_WRONG = (ValueError, OverflowError, RecursionError)
"""What a line may raise that nobody of ours wrote."""


class SessionJournal:
    """Append to one journal; the first entry creates its folder.

    Invariant: after a successful ``write`` the file has all entries so far. A file that was deleted
    or moved away is written again with all of them.
    """

    def __init__(
        self,
        folder: Path,
        started: datetime,
        replaced: "PastSession | None" = None,
        *,
        name: str = "",
    ) -> None:
        """Prepare a new folder in ``folder``, named by the time.

        Args:
            started: the zero of the times in the cues.
            replaced: a session that this one continues; its journal is deleted once all of it that
                can be read is in this one, and there is no more in it than a crash leaves.
            name: of the file that is captioned; empty for a live session.
        """
        self._folder = folder
        self._started = started
        self._name = name
        self._file: int | None = None
        self._cues: dict[int, CueKept] = {}
        self._replaced = replaced
        self._due: list[Mapping[str, object]] = []  # what the disk did not take so far
        self.path: Path | None = None
        self.has_failed = False  # the newest write

    def write(self, entry: Entry) -> None:
        """Append an entry and flush it to the disk.

        Raises:
            TextError: it cannot be written; the file stays valid, and the next ``write`` retries.
        """
        self._follow(entry)
        self._append(_line(entry))

    def begin(self, entries: Iterable[Entry]) -> None:
        """Write the first entries together; raise TextError as ``write`` does."""
        for entry in entries:
            self._follow(entry)
        self._write_due()

    def close(self) -> None:
        """Write the closing line."""
        if self._file is not None or self._cues:
            with contextlib.suppress(TextError):  # then it is offered for recovery, and is whole
                self._append(_CLOSING)
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def amend(self, entry: Entry) -> None:
        """Append an entry to the closed journal, if nobody has deleted it."""
        if self.path is not None:
            _append_closed(self.path, _line(entry))

    def _follow(self, entry: Entry) -> None:
        self._cues.pop(entry.key, None)
        if isinstance(entry, CueKept):
            self._cues[entry.key] = entry

    def _append(self, line: Mapping[str, object]) -> None:
        self._due.append(line)
        self._write_due()

    def _write_due(self) -> None:
        try:
            if self._file is not None and not self._is_there(self._file):
                os.close(self._file)
                self._file = None
            if self._file is None:
                self._file = self._begin()
                self._due = [due for due in self._due if due is _CLOSING]
            if self._due:
                append(self._file, *self._due)
        except OSError as error:
            self.has_failed = True
            code = AppCode.JOURNAL_UNWRITABLE
            raise TextError(code(folder=str(self._folder), reason=message_of(error))) from error
        self._due.clear()
        self.has_failed = False

    def _is_there(self, file: int) -> bool:
        try:
            return self.path is not None and os.path.samestat(self.path.stat(), os.fstat(file))
        except OSError:
            return False

    def _begin(self) -> int:
        started = self._started.isoformat(timespec="seconds")
        first = {"event": "session", "version": VERSION, "started": started}
        first |= {"name": self._name} if self._name else {}
        path = self.path = self._make_folder() / FILE_NAME
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
        try:
            append(file, first, *map(_line, self._cues.values()))
        except OSError:
            os.close(file)
            with contextlib.suppress(OSError):  # so that no attempt leaves a folder
                _delete(path)
            raise
        if self._replaced is not None and self._replaced.damaged_lines <= 1:
            with contextlib.suppress(OSError):
                _delete(self._replaced.path)
        return file

    def _make_folder(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name, number = self._started.strftime(_NAME), 1
        folder = self._folder / name
        while folder.exists():
            number += 1
            folder = self._folder / f"{name}_{number}"
        folder.mkdir(mode=0o700)
        return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class PastSession:
    """A session read from its journal.

    Attributes:
        started: the zero of the times in the cues; the time of the file if that is missing.
        cues: ordered by start; the last version of each.
        ended_well: the program closed it.
        damaged_lines: lines that are no entries; a crash causes one at most.
        name: of the file that was captioned, whose times the cues have; empty for a live session.
    """

    path: Path
    started: datetime
    cues: tuple[Cue, ...]
    ended_well: bool
    damaged_lines: int
    name: str = ""

    @property
    def begun(self) -> datetime:
        """The time of its first cue, or when a file was captioned."""
        return self.started if self.name else begun(self.cues, self.started)

    @property
    def zero(self) -> datetime:
        """The time that those of its cues are shown from: midnight for those of a file."""
        midnight = self.started.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight if self.name else self.started


def read_session(path: Path) -> PastSession:
    """Read a journal, complete or not; raise OSError if it cannot be read."""
    cues: dict[int, Cue] = {}
    ended_well, damaged, name = False, 0, ""
    with open_plain(path) as file:
        started = _written(path)
        for line in _lines(file):
            try:
                entry = _entry(line)
                started = _take(entry, cues) or started
                ended_well = ended_well or entry["event"] == "closed"
                name = name or _name_of(entry)
            except _WRONG:
                damaged += 1
        if file.read(1):
            damaged += _LINES_OF_THE_REST
    ordered = tuple(sorted(cues.values(), key=lambda cue: cue.start_s))
    return PastSession(
        path=path,
        started=started,
        cues=ordered,
        ended_well=ended_well,
        damaged_lines=damaged,
        name=name,
    )


def past_sessions(folder: Path, running: Path | None = None) -> list[PastSession]:
    """Read all readable journals but that of the running session, the newest first."""
    return _read_all(path for path in _journals(folder) if path != running)


def close_session(session: PastSession) -> None:
    """Mark a session as closed, so that it is not offered for recovery again."""
    _append_closed(session.path)


def _append_closed(path: Path, *lines: Mapping[str, object]) -> None:
    """Append lines and the closing one to a journal that nobody writes, if that is possible."""
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            # A crash may have cut the last line off; a blank one is no entry and no damage.
            os.write(file, b"\n")
            append(file, *lines, _CLOSING)
        finally:
            os.close(file)


def delete_session(session: PastSession) -> None:
    """Delete a journal, and its folder if that is empty; raise OSError if that fails."""
    _delete(session.path)


def unfinished_sessions(folder: Path) -> list[PastSession]:
    """Return the sessions without a closing line, the newest first; others are not read whole."""
    return _read_all(path for path in _journals(folder) if not _is_closed(path))


def delete_old(folder: Path, now: datetime, days: int) -> None:
    """Delete journals that are older than ``days``, and were so when it was called days before.

    So a clock that stands a year ahead for a while deletes nothing.
    """
    for path in _journals(folder):
        with contextlib.suppress(OSError):
            mark = path.with_name(_MARK_NAME)
            if now - _written(path) <= timedelta(days=days):
                mark.unlink(missing_ok=True)
            elif not mark.exists() or now < _written(mark):
                mark.touch(mode=0o600)
                os.utime(mark, (now.timestamp(), now.timestamp()))
            elif now - _written(mark) >= _LEAST_OLD:
                _delete(path)


def _journals(folder: Path) -> list[Path]:
    try:
        return list(folder.glob(f"*/{FILE_NAME}"))
    except OSError:
        return []


def _read_all(paths: Iterable[Path]) -> list[PastSession]:
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            try:
                session = read_session(path)
            except OSError:
                raise
            except Exception:  # noqa: BLE001  a stranger's file never stops the start
                _log.exception("the journal %s cannot be read", path)
                session = PastSession(
                    path=path, started=_written(path), cues=(), ended_well=False, damaged_lines=1
                )
            found.append(session)
    return sorted(found, key=lambda session: session.begun, reverse=True)


def _delete(path: Path) -> None:
    path.unlink()
    with contextlib.suppress(OSError):
        path.with_name(_MARK_NAME).unlink(missing_ok=True)
        path.parent.rmdir()


def _written(path: Path) -> datetime:
    """Return the time of a file; now if the disk has an invalid time."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    except _WRONG:
        return datetime.now().astimezone()


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a journal; longer ones than ours are cut, and so count as damaged."""
    while file.tell() < _MOST_BYTES and (line := file.readline(_LONGEST_LINE)):
        rest = line if len(line) == _LONGEST_LINE else b""
        while rest and not rest.endswith(b"\n") and file.tell() < _MOST_BYTES:
            rest = file.readline(_LONGEST_LINE)
        yield line


def _is_closed(path: Path) -> bool:
    with contextlib.suppress(OSError), open_plain(path) as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - len(_CLOSED)))
        return file.read() == _CLOSED
    return False


def _line(entry: Entry) -> dict[str, object]:
    if isinstance(entry, CueKept):
        line = {"event": "cue", "key": entry.key, **asdict(entry.cue)}
        if entry.cue.confidence is None:
            del line["confidence"], line["doubtful"]
        if not entry.cue.further:
            del line["further"]
        for name in ("left_out_s", "made_by"):
            if not line[name]:
                del line[name]
        return line
    return {"event": "withdrawn", "key": entry.key}


def append(file: int, *lines: Mapping[str, object]) -> None:
    """Append lines to a file and flush them to the disk; remove them again if that fails."""
    append_text(file, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def _entry(line: bytes) -> dict[str, object]:
    """Parse a line; raise ValueError if it is no entry."""
    if not line.strip():
        return {"event": ""}
    entry = json.loads(line)
    if not isinstance(entry, dict) or not isinstance(entry.get("event"), str):
        msg = "a journal holds one object a line, with the name of an event"
        raise ValueError(msg)  # noqa: TRY004  what comes from a file is a value, not a type
    return entry


def _take(entry: dict[str, object], cues: dict[int, Cue]) -> datetime | None:
    """Apply an entry; return the time in the first one. Raise ValueError as ``_entry``."""
    key = entry.get("key")
    if entry["event"] == "session":
        started = datetime.fromisoformat(str(entry.get("started"))).astimezone()
        _ = started + timedelta(seconds=LATEST_S)  # its latest cue has a date, too
        return started
    if entry["event"] == "cue" and isinstance(key, int):
        cues[key] = _cue(entry)
    elif entry["event"] == "withdrawn" and isinstance(key, int):
        cues.pop(key, None)
    return None


def _name_of(entry: dict[str, object]) -> str:
    name = entry.get("name") if entry["event"] == "session" else None
    return name[:_LONGEST_NAME].encode(errors="replace").decode() if isinstance(name, str) else ""


def _cue(entry: dict[str, object]) -> Cue:
    start_s, end_s = entry.get("start_s"), entry.get("end_s")
    if not isinstance(start_s, int | float) or not isinstance(end_s, int | float):
        msg = "a cue has a beginning and an end"
        raise ValueError(msg)  # noqa: TRY004  what comes from a file is a value, not a type
    text, source, speaker, language, source_language, made_by = (
        str(entry.get(name, "")).encode(errors="replace").decode()  # no half characters
        for name in ("text", "source", "speaker", "language", "source_language", "made_by")
    )
    return Cue(
        start_s=start_s,
        end_s=end_s,
        text=text,
        source=source,
        speaker=speaker,
        language=language,
        source_language=source_language,
        confidence=_confidence(entry),
        marked=entry.get("marked") is True,
        doubtful=entry.get("doubtful") is True,
        pieces=_pieces(entry, start_s, end_s),
        further=_further(entry, start_s, end_s),
        left_out_s=_left_out_s(entry),
        made_by=made_by,
    )


def _further(entry: dict[str, object], start_s: float, end_s: float) -> tuple[FurtherText, ...]:
    given = entry.get("further")
    texts = list[FurtherText]()
    for one in given[:_MOST_FURTHER] if isinstance(given, list) else ():
        match one:
            case {"language": str(language), "text": str(text)}:
                language, text = (it.encode(errors="replace").decode() for it in (language, text))
                pieces = _pieces(one, start_s, end_s)
                texts.append(FurtherText(language=language, text=text, pieces=pieces))
    return tuple(texts)


def _confidence(entry: dict[str, object]) -> float | None:
    value = entry.get("confidence")
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _left_out_s(entry: dict[str, object]) -> float:
    """Return how long was said what has no caption; 0 where it has one, or for what is no time."""
    value = entry.get("left_out_s")
    return float(value) if isinstance(value, int | float) and 0 <= value <= LATEST_S else 0.0


def _pieces(entry: dict[str, object], start_s: float, end_s: float) -> tuple[Piece, ...]:
    """Return the times within a cue; none if they decrease or are missing."""
    pieces, before = list[Piece](), (0, 0, start_s)
    given = entry.get("pieces")
    for piece in given if isinstance(given, list) else ():
        match piece:
            case [int(characters), int(words), int(at_s) | float(at_s)]:
                now = (characters, words, float(at_s))
            case _:
                return ()
        if any(new < old for new, old in zip(now, before, strict=True)) or not now[2] <= end_s:
            return ()
        pieces.append(now)
        before = now
    return tuple(pieces)
