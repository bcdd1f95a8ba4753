"""Lines of a cue: at most two of 42 characters, as subtitlers have it. Pure."""

from app.captions.line_breaking import may_break

LINE = 42
"""Characters of a line."""

LINES = 2
"""Lines of a cue, in each of its languages."""


def label_of(speaker: str) -> str:
    """Return the speaker as it stands before the first line of a cue; empty for none."""
    name = " ".join(speaker.split())
    return f"{name}: " if name else ""


def cue_end(text: str, start: int, label: str = "") -> int:
    """Return the index where a cue must end that starts at an index; it is full before that.

    It rests on text that is there, so that it stays where it is when the text grows.

    Args:
        text: words with blanks between them.
        start: index of a word.
        label: stands before the text and takes room, up to half a line.
    """
    room = _room(label)
    for _ in range(LINES):
        if len(text) - start <= room:
            return len(text)
        start, room = _line_end(text, start, room), LINE
    return start


def lines_of(text: str, label: str = "") -> list[str]:
    """Break a text after its label into lines: two about equally long ones if it fits.

    A longer one has as many as it needs.
    """
    room, whole = _room(label), len(label) + len(text)
    if len(text) <= room:
        return [label + text]
    blanks = [i for i in range(max(len(text) - LINE - 1, 0), room + 1) if _is_end(text, i)]
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
    """Return the characters that a label leaves of its line."""
    return max(LINE // 2, LINE - len(label))


def _is_end(text: str, at: int) -> bool:
    return may_break(text[at - 1 : at], text[at], text[at + 1 : at + 2])


def _line_end(text: str, start: int, room: int) -> int:
    """Return the index after the last blank that ends a line, or that of a cut in a long word."""
    blanks = (i for i in range(start + room, start, -1) if _is_end(text, i))
    return next(blanks, start + room - 1) + 1
