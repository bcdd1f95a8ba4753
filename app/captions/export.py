"""Writes cues to a file, at once or as they come: SRT, WebVTT, text or JSON Lines."""

import json
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from app.captions.cues import LATEST_S, Cue, to_json, to_srt, to_vtt
from app.captions.subtitles import Subtitles, of_source, split
from app.config.messages import AppCode
from app.config.preferences import with_sign
from app.config.text_io import TextError, printable
from engine.errors import message_of
from engine.files import append_text, replacing
from engine.messages import Code
from engine.settings import check_choice

FORMS = ("srt", "vtt", "txt", "jsonl")
SUBTITLES = ("srt", "vtt")
"""The forms that have times to be read by."""

WRITTEN = ("srt", "vtt", "jsonl")
"""The forms that are written while a session goes on."""

CONTENTS = ("captions", "source", "both")
ALL = "all"
"""Every language of a cue, where there are further ones; the code of one is content, too."""

TIMES = ("first", "session", "clock")
"""Where times are counted from: the first cue, the start of the session, midnight before it."""


@dataclass(frozen=True, slots=True)
class Times:
    """Where the times of subtitles are counted from.

    Attributes:
        start: one of ``TIMES``.
        started: when the session started, of its own time zone; needed for the clock.
        end_s: end of the recording, which no subtitle outlasts.
    """

    start: str = "session"
    started: datetime = datetime.min
    end_s: float = LATEST_S

    def __post_init__(self) -> None:
        check_choice("times", self.start, TIMES)


_SINCE_SESSION = Times()
_MARK = "→"  # before the line of a text that the user marked


def export(
    path: Path,
    cues: Iterable[Cue],
    form: str,
    content: str = "captions",
    *,
    times: Times = _SINCE_SESSION,
    marks_doubt: bool = False,
) -> int:
    """Write cues to a file atomically.

    The speaker is named if there are two, in JSON Lines always. A text has a line for each
    utterance; other forms are split as in the terminal. Subtitles get readable times, JSON Lines
    the original ones.

    Args:
        path: an existing file is replaced.
        cues: ordered by start.
        form: one of ``FORMS``.
        content: one of ``CONTENTS``, ``ALL`` or the code of a further language; JSON Lines always
            have every language.
        marks_doubt: doubtful captions end in a sign; JSON Lines have their confidence in any case.

    Returns:
        the number of written cues.

    Raises:
        TextError: the file cannot be written.
    """
    check_choice("form", form, FORMS)
    cues = _named(cues, form)
    further = further_languages(cues)
    check_choice("content", content, (*CONTENTS, ALL, *further))
    if content in further and form != "jsonl":
        cues = [in_language(cue, content) for cue in cues]
    if marks_doubt and form != "jsonl":
        cues = _signed(cues)
    if form == "jsonl":
        cues = sorted((part for cue in cues for part in split(cue)), key=lambda cue: cue.start_s)
    elif form == "txt":
        cues = _chosen(cues, content)
    else:
        if content == "source":
            cues, content = map(of_source, cues), "captions"
        subtitles = Subtitles(lambda cue: _shown(cue, content))
        for cue in sorted(cues, key=lambda cue: cue.start_s):
            subtitles.feed(cue)
        cues = counted(subtitles.flush(times.end_s), times)
    try:
        return _write(path, _texts(cues, form, content), "WEBVTT\n\n" if form == "vtt" else "")
    except (OSError, ValueError) as error:  # a name no file can have is a ValueError
        message = AppCode.EXPORT_UNWRITABLE(path=str(path), reason=message_of(error))
        raise TextError(message) from error


def n_lacking(cues: Iterable[Cue]) -> dict[str, int]:
    """Count the captions that further languages left out, by their codes; without those of none."""
    return dict(Counter(code for cue in cues for code in cue.lacking))


def counted(cues: Sequence[Cue], times: Times) -> list[Cue]:
    """Return cues with the times that people want to read.

    Args:
        cues: with times since the start of the session.
    """
    shift_s = 0.0
    if times.start == "first":
        shift_s = -min((cue.start_s for cue in cues), default=0.0)
    elif times.start == "clock":
        midnight = times.started.replace(hour=0, minute=0, second=0, microsecond=0)
        shift_s = (times.started - midnight).total_seconds()
    return [replace(cue, start_s=cue.start_s + shift_s, end_s=cue.end_s + shift_s) for cue in cues]


def further_languages(cues: Iterable[Cue]) -> tuple[str, ...]:
    """Return the codes of the further languages that cues have, in the order in which they came."""
    told = (one for cue in cues for one in cue.further if one.text.strip())
    return tuple(dict.fromkeys(one.language for one in told))


def in_language(cue: Cue, code: str) -> Cue:
    """Return a cue with its translation into a language alone; without text if there is none."""
    found = next((one for one in cue.further if one.language == code), None)
    if found is None and cue.language == code:
        return replace(cue, further=())
    text, pieces = ("", ()) if found is None else (found.text, found.pieces)
    return replace(
        cue,
        text=text,
        pieces=pieces,
        language=code,
        confidence=None,
        doubtful=False,
        further=(),
    )


def _write(path: Path, texts: Iterable[str], head: str) -> int:
    if path.exists() and not path.is_file():  # a file would take its place
        raise OSError(0, Code.NOT_PLAIN(), str(path))
    with (
        replacing(path) as fresh,
        fresh.open("x", encoding="utf-8", errors="replace", newline="\n") as file,
    ):
        file.write(head)
        return sum(1 for text in texts if file.write(text))


def _named(cues: Iterable[Cue], form: str) -> list[Cue]:
    cues = list(cues)
    tells_apart = len({cue.speaker for cue in cues}) > 1
    return cues if tells_apart or form == "jsonl" else [replace(cue, speaker="") for cue in cues]


def _signed(cues: Iterable[Cue]) -> list[Cue]:
    return [replace(cue, text=with_sign(cue.text)) if cue.doubtful else cue for cue in cues]


def _chosen(cues: Iterable[Cue], content: str) -> list[Cue]:
    return [replace(cue, text=text) for cue in cues if (text := _shown(cue, content)).strip()]


def _shown(cue: Cue, content: str) -> str:
    match content:
        case "source":
            return cue.source
        case "both":
            return _both(cue)
        case _ if content == ALL:
            return "\n".join([_both(cue), *(one.text for one in cue.further)])
        case _:
            return cue.text


def _both(cue: Cue) -> str:
    """Return the source above the caption; once where nothing was translated."""
    return cue.text if cue.text == cue.source else f"{cue.source}\n{cue.text}"


def _texts(cues: Iterable[Cue], form: str, content: str) -> Iterator[str]:
    """Yield each cue as text of the file; cues without text are skipped and not numbered."""
    number = 1
    for cue in cues:
        text = _text(cue, number, form, content)
        if text:
            yield text
            number += 1


def _text(cue: Cue, number: int, form: str, content: str) -> str:
    if form == "jsonl":
        return to_json(cue)
    if form == "srt":
        return to_srt(cue, number)
    if form == "vtt":
        return to_vtt(cue)
    lines = [" ".join(printable(line).split()) for line in cue.text.splitlines()]
    if cue.speaker and lines:
        lines[0] = f"{cue.speaker}: {lines[0]}"
    if cue.marked and lines:
        lines[0] = f"{_MARK} {lines[0]}"
    text = "".join(f"{line}\n" for line in lines if line)
    return text + "\n" if text and content in ("both", ALL) else text


class SubtitleWriter:
    """Write one file, cue by cue, so that a crash loses at most the last one of those given.

    Each is appended in one write and flushed to the disk. So the file is valid SRT, WebVTT or JSON
    Lines between two writes; a program that is killed within one can leave the beginning of a cue.
    """

    def __init__(self, path: Path, form: str) -> None:
        """Create the file.

        Args:
            path: a new file, or a device or pipe; files are never overwritten.
            form: one of ``WRITTEN``.

        Raises:
            TextError: the file exists, or cannot be written.
        """
        if form not in WRITTEN:
            msg = f"the format must be one of {', '.join(WRITTEN)}, got {form!r}"
            raise ValueError(msg)
        self._path = path
        self.form = form
        self._n_written = 0
        self._last_start_s = 0.0
        self._file: int | None = _created(path)
        self._can_sync = stat.S_ISREG(os.fstat(self._file).st_mode)
        if form == "vtt":
            self._append("WEBVTT\n\n")

    def write(self, cue: Cue) -> None:
        """Append a cue and flush it to the disk.

        WebVTT requires cues ordered by start: an earlier one gets the start of the last one.

        Raises:
            TextError: it cannot be written; the file stays valid.
        """
        text = self._text(cue)
        if text:
            self._append(text)
            self._n_written += 1

    def write_all(self, cues: Iterable[Cue]) -> None:
        for cue in cues:
            self.write(cue)

    def write_summary(self, summary: Mapping[str, object]) -> None:
        """Append a summary line to JSON Lines; raise TextError if that fails."""
        if self.form == "jsonl":
            self._append(json.dumps(summary, ensure_ascii=False) + "\n")

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _text(self, cue: Cue) -> str:
        match self.form:
            case "srt":
                return to_srt(cue, self._n_written + 1)
            case "jsonl":
                return to_json(cue)
            case _:
                start_s = self._last_start_s = max(cue.start_s, self._last_start_s)
                return to_vtt(replace(cue, start_s=start_s, end_s=max(cue.end_s, start_s)))

    def _append(self, text: str) -> None:
        if self._file is None:
            msg = "the file is closed"
            raise ValueError(msg)
        try:
            append_text(self._file, text, synced=self._can_sync)  # half a cue is none
        except OSError as error:
            msg = f"the subtitles {self._path} cannot be written: {error.strerror}"
            raise TextError(msg) from error


def _created(path: Path) -> int:
    flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
    try:
        if path.exists() and not path.is_file():
            return os.open(path, flags)  # a pipe or a terminal
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError as error:
        msg = f"the subtitles would overwrite {path}: name another file, or move that one away"
        raise TextError(msg) from error
    except OSError as error:
        msg = f"the subtitles {path} cannot be written: {error.strerror}; name another file"
        raise TextError(msg) from error
