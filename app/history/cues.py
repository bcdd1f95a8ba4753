"""A cue: text and when it is shown. How SRT, WebVTT and JSON Lines write it down.

SRT was never specified: players take angle brackets, braces and some letters behind a backslash for
markup, and know no escapes. So brackets become others that look alike, and a word joiner, which has
no width, follows a backslash. WebVTT is escaped as its specification says
(https://www.w3.org/TR/webvtt1/, 4.2.2).
"""

import json
from dataclasses import dataclass

from app.system.text_io import printable

LATEST_S = 1e9
"""Thirty years: no recording is longer, and its milliseconds are still exact."""

_SRT_LIKENESSES = str.maketrans(
    {
        "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
        ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
        "{": "(",
        "}": ")",
        "\\": "\\\N{WORD JOINER}",
    }
)
_VTT_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


Piece = tuple[int, int, float]
"""Characters of a text, the words that they rest on, and the second when those were said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """Something that was said, and its translation.

    Attributes:
        start_s: when it was begun to be said, in seconds since the source was started.
        end_s: when the text may go; at least ``start_s``.
        text: the caption; line feeds break its lines.
        source: the words that were said, where they are known.
        speaker: who said them, where two are told apart.
        language: of the caption, as a two-letter code.
        marked: whether the person marked it, to find it again.
        pieces: where the times within the text are known; each is none less than the one before.
    """

    start_s: float
    end_s: float
    text: str
    source: str = ""
    speaker: str = ""
    language: str = ""
    marked: bool = False
    pieces: tuple[Piece, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.start_s <= self.end_s <= LATEST_S:
            msg = (
                f"a cue lasts from 0 or later to its end, {LATEST_S:.0f} s at most, got "
                f"{self.start_s} to {self.end_s}"
            )
            raise ValueError(msg)


def to_srt(cue: Cue, number: int) -> str:
    """Write a cue for an SRT file, with the blank line that ends it; numbers count from 1.

    Nothing is written for a cue without any text.
    """
    lines = [line.translate(_SRT_LIKENESSES) for line in _lines(cue, speaker=cue.speaker)]
    if not lines:
        return ""
    start, end = _times(cue, ",")
    return "\n".join([str(number), f"{start} --> {end}", *lines, "", ""])


def to_vtt(cue: Cue) -> str:
    """Write a cue for a WebVTT file, with the blank line that ends it; nothing without any text."""
    lines = [line.translate(_VTT_ESCAPES) for line in _lines(cue)]
    if not lines:
        return ""
    if cue.speaker:
        voice = "".join(letter for letter in printable(cue.speaker) if letter not in "&<>")
        lines[0] = f"<v {voice}>{lines[0]}"
    start, end = _times(cue, ".")
    note = ["NOTE marked", ""] if cue.marked else []
    return "\n".join([*note, f"{start} --> {end}", *lines, "", ""])


def to_json(cue: Cue) -> str:
    """Write a cue as a line of JSON, text as it is; seconds to the millisecond."""
    fields = {
        "start_s": round(cue.start_s, 3),
        "end_s": round(cue.end_s, 3),
        "text": cue.text,
        "source": cue.source,
        "speaker": cue.speaker,
        "language": cue.language,
    } | ({"marked": True} if cue.marked else {})
    line = json.dumps(fields, ensure_ascii=False)
    return line.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029") + "\n"


def _lines(cue: Cue, speaker: str = "") -> list[str]:
    """List the lines that can be shown; an empty one would end the cue."""
    lines = [" ".join(printable(line).split()) for line in cue.text.splitlines()]
    lines = [line for line in lines if line]
    if speaker and lines:
        lines[0] = f"{' '.join(printable(speaker).split())}: {lines[0]}"
    return lines


def _times(cue: Cue, point: str) -> tuple[str, str]:
    """Write both times; a cue is shown for at least a millisecond, or players refuse it."""
    start_ms = round(cue.start_s * 1000)
    end_ms = max(round(cue.end_s * 1000), start_ms + 1)
    return _time(start_ms, point), _time(end_ms, point)


def _time(ms: int, point: str) -> str:
    minutes, ms = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{ms // 1000:02}{point}{ms % 1000:03}"
