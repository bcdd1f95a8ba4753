"""Writes cues to a file as they become final, so that a crash loses at most the last one.

Each cue is appended in one write and flushed to the disk. So the file is valid SRT, WebVTT or JSON
Lines between two writes; a program that is killed within one can leave the beginning of a cue.
"""

import dataclasses
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from app.captions.cues import Cue, to_json, to_srt, to_vtt
from app.config.system.text_io import TextError
from engine.files import append_text

FORMATS = ("srt", "vtt", "jsonl")


class SubtitleWriter:
    """Write one file, which is complete even if it is not closed."""

    def __init__(self, path: Path, form: str) -> None:
        """Create the file.

        Args:
            path: a new file, or a device or pipe; files are never overwritten.
            form: one of ``FORMATS``.

        Raises:
            ValueError: there is no such format.
            TextError: the file exists, or cannot be written.
        """
        if form not in FORMATS:
            msg = f"the format must be one of {', '.join(FORMATS)}, got {form!r}"
            raise ValueError(msg)
        self._path = path
        self._form = form
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

    def write_summary(self, summary: Mapping[str, object]) -> None:
        """Append a summary line to JSON Lines; raise TextError if that fails."""
        if self._form == "jsonl":
            self._append(json.dumps(summary, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _text(self, cue: Cue) -> str:
        match self._form:
            case "srt":
                return to_srt(cue, self._n_written + 1)
            case "jsonl":
                return to_json(cue)
            case _:
                start_s = self._last_start_s = max(cue.start_s, self._last_start_s)
                return to_vtt(
                    dataclasses.replace(cue, start_s=start_s, end_s=max(cue.end_s, start_s))
                )

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
