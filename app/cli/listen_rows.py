"""What a listener reports becomes lines of a terminal, or of a pipe.

A caption becomes a line when its utterance has ended. A terminal shows more: its last row has the
captions that still grow, and dim behind them the words that may still change. Only that row is ever
written again, and it is never longer than the terminal is wide.
"""

import unicodedata
from collections.abc import Callable, Sequence
from typing import BinaryIO

from app.system.text_io import printable, send
from engine.events import CaptionChanged, Event, UtteranceEnded
from engine.utterances import Utterance, UtteranceTracker

_CLEAR_ROW = "\r\x1b[K"
_DIM, _PLAIN = "\x1b[2m", "\x1b[22m"


class ListeningView:
    """Feed events; ``draw`` when no more are there, for they come faster than eyes."""

    def __init__(
        self,
        stream: BinaryIO,
        utterances: UtteranceTracker,
        *,
        is_terminal: bool,
        width: Callable[[], int] = lambda: 80,
    ) -> None:
        """Write to a stream.

        Args:
            stream: standard output.
            utterances: those whose captions are written.
            is_terminal: rows may be written again.
            width: columns the terminal has now.
        """
        self._stream = stream
        self._utterances = utterances
        self._is_terminal = is_terminal
        self._width = width
        self._tails: dict[str, str] = {}
        self._newest = ""  # lane
        self._changed: set[int] = set()  # utterances whose captions are not on the screen
        self._row = ""

    def take(self, event: Event, utterance: Utterance) -> list[int]:
        """Take an event about an utterance; return the utterances that are on the screen now.

        Raises:
            TextError: the output cannot be written.
        """
        match event:
            case CaptionChanged():
                self._newest = utterance.lane
                self._changed.add(utterance.number)
            case UtteranceEnded():
                return self._end(utterance)
        return []

    def show_tail(self, lane: str, words: Sequence[str]) -> None:
        """Take the words of a lane that may still change."""
        self._tails[lane] = " ".join(words)
        self._newest = lane if words else self._newest

    def draw(self) -> list[int]:
        """Draw the last row anew where it changed; return the utterances that are on it now.

        Raises:
            TextError: the output cannot be written.
        """
        if not self._is_terminal:
            return []
        row = self._last_row()
        if row != self._row:
            self._row = row
            send(self._stream, _CLEAR_ROW + row)
        shown = [one.number for one in self._utterances.open if one.number in self._changed]
        self._changed.clear()
        return shown

    def hide(self) -> None:
        """Take the last row away, so that something else can be written; ``draw`` brings it."""
        if self._row:
            send(self._stream, _CLEAR_ROW)
            self._row = ""

    def close(self) -> None:
        """Write what is still open as lines, and leave the row clean."""
        for utterance in self._utterances.open:
            self._end(utterance)
        self.hide()

    def _end(self, utterance: Utterance) -> list[int]:
        self._changed.discard(utterance.number)
        caption = " ".join(printable(utterance.caption).split())
        if caption:
            clear = _CLEAR_ROW if self._row else ""
            self._row = ""
            send(self._stream, f"{clear}{_label(utterance.lane)}{caption}\n")
        return [utterance.number]

    def _last_row(self) -> str:
        lane = self._newest
        captions = [one.caption for one in self._utterances.open if one.lane == lane]
        caption = " ".join(printable(" ".join(captions)).split())
        tail = " ".join(printable(self._tails.get(lane, "")).split())
        room = self._width() - 1 - len(_label(lane))
        tail = _last_cells(tail, room)
        caption = (
            _last_cells(caption, room - n_cells(tail) - 1) if tail else _last_cells(caption, room)
        )
        if not caption and not tail:
            return ""
        dim = f"{_DIM}{tail}{_PLAIN}" if tail else ""
        return _label(lane) + " ".join(part for part in (caption, dim) if part)


def n_cells(text: str) -> int:
    """Count the columns a text takes in a terminal."""
    return sum(_cells(letter) for letter in text)


def _cells(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _last_cells(text: str, room: int) -> str:
    """Keep the end of a text that fits."""
    n_taken = 0
    for place in range(len(text) - 1, -1, -1):
        n_taken += _cells(text[place])
        if n_taken > room:
            return text[place + 1 :]
    return text


def _label(lane: str) -> str:
    return f"[{printable(lane)}] " if lane else ""
