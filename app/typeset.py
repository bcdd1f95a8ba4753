"""Caption text -> lines for the overlay, with breaks that never move. Plain Python.

text grows:   Guten Morgen zusammen. Heute wol
lines:        Guten Morgen         <- closed: stays as it is, for good
              zusammen. Heute      <- closed
              wol                  <- open: grows, or hands its last word on to the next line
"""

import unicodedata
from collections.abc import Callable, Sequence

from app.captions import UtteranceView

Measure = Callable[[str], float]
"""Tells how wide a text is, in the unit of the line width."""

_JOINER = "\u200d"
_MARKS = _JOINER + "\ufe0e\ufe0f"  # zero-width joiner and variation selectors


class LineBreaker:
    """Break one growing text into lines.

    Invariant: a text gives the same lines however it was cut into parts; a line that ``feed``
    returned never changes; all lines joined are the text, every space kept where it stood.
    """

    def __init__(self, width: float, measure: Measure) -> None:
        self._width = width
        self._measure = measure
        self._line = ""

    @property
    def open_line(self) -> str:
        """The last line, which still grows."""
        return self._line

    def feed(self, part: str) -> list[str]:
        """Append text.

        Returns:
            the lines it closed.
        """
        closed = []
        # One character after the other: so a break rests on nothing that came after it, not even
        # where the longer text is the narrower one (kerning, Arabic letters that join).
        for character in part:
            if self._overflows(character):
                cut = self._cut()
                closed.append(self._line[:cut])
                self._line = self._line[cut:]
            self._line += character
        return closed

    def flush(self) -> str:
        """Close the last line."""
        line, self._line = self._line, ""
        return line

    def _overflows(self, character: str) -> bool:
        # Spaces hang over the edge, and a line has at least one character.
        if character.isspace() or not self._line.strip() or _is_joined(self._line[-1], character):
            return False
        return self._measure(self._line + character) > self._width

    def _cut(self) -> int:
        """Find where the open line closes: before its last word, or inside it if it is alone."""
        spaces = [place for place, character in enumerate(self._line) if character.isspace()]
        cut = spaces[-1] + 1 if spaces else 0
        return cut if self._line[:cut].strip() else len(self._line)


def _is_joined(before: str, character: str) -> bool:
    """Tell whether two code points are one character on the screen."""
    return (
        character in _MARKS or before == _JOINER or unicodedata.category(character).startswith("M")
    )


class Typesetter:
    """Set the end of a transcript in lines; every utterance begins a line of its own."""

    def __init__(self, width: float, measure: Measure) -> None:
        self._width = width
        self._measure = measure
        self._set: dict[int, _SetCaption] = {}

    def last_lines(self, views: Sequence[UtteranceView], count: int) -> tuple[str, ...]:
        """Give the last ``count`` lines of the captions, fewer where there is less text."""
        lines: list[str] = []
        visited: dict[int, _SetCaption] = {}
        for view in reversed(views):
            if len(lines) >= count:
                break
            caption = self._set.get(view.key)
            if caption is None or not view.caption.startswith(caption.text):
                caption = _SetCaption(LineBreaker(self._width, self._measure))
            caption.grow_to(view.caption)
            visited[view.key] = caption
            lines = caption.lines() + lines
        self._set = visited
        return tuple(lines[-count:])


class _SetCaption:
    """One caption with its lines so far, so that only what is new is measured."""

    def __init__(self, breaker: LineBreaker) -> None:
        self._breaker = breaker
        self._closed: list[str] = []
        self.text = ""

    def grow_to(self, text: str) -> None:
        self._closed += self._breaker.feed(text[len(self.text) :])
        self.text = text

    def lines(self) -> list[str]:
        shown = [line.strip() for line in [*self._closed, self._breaker.open_line]]
        return [line for line in shown if line]
