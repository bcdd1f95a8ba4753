"""Show lines no faster than they can be read. Plain Python; the time is handed in.

New words flow: the first at once, the others of a burst over the next second. A line stays until
there was time to read it and those above it; while a burst comes, a few more lines than usual stand
there, and what has no room even then waits a moment. If more comes than can be read, lines leave
earlier: reading never makes captions late by more than some seconds.

    calm                      a burst                     read
    | 1 we begin with        | 1 we begin with            | 3 and then we go on
    | 2 a question           | 2 a question               | 4 with an answer
    | 3 and then we go on    | 3 and then we go on        | 5 that is short
                             | 4 with an answer
                             | 5 that is short
"""

import sys
from collections.abc import Sequence
from dataclasses import replace

from app.captions.line_breaking import Line

LETTERS_PER_S = 17.0
"""How fast captions are read, as subtitling standards say."""

LEAST_S = 1.0
"""How long a line stays at least after its last word came."""

MOST_HELD_S = 3.0
"""So long new words wait for room; then the oldest line leaves, read or not, until none waits."""

EXTRA_LINES = 2
"""Lines above the usual ones while a burst comes."""

LOOKED_AT = 16
"""The newest lines to give to ``show``: what waits beyond them is not shown at all."""

_ALL = sys.maxsize

_FLOW_LETTERS_PER_S = 34.0  # at least: no word waits for long
_FLOW_S = 1.0  # so long a burst flows at most

Place = tuple[int, int]
"""Which line it is: the key of its utterance, and its number in there."""


class ReadingPace:
    """Choose the lines of a growing text that are on the screen.

    Attributes:
        next_s: when ``show`` returns something else, though nothing new came; None if it does not.
        waits: the keys of utterances of which something is not shown yet.
    """

    def __init__(self, *, flows: bool = True) -> None:
        """Start with an empty screen; unless it ``flows``, a line is shown whole at once."""
        self.next_s: float | None = None
        self.waits = frozenset[int]()
        self._flows = flows
        self._begun: dict[Place, float] = {}  # when each line on the screen began, in order
        self._changed: dict[Place, tuple[str, float]] = {}  # its text, and when that came
        self._n_shown = 0  # letters of the last line on the screen, tentative ones among them
        self._rate = _FLOW_LETTERS_PER_S
        self._next_word_s = self._reader_s = float("-inf")
        self._is_held = False  # words wait for room now
        self._held_since_s: float | None = None  # and since when some have waited
        self._gone: tuple[Place, int] | None = None  # a line, and its letters that are gone

    def forget(self) -> None:
        """Take everything off the screen: what comes next begins an empty one."""
        if self._begun:
            last = next(reversed(self._begun))
            self._gone = last, len(self._changed[last][0])
            self._begun.clear()

    def show(self, lines: Sequence[Line], count: int, extra: int, now_s: float) -> tuple[Line, ...]:
        """Return the lines to show now.

        Args:
            lines: the newest, ``LOOKED_AT`` at most, each with its place.
            count: that are usually shown.
            extra: so many more while a burst comes.
        """
        if not self._begun and self._gone is not None:
            lines = self._behind_gone(lines, now_s)
        known = [at for at, line in enumerate(lines) if line.place in self._begun]
        if not known:
            return self._begin(lines[-count:], now_s)
        first, last = known[0], known[-1]
        is_same = lines[last].place == next(reversed(self._begun))
        self._n_shown = min(self._n_shown if is_same else _ALL, _n_letters(lines[last]))
        self._begun = {
            line.place: self._begun.get(line.place, now_s) for line in lines[first : last + 1]
        }
        first, last = self._flow(lines, first, last, count + extra, now_s)
        while last - first >= count and self._is_read(lines[first], now_s):
            first += 1
        return self._shown(lines, first, last, count, now_s)

    def _behind_gone(self, lines: Sequence[Line], now_s: float) -> Sequence[Line]:
        """Return the lines that came since the screen was emptied, and begin with the first."""
        assert self._gone is not None
        gone, n_letters = self._gone
        places = [line.place for line in lines]
        if gone not in places:
            return lines  # another text, or far ahead
        went_on = _n_letters(lines[places.index(gone)]) > n_letters
        rest = lines[places.index(gone) + (not went_on) :]
        if rest:
            self._gone = None
            self._begun = {rest[0].place: now_s}
            self._n_shown = n_letters if went_on else 0
            self._reader_s = now_s
        return rest

    def _begin(self, lines: Sequence[Line], now_s: float) -> tuple[Line, ...]:
        self._begun = dict.fromkeys((line.place for line in lines), now_s)
        self._changed = {line.place: (line.certain, now_s) for line in lines}
        self._n_shown = _ALL
        self._reader_s, self._held_since_s, self.next_s = now_s, None, None
        self.waits = frozenset()
        if lines:
            self._gone = None
        return tuple(lines)

    def _flow(
        self, lines: Sequence[Line], first: int, last: int, most: int, now_s: float
    ) -> tuple[int, int]:
        """Show the words that are due in ``most`` lines; return the first line and the last."""
        self._next_word_s = max(self._next_word_s, now_s - _FLOW_S)
        self._is_held = False
        while True:
            is_whole = self._n_shown >= _n_letters(lines[last])
            if is_whole and last + 1 == len(lines):
                self._rate, self._held_since_s = _FLOW_LETTERS_PER_S, None
                return first, last
            if self._next_word_s > now_s:
                return first, last
            if not is_whole:
                self._show_word(lines[last:], now_s)
            else:
                if last + 1 - first >= most:
                    if not self._may_leave(lines[first], now_s):
                        self._is_held = True
                        return first, last
                    first += 1
                last, self._n_shown = last + 1, 0
                self._begun[lines[last].place] = now_s

    def _show_word(self, lines: Sequence[Line], now_s: float) -> None:
        """Show one more word of the first of these lines; all of them wait."""
        before, self._n_shown = self._n_shown, self._end_of_word(lines[0])
        if self._flows:
            n_left = sum(map(_n_letters, lines)) - before
            self._rate = max(self._rate, n_left / _FLOW_S)
            is_first = self._next_word_s <= now_s - _FLOW_S
            begun_s = now_s if is_first else self._next_word_s
            self._next_word_s = begun_s + (self._n_shown - before + 1) / self._rate

    def _end_of_word(self, line: Line) -> int:
        """Return where the next word of a line ends; a name and its first word are one."""
        text = line.certain
        start = max(self._n_shown, line.n_label)
        start += len(text[start:]) - len(text[start:].lstrip())
        end = text.find(" ", start) if self._flows else -1
        return len(text) if end < 0 else end

    def _may_leave(self, line: Line, now_s: float) -> bool:
        if self._is_read(line, now_s):
            return True
        if self._held_since_s is None:
            self._held_since_s = now_s
        if now_s < self._hurried_at_s(line):
            return False
        self._reader_s = now_s
        return True

    def _hurried_at_s(self, line: Line) -> float:
        """Return when the first line leaves, read or not, since words wait for too long."""
        assert self._held_since_s is not None
        return max(self._held_since_s + MOST_HELD_S, self._begun[line.place] + LEAST_S)

    def _is_read(self, line: Line, now_s: float) -> bool:
        read_s = self._read_at_s(line)
        if read_s > now_s:
            return False
        self._reader_s = read_s
        return True

    def _read_at_s(self, line: Line) -> float:
        begun_s = self._begun[line.place]
        came_s = self._changed.get(line.place, ("", begun_s))[1]
        reading_s = _n_letters(line) / LETTERS_PER_S
        return max(max(self._reader_s, begun_s) + reading_s, came_s + LEAST_S)

    def _shown(
        self, lines: Sequence[Line], first: int, last: int, count: int, now_s: float
    ) -> tuple[Line, ...]:
        """Return the lines of the screen, the last as far as it is shown, and note what waits."""
        shown = list(lines[first : last + 1])
        is_whole = self._n_shown >= _n_letters(shown[-1])
        if is_whole:
            self._n_shown = len(shown[-1].text)
        else:
            shown[-1] = replace(shown[-1], text=shown[-1].text[: self._n_shown], n_tail=0)
        self._begun = {line.place: self._begun[line.place] for line in shown}
        self._changed = {line.place: self._change(line, now_s) for line in shown}
        self.waits = frozenset(line.place[0] for line in lines[last + is_whole :])
        self.next_s = self._next_word_s
        if self._is_held:
            self.next_s = min(self._read_at_s(shown[0]), self._hurried_at_s(shown[0]))
        elif is_whole and last + 1 == len(lines):
            self.next_s = self._read_at_s(shown[0]) if last - first >= count else None
        return tuple(shown)

    def _change(self, line: Line, now_s: float) -> tuple[str, float]:
        before = self._changed.get(line.place)
        return before if before and before[0] == line.certain else (line.certain, now_s)


def _n_letters(line: Line) -> int:
    return len(line.certain)
