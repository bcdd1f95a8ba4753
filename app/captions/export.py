"""Exports cues to a file: SRT, WebVTT, text or JSON Lines, in one language or two."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from app.captions.cue_splitter import split, split_source
from app.captions.cue_times import Times, counted, readable
from app.captions.cues import Cue, to_json, to_srt, to_vtt
from app.config.doubt import with_sign
from app.config.system.messages import AppCode
from app.config.system.text_io import TextError, printable
from engine.errors import message_of
from engine.files import replacing
from engine.messages import Code
from engine.settings import check_choice

FORMS = ("srt", "vtt", "txt", "jsonl")
SUBTITLES = ("srt", "vtt")
"""The forms that have times to be read by."""

CONTENTS = ("captions", "source", "both")
ALL = "all"
"""Every language of a cue, where there are further ones; the code of one is content, too."""

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
        times: where those of subtitles are counted from.
        marks_doubt: doubtful captions end in a sign; JSON Lines have their confidence in any case.

    Returns:
        the number of written cues.

    Raises:
        TextError: the file cannot be written.
        ValueError: there is no such form or content.
    """
    check_choice("form", form, FORMS)
    cues = _named(cues, form)
    further = further_languages(cues)
    check_choice("content", content, (*CONTENTS, ALL, *further))
    if content in further and form != "jsonl":
        cues = [in_language(cue, content) for cue in cues]
    if marks_doubt and form != "jsonl":
        cues = _signed(cues)
    if form != "txt":
        cut = split_source if form in SUBTITLES and content == "source" else split
        cues = sorted((part for cue in cues for part in cut(cue)), key=lambda cue: cue.start_s)
    if form != "jsonl":
        cues = _chosen(cues, content)
    if form in SUBTITLES:
        cues = readable(counted(cues, times))
    try:
        return _write(path, _texts(cues, form, content), "WEBVTT\n\n" if form == "vtt" else "")
    except (OSError, ValueError) as error:  # a name no file can have is a ValueError
        message = AppCode.EXPORT_UNWRITABLE(path=str(path), reason=message_of(error))
        raise TextError(message) from error


def n_lacking(cues: Iterable[Cue]) -> dict[str, int]:
    """Count the captions that further languages left out, by their codes; without those of none."""
    return dict(
        Counter(
            one.language
            for cue in cues
            for one in cue.further
            if cue.text.strip() and not one.text.strip()
        )
    )


def further_languages(cues: Iterable[Cue]) -> tuple[str, ...]:
    """Return the codes of the further languages of cues, in the order in which they came."""
    return tuple(dict.fromkeys(one.language for cue in cues for one in cue.further))


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
    """Write a file of a head and texts; return the number of texts, or raise as ``replacing``."""
    if path.exists() and not path.is_file():  # a file would take its place
        raise OSError(0, Code.NOT_PLAIN(), str(path))
    with (
        replacing(path) as fresh,
        fresh.open("x", encoding="utf-8", errors="replace", newline="\n") as file,
    ):
        file.write(head)
        return sum(1 for text in texts if file.write(text))


def _named(cues: Iterable[Cue], form: str) -> list[Cue]:
    """Remove the speaker if there is only one."""
    cues = list(cues)
    tells_apart = len({cue.speaker for cue in cues}) > 1
    return cues if tells_apart or form == "jsonl" else [replace(cue, speaker="") for cue in cues]


def _signed(cues: Iterable[Cue]) -> list[Cue]:
    """Append the sign to doubtful captions."""
    return [replace(cue, text=with_sign(cue.text)) if cue.doubtful else cue for cue in cues]


def _chosen(cues: Sequence[Cue], content: str) -> list[Cue]:
    """Return the cues with the chosen content, the source above the caption; drop empty ones."""
    texts = {
        "captions": [cue.text for cue in cues],
        "source": [cue.source for cue in cues],
        "both": [_both(cue) for cue in cues],
        ALL: ["\n".join([_both(cue), *(one.text for one in cue.further)]) for cue in cues],
    }.get(content, [cue.text for cue in cues])
    pairs = zip(cues, texts, strict=True)
    return [replace(cue, text=text) for cue, text in pairs if text.strip()]


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
