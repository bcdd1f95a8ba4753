"""Lines of a cue: at most two of 42 characters, as subtitlers have it. Pure."""

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
    blanks = [i for i in range(len(text) - LINE - 1, room + 1) if i >= 0 and text[i] == " "]
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


def _line_end(text: str, start: int, room: int) -> int:
    """Return the index after the last blank that ends a line, or that of a cut in a long word."""
    blank = text.rfind(" ", start, start + room + 1)
    return blank + 1 if blank > start else start + room
