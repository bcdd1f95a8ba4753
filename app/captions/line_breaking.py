"""Breaks caption text into lines for the overlay; breaks never move. Plain Python.

text grows:   Guten Morgen zusammen. Heute wollen wir üb
lines:        Guten Morgen         <- closed: does not change any more
              zusammen.            <- closed: a sentence begins a line
              Heute wollen         <- closed
              wir üb               <- open: grows, or passes its last word to the next line
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from app.captions.model import UtteranceView, dotted
from app.config.preferences import DOUBT_SIGN, MARKED, OFF, SIGN
from engine.text.sentences import ends_sentence

Measure = Callable[[str], float]
"""Returns the width of a text, in the unit of the line width."""

RIGHT_TO_LEFT_MARK = "\u200f"
"""Without width; a line that begins with it is set from the right, whatever its first letter is."""

_NO_BREAK = "\u00a0\u2007\u202f"
_NO_START = "?!;:»%€"  # French and others write a space before them
_NO_END = "«"

_LABEL_SHARE = 0.5  # of a line, for the name of a speaker at most

_JOINER = "\u200d"
_MARKS = _JOINER + "\ufe0e\ufe0f"  # zero-width joiner and variation selectors


def may_break(before: str, space: str, after: str) -> bool:
    """Return whether a line may end with a space, by the characters beside it.

    No line begins with a mark that ends a sentence, a quotation or a number, as in the rules LB12
    and LB13 of Unicode, Line Breaking Algorithm, unicode.org/reports/tr14.
    """
    return space.isspace() and not (
        space in _NO_BREAK or (after and after in _NO_START) or (before and before in _NO_END)
    )


class LineBreaker:
    """Break one growing text into lines; a sentence begins a line.

    Invariant: the lines do not depend on how the text is cut into parts; a returned line never
    changes; all lines joined are the text with all its spaces.
    """

    def __init__(self, width: float, measure: Measure) -> None:
        self._width = width
        self._measure = measure
        self._line = ""

    @property
    def open_line(self) -> str:
        """The last line, which can grow."""
        return self._line

    def feed(self, part: str) -> list[str]:
        """Append text; return the lines it closed."""
        closed = []
        # One character after the other: so a break depends on nothing that came after it, not even
        # where the longer text is the narrower one (kerning, Arabic letters that join).
        for character in part:
            if self._begins_sentence(character):
                closed.append(self.flush())
            elif self._overflows(character):
                cut = self._cut(character)
                closed.append(self._line[:cut])
                self._line = self._line[cut:]
            self._line += character
        return closed

    def flush(self) -> str:
        """Close the last line."""
        line, self._line = self._line, ""
        return line

    def _begins_sentence(self, character: str) -> bool:
        """Return whether a character after the open line is the first one of a sentence.

        None begins with a small letter, or after a number: "3. Oktober" is one sentence.
        """
        if character.isspace() or character.islower() or not self._line[-1:].isspace():
            return False
        words = self._line.split()
        if not words or words[-1] == "…":
            return False  # dots alone are no sentence
        return ends_sentence(words[-1]) and not words[-1].rstrip(".").isdecimal()

    def _overflows(self, character: str) -> bool:
        # Spaces hang over the edge, and a line has at least one character.
        if character.isspace() or not self._line.strip() or _is_joined(self._line[-1], character):
            return False
        return self._measure(self._line + character) > self._width

    def _cut(self, after: str) -> int:
        """Return where the open line closes: before its last word, or inside its only one."""
        text = self._line + after
        spaces = [i for i in range(len(self._line)) if may_break(text[i - 1 : i], *text[i : i + 2])]
        cut = spaces[-1] + 1 if spaces else 0
        return cut if self._line[:cut].strip() else len(self._line)


def _is_joined(before: str, character: str) -> bool:
    """Return whether two code points are one character on the screen."""
    return (
        character in _MARKS or before == _JOINER or unicodedata.category(character).startswith("M")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line to paint.

    Attributes:
        text: without white space at its ends.
        right_to_left: direction of the whole text.
        n_tail: number of tentative characters at its end.
        doubtful: a mark stands before it.
        lane: the speaker, if speakers are named.
        n_label: number of characters at its start that name the speaker.
        is_quiet: it is none of the captions, but about them, or one of before.
        place: the key of its utterance, and its number in there.
    """

    text: str
    right_to_left: bool = False
    n_tail: int = 0
    doubtful: bool = False
    lane: str = ""
    n_label: int = 0
    is_quiet: bool = False
    place: tuple[int, int] = field(default=(0, 0), compare=False)

    @property
    def certain(self) -> str:
        """The certain part of the text, which can only grow."""
        return self.text[: len(self.text) - self.n_tail].rstrip()


class Typesetter:
    """Break the end of a transcript into lines; every utterance begins a new line."""

    def __init__(
        self,
        width: float,
        measure: Measure,
        text_of: Callable[[UtteranceView], str] = lambda view: view.caption,
        tail_of: Callable[[UtteranceView], str] = lambda _view: "",
        name_of: Callable[[UtteranceView], str] = lambda _view: "",
        doubt_mark: str = OFF,
    ) -> None:
        """Break ``text_of`` each view into lines of at most ``width``.

        The tentative text of ``tail_of`` follows it, dotted, and never affects its breaks; nor does
        ``doubt_mark``, one of ``DOUBT_MARKS``, of doubtful views. The name of the speaker of
        ``name_of`` stands before it, unless it is empty.
        """
        self._width = width
        self._measure = measure
        self._text_of = text_of
        self._tail_of = tail_of
        self._doubt_mark = doubt_mark
        self._name_of = name_of
        self._set: dict[int, _SetText] = {}

    def last_lines(self, views: Sequence[UtteranceView], count: int) -> tuple[Line, ...]:
        """Return the last ``count`` lines, or fewer."""
        lines: list[Line] = []
        visited: dict[int, _SetText] = {}
        for view in reversed(views):
            if len(lines) >= count:
                break
            text, tail, name = self._text_of(view), self._tail_of(view), self._name_of(view)
            found = self._set.get(view.key)
            if found is None or found.name != name or not text.startswith(found.text):
                breaker = LineBreaker(self._width, self._measure)
                found = _SetText(breaker, name, self._label(name), view.lane)
            found.grow_to(text)
            visited[view.key] = found
            if text.strip() or tail:
                own = self._with_tail(found.lines(), dotted(tail))
                if view.left_out_s:
                    own = [replace(line, is_quiet=True) for line in own]
                own = self._doubtful(own) if view.doubtful else own
                placed = [replace(line, place=(view.key, at)) for at, line in enumerate(own)]
                lines = placed + lines
        self._set = visited
        return tuple(lines[-count:])

    @property
    def keys(self) -> tuple[int, ...]:
        return tuple(self._set)

    def _doubtful(self, lines: list[Line]) -> list[Line]:
        if self._doubt_mark == SIGN and lines:
            return self._with_tail(lines, DOUBT_SIGN)
        is_marked = self._doubt_mark == MARKED
        return [replace(line, doubtful=is_marked) for line in lines[:1]] + lines[1:]

    def _label(self, name: str) -> str:
        label, n_kept = f"{name}: ", len(name)
        while n_kept > 1 and self._measure(label) > self._width * _LABEL_SHARE:
            n_kept -= 1
            label = f"{name[:n_kept].rstrip()}…: "
        return label if name else ""

    def _with_tail(self, lines: list[Line], tail: str) -> list[Line]:
        for word in tail.split():
            last = lines[-1] if lines else Line(text="")
            longer = f"{last.text} {word}" if last.text else word
            if not last.text or self._measure(longer) <= self._width:
                n_tail = len(longer) - len(last.certain)
                lines[-1:] = [replace(last, text=longer, n_tail=n_tail)]
            else:
                lines.append(replace(last, text=word, n_tail=len(word), n_label=0))
        return lines


class _SetText:
    """A text and its lines so far, so that only new text is measured."""

    def __init__(self, breaker: LineBreaker, name: str, label: str, lane: str) -> None:
        self._breaker = breaker
        self._closed = breaker.feed(label)
        self._n_label = len(label.rstrip())
        self._lane = lane if name else ""
        self.name = name
        self.text = ""

    def grow_to(self, text: str) -> None:
        self._closed += self._breaker.feed(text[len(self.text) :])
        self.text = text

    def lines(self) -> list[Line]:
        shown = [line.strip() for line in [*self._closed, self._breaker.open_line]]
        right_to_left = runs_right_to_left(self.text)
        lines = [
            Line(text=line, right_to_left=right_to_left, lane=self._lane) for line in shown if line
        ]
        n_label = min(self._n_label, len(lines[0].text)) if lines else 0
        return [replace(line, n_label=n_label) for line in lines[:1]] + lines[1:]


def runs_right_to_left(text: str) -> bool:
    """Return whether the first letter with a direction runs from right to left (UAX 9, P2).

    The direction applies to all lines of the text, whatever their own first letter.
    """
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in {"L", "R", "AL"}:
            return direction != "L"
    return False


def lines_scrolled(before: Sequence[Line], after: Sequence[Line]) -> int | None:
    """Return by how many lines the text moved up; None if it is another text.

    A line may have grown, or passed its last word to the next one.
    """
    for moved in range(len(before)):
        pairs = zip(before[moved:], after, strict=False)
        if len(before) - moved <= len(after) and all(_continues(*pair) for pair in pairs):
            return moved
    return None


def _continues(before: Line, after: Line) -> bool:
    one, other = before.certain, after.certain
    return one.startswith(other) or other.startswith(one)
