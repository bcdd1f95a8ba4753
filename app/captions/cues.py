"""A cue: text and its times; its lines; its form in SRT, WebVTT and JSON Lines.

SRT has no specification: players read angle brackets, braces and some letters after a backslash as
markup, and there are no escapes. So brackets become similar characters, and a word joiner without
width follows a backslash. WebVTT is escaped by its specification
(https://www.w3.org/TR/webvtt1/, 4.2.2).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from app.captions.line_breaking import may_break
from app.config.text_io import printable
from engine.events import Confidence, Event, FedWord, UtteranceEnded
from engine.utterances import Caption, Utterance

LATEST_S = 1e9
"""Thirty years: no recording is longer, and its milliseconds are still exact."""

LINE = 42
"""Characters of a line."""

LINES = 2
"""Lines of a cue, in each of its languages."""

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
        confidence: how likely the caption is good, 0 to 1; None if it is not known.
        doubtful: the model is not sure of the caption.
        pieces: known times within the text, not decreasing.
        left_out_s: so long was said what has no caption, and the text says so; 0 if it is one.
        made_by: names of the model, its adapter and its policy, as far as they are known.
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
    made_by: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.start_s <= self.end_s <= LATEST_S:
            msg = (
                f"a cue lasts from 0 or later to its end, {LATEST_S:.0f} s at most, got "
                f"{self.start_s} to {self.end_s}"
            )
            raise ValueError(msg)

    @property
    def lacking(self) -> list[str]:
        """Codes of the further languages in which its caption is still to come."""
        has_caption = bool(self.text.strip()) and not self.left_out_s
        return [one.language for one in self.further if has_caption and not one.text.strip()]


def cue_of(
    utterance: Utterance,
    start_s: float,
    end_s: float,
    said_s: Sequence[float],
    further: Sequence[str] = (),
) -> Cue:
    """Return an utterance as one cue, with the times of the pieces of its caption.

    Args:
        start_s: start of the utterance; before 0 or after ``LATEST_S`` it counts as these.
        end_s: its end; an earlier one counts as ``start_s``.
        said_s: end of each of its words; empty if unknown.
        further: codes of the further languages that the cue has, too: their complete captions, and
            an empty one where that is still to come.
    """
    start_s = min(max(0.0, start_s), LATEST_S)
    end_s = min(max(start_s, end_s), LATEST_S)
    sure, span = utterance.confidence, (start_s, end_s)
    to_come = Caption(ended=True)
    captions = utterance.further | dict.fromkeys(utterance.owed, to_come)
    told = {code: one for code in further if (one := captions.get(code)) and one.ended}
    return Cue(
        start_s=start_s,
        end_s=end_s,
        text=utterance.caption.strip(),
        source=utterance.source,
        speaker=utterance.lane,
        language=utterance.languages[1],
        source_language=utterance.languages[0],
        confidence=None if sure is None else sure.value,
        doubtful=sure is not None and sure.is_low,
        made_by=utterance.made_by,
        pieces=_pieces(utterance.caption, utterance.pieces, span, said_s),
        further=tuple(
            FurtherText(
                language=code,
                text=one.caption.strip(),
                pieces=_pieces(one.caption, one.pieces, span, said_s),
            )
            for code, one in told.items()
        ),
    )


def utterance_of(cue: Cue, key: int, started_s: float) -> Utterance:
    """Return a cue of an earlier session as a complete utterance that awaits missing captions.

    Args:
        started_s: when that session began, by the clock of the utterances.
    """
    words = tuple(
        FedWord(text, committed_at_s=started_s + cue.end_s) for text in cue.source.split()
    )
    further = {
        one.language: Caption(caption=one.text, ended=True)
        for one in cue.further
        if one.text.strip()
    }
    return Utterance(
        key=key,
        number=-1,
        lane=cue.speaker,
        languages=(cue.source_language, cue.language),
        before_key=None,
        begun_at_s=started_s + cue.start_s,
        words=words,
        caption=cue.text,
        ended=True,
        confidence=None if cue.confidence is None else Confidence(cue.confidence, cue.doubtful),
        further=further,
        wanted=frozenset(cue.lacking),
        made_by=cue.made_by,
    )


def _pieces(
    caption: str,
    known: Sequence[tuple[int, int]],
    span: tuple[float, float],
    said_s: Sequence[float],
) -> tuple[Piece, ...]:
    """Return the times of the pieces of a caption, within the span of its cue.

    Text that was written at once rests on all words read until then, though it says them one after
    the other: it is shared out over those that were read since the text before.
    """
    n_letters, n_blanks = len(caption.strip()), len(caption) - len(caption.lstrip())
    written, n_words = dict[int, int](), 1  # characters there when so many words were read
    for n_characters, n_read in known if said_s else ():
        n_words = max(n_words, min(n_read, len(said_s)))
        written[n_words] = min(max(n_characters - n_blanks, 0), n_letters)
    (at_s, end_s), before, begin, pieces = span, 0, 0, list[Piece]()
    for n_words, n_characters in written.items():
        for n in range(before + 1, n_words + 1):
            at_s = min(end_s, max(at_s, said_s[n - 1]))
            share = (n_characters - begin) * (n - before) // (n_words - before)
            pieces.append((begin + share, n, at_s))
        before, begin = n_words, n_characters
    return tuple(pieces)


def corrected_cue(
    cue: Cue, source: str, utterances: Sequence[Utterance], further: Sequence[str]
) -> Cue:
    """Return a cue whose source was corrected, with the captions of its new utterances.

    It keeps its times, without those within its text.
    """
    parts = [cue_of(one, cue.start_s, cue.end_s, (), further) for one in utterances]
    sure = [part.confidence for part in parts if part.confidence is not None]
    told = {one.language for part in parts for one in part.further}
    return replace(
        cue,
        text=" ".join(part.text for part in parts),
        source=source,
        language=parts[-1].language,
        source_language=parts[-1].source_language,
        confidence=min(sure, default=None),
        doubtful=any(part.doubtful for part in parts),
        made_by=parts[-1].made_by,
        pieces=(),
        further=tuple(
            FurtherText(
                language=code,
                text=" ".join(
                    one.text for part in parts for one in part.further if one.language == code
                ),
            )
            for code in further
            if code in told
        ),
        left_out_s=0.0,
    )


def spoken_cue(event: Event, utterance: Utterance) -> Cue | None:
    """Return an utterance that an event has ended as a cue, with the times of its lane's timeline.

    None where nothing has ended, was said, or has a caption.
    """
    words = utterance.words
    if not isinstance(event, UtteranceEnded) or not utterance.caption.strip():
        return None
    if not words or words[0].spoken_at_s is None:
        return None
    ends_s = [word.end_s for word in words]
    return cue_of(utterance, words[0].start_s, ends_s[-1], ends_s)


def begun(cues: Sequence[Cue], started: datetime) -> datetime:
    """Return the time of the first cue of a session, which started then."""
    return started + timedelta(seconds=cues[0].start_s if cues else 0.0)


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
    for name in ("left_out_s", "made_by"):
        if not fields[name]:
            del fields[name]
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


def label_of(speaker: str) -> str:
    """Return the speaker as it stands before the first line of a cue; empty for none."""
    name = " ".join(speaker.split())
    return f"{name}: " if name else ""


def lines_of(text: str, label: str = "") -> list[str]:
    """Break a text after its label into lines: two about equally long ones if it fits.

    A longer one has as many as it needs.
    """
    room, whole = _room(label), len(label) + len(text)
    if len(text) <= room:
        return [label + text]
    blanks = [i for i in range(max(len(text) - LINE - 1, 0), room + 1) if is_line_end(text, i)]
    if blanks:
        middle = min(blanks, key=lambda i: abs(2 * (len(label) + i) + 1 - whole))
        return [label + text[:middle], text[middle + 1 :]]
    lines, start = list[str](), 0
    while len(text) - start > room:
        end = _line_end(text, start, room)
        lines.append(text[start:end].rstrip())
        start, room = end, LINE
    lines.append(text[start:])
    return [label + lines[0], *lines[1:]]


def _room(label: str) -> int:
    return max(LINE // 2, LINE - len(label))


def is_line_end(text: str, at: int) -> bool:
    """Return whether a line may end with the character at an index."""
    return may_break(text[at - 1 : at], text[at], text[at + 1 : at + 2])


def _line_end(text: str, start: int, room: int) -> int:
    """Return the index after the last blank that ends a line, or that of a cut in a long word."""
    blanks = (i for i in range(start + room, start, -1) if is_line_end(text, i))
    return next(blanks, start + room - 1) + 1
