"""A cue: text and its times; its form in SRT, WebVTT and JSON Lines.

SRT has no specification: players read angle brackets, braces and some letters after a backslash as
markup, and there are no escapes. So brackets become similar characters, and a word joiner without
width follows a backslash. WebVTT is escaped by its specification
(https://www.w3.org/TR/webvtt1/, 4.2.2).
"""

import json
from dataclasses import asdict, dataclass, replace

from app.captions.cue_lines import label_of, lines_of
from app.config.system.text_io import printable

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
class FurtherText:
    """The translation of a cue into a further language.

    Attributes:
        language: as a two-letter code.
        text, pieces: as those of a ``Cue``.
    """

    language: str
    text: str
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """Source words and their translation.

    Attributes:
        start_s: start of the words, in seconds since the source was started.
        end_s: end of the display; at least ``start_s``.
        text: the caption; a line feed stands between two languages.
        source: the source words, if known.
        speaker: lane of the words, if there are two.
        language: of the caption, as a two-letter code.
        source_language: of the source, likewise; empty if it is not known.
        marked: the user marked it.
        confidence: how likely the caption is good, 0 to 1; None if it is not known.
        doubtful: the model is not sure of the caption.
        pieces: known times within the text, not decreasing.
        further: its translations into further languages.
        left_out_s: so long was said what has no caption, and the text says so; 0 if it is one.
    """

    start_s: float
    end_s: float
    text: str
    source: str = ""
    speaker: str = ""
    language: str = ""
    source_language: str = ""
    marked: bool = False
    confidence: float | None = None
    doubtful: bool = False
    pieces: tuple[Piece, ...] = ()
    further: tuple[FurtherText, ...] = ()
    left_out_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.start_s <= self.end_s <= LATEST_S:
            msg = (
                f"a cue lasts from 0 or later to its end, {LATEST_S:.0f} s at most, got "
                f"{self.start_s} to {self.end_s}"
            )
            raise ValueError(msg)


def to_srt(cue: Cue, number: int) -> str:
    """Return a cue as SRT with its final blank line; empty for a cue without text."""
    lines = [line.translate(_SRT_LIKENESSES) for line in _lines(cue, speaker=cue.speaker)]
    if not lines:
        return ""
    start, end = _times(cue, ",")
    return "\n".join([str(number), f"{start} --> {end}", *lines, "", ""])


def to_vtt(cue: Cue) -> str:
    """Return a cue as WebVTT with its final blank line; empty for a cue without text."""
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
    """Return a cue as a line of JSON, with seconds to the millisecond."""
    fields = asdict(replace(cue, start_s=round(cue.start_s, 3), end_s=round(cue.end_s, 3)))
    del fields["pieces"], fields["further"]
    if cue.further:
        fields["further"] = {one.language: one.text for one in cue.further}
    if not cue.marked:
        del fields["marked"]
    if not cue.left_out_s:
        del fields["left_out_s"]
    if cue.confidence is None:
        del fields["confidence"], fields["doubtful"]
    else:
        fields["confidence"] = round(cue.confidence, 3)
    line = json.dumps(fields, ensure_ascii=False)
    return line.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029") + "\n"


def _lines(cue: Cue, speaker: str = "") -> list[str]:
    """Return the lines, broken where they are too long, without empty ones: they end a cue."""
    texts = [" ".join(printable(line).split()) for line in cue.text.splitlines()]
    texts = [text for text in texts if text]
    labels = [label_of(printable(speaker))] + [""] * len(texts)
    return [
        line for text, label in zip(texts, labels, strict=False) for line in lines_of(text, label)
    ]


def _times(cue: Cue, point: str) -> tuple[str, str]:
    """Return both times; players refuse cues shorter than a millisecond."""
    start_ms = round(cue.start_s * 1000)
    end_ms = max(round(cue.end_s * 1000), start_ms + 1)
    return _time(start_ms, point), _time(end_ms, point)


def _time(ms: int, point: str) -> str:
    minutes, ms = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{ms // 1000:02}{point}{ms % 1000:03}"
