"""Cues -> a file of the person's choice: SRT, WebVTT, text or JSON Lines; one language or two."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from app.cues import Cue, to_json, to_srt, to_vtt
from app.text_lines import TextError, printable

FORMS = ("srt", "vtt", "txt", "jsonl")
CONTENTS = ("captions", "source", "both")
_MARK = "→"  # before the line of a text that the person marked


def export(path: Path, cues: Iterable[Cue], form: str, content: str = "captions") -> int:
    """Write cues; the file is there as a whole or not at all.

    Who speaks is told where two are told apart; JSON Lines tell it in any case.

    Args:
        path: what is there already gives way.
        cues: by their beginnings.
        form: one of ``FORMS``.
        content: one of ``CONTENTS``; JSON Lines hold both languages in any case.

    Returns:
        the number of cues that had something to write.

    Raises:
        TextError: the file cannot be written.
        ValueError: there is no such form or content.
    """
    if form not in FORMS or content not in CONTENTS:
        msg = f"expected one of {FORMS} and one of {CONTENTS}, got {form!r} and {content!r}"
        raise ValueError(msg)
    fresh = path.with_name(path.name + ".new")
    count = 0
    try:
        with fresh.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            if form == "vtt":
                file.write("WEBVTT\n\n")
            for text in _texts(_named(cues, form), form, content):
                file.write(text)
                count += 1
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        msg = f"the captions cannot be written to {path}: {error.strerror}; choose another place"
        raise TextError(msg) from error
    return count


def _named(cues: Iterable[Cue], form: str) -> Iterable[Cue]:
    """Leave the speaker out where there is only one."""
    cues = tuple(cues)
    tells_apart = len({cue.speaker for cue in cues}) > 1
    return cues if tells_apart or form == "jsonl" else (replace(cue, speaker="") for cue in cues)


def _texts(cues: Iterable[Cue], form: str, content: str) -> Iterator[str]:
    """Yield what each cue is in the file; those without text are left out, and not numbered."""
    number = 1
    for cue in cues:
        text = _text(cue, number, form, content)
        if text:
            yield text
            number += 1


def _text(cue: Cue, number: int, form: str, content: str) -> str:
    if form == "jsonl":
        return to_json(cue)
    chosen = replace(cue, text=_chosen(cue, content))
    if form == "srt":
        return to_srt(chosen, number)
    if form == "vtt":
        return to_vtt(chosen)
    lines = [" ".join(printable(line).split()) for line in chosen.text.splitlines()]
    if cue.speaker and lines:
        lines[0] = f"{cue.speaker}: {lines[0]}"
    if cue.marked and lines:
        lines[0] = f"{_MARK} {lines[0]}"
    text = "".join(f"{line}\n" for line in lines if line)
    return text + "\n" if text and content == "both" else text


def _chosen(cue: Cue, content: str) -> str:
    """Choose what is shown; of two languages the source stands above."""
    if content == "captions":
        return cue.text
    return cue.source if content == "source" else f"{cue.source}\n{cue.text}"
