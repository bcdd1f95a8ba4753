"""Writes captions as lines of a terminal or a pipe.

A caption becomes a line when its utterance ends. The last row of a terminal also shows the growing
captions, followed dimly by the tentative source words. Only that row is ever rewritten, and it is
never wider than the terminal.
"""

import unicodedata
from collections.abc import Callable, Sequence
from typing import BinaryIO

from app.captions.model import left_out_note, left_out_s
from app.config.preferences import with_sign
from app.config.text_io import printable, send
from engine.events import CaptionChanged, Event, UtteranceEnded
from engine.utterances import Utterance, UtteranceTracker

_CLEAR_ROW = "\r\x1b[K"
_DIM, _PLAIN = "\x1b[2m", "\x1b[22m"


class ListeningView:
    """Feed it events; call ``draw`` when no more events wait."""

    def __init__(
        self,
        stream: BinaryIO,
        utterances: UtteranceTracker,
        *,
        is_terminal: bool,
        width: Callable[[], int] = lambda: 80,
        marks_doubt: bool = False,
    ) -> None:
        """Write to a stream.

        Args:
            stream: standard output.
            is_terminal: whether rows can be rewritten.
            width: returns the current columns of the terminal.
            marks_doubt: a sign follows captions that the model is not sure of.
        """
        self._stream, self._utterances = stream, utterances
        self._is_terminal, self._width = is_terminal, width
        self._marks_doubt = marks_doubt
        self._tails: dict[str, str] = {}
        self._newest = ""  # lane of the newest event
        self._changed: set[int] = set()  # utterances whose captions are not on the screen
        self._row = ""

    def take(self, event: Event, utterance: Utterance) -> list[int]:
        """Handle an event of an utterance; return the numbers of the utterances on the screen."""
        match event:
            case CaptionChanged():
                self._newest = utterance.lane
                self._changed.add(utterance.number)
            case UtteranceEnded():
                return self._end(utterance)
        return []

    def show_tail(self, lane: str, words: Sequence[str]) -> None:
        self._tails[lane] = " ".join(words)
        self._newest = lane if words else self._newest

    def draw(self) -> list[int]:
        """Redraw the last row if it changed; return the numbers of the utterances on it."""
        if not self._is_terminal:
            return []
        row = self._last_row()
        if row != self._row:
            self._row = row
            send(self._stream, _CLEAR_ROW + row)
        shown = [it.number for it in self._utterances.open if it.number in self._changed]
        self._changed.clear()
        return shown

    def hide(self) -> None:
        """Clear the last row for other output; ``draw`` restores it."""
        if self._row:
            send(self._stream, _CLEAR_ROW)
            self._row = ""

    def close(self) -> None:
        """Write the open utterances as lines and clear the last row."""
        for utterance in self._utterances.open:
            self._end(utterance)
        self.hide()

    def _end(self, utterance: Utterance) -> list[int]:
        self._changed.discard(utterance.number)
        caption = " ".join(printable(utterance.caption).split())
        confidence = utterance.confidence
        if self._marks_doubt and confidence is not None and confidence.is_low:
            caption = with_sign(caption)
        if seconds := left_out_s(utterance):
            caption = left_out_note(seconds)
        if caption:
            self.write(utterance.lane, caption)
        return [utterance.number]

    def write(self, lane: str, text: str) -> None:
        """Write a line, for good."""
        clear = _CLEAR_ROW if self._row else ""
        self._row = ""
        send(self._stream, f"{clear}{_label(lane)}{text}\n")

    def _last_row(self) -> str:
        lane = self._newest
        captions = [it.caption for it in self._utterances.open if it.lane == lane]
        caption = " ".join(printable(" ".join(captions)).split())
        tail = " ".join(printable(self._tails.get(lane, "")).split())
        room = self._width() - 1 - len(_label(lane))
        tail = _last_cells(tail, room)
        caption = _last_cells(caption, room - n_cells(tail) - 1 if tail else room)
        if not caption and not tail:
            return ""
        dim = f"{_DIM}{tail}{_PLAIN}" if tail else ""
        return _label(lane) + " ".join(part for part in (caption, dim) if part)


def n_cells(text: str) -> int:
    """Return the columns that a text takes in a terminal."""
    return sum(_cells(letter) for letter in text)


def _cells(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _last_cells(text: str, room: int) -> str:
    n_taken = 0
    for index in range(len(text) - 1, -1, -1):
        n_taken += _cells(text[index])
        if n_taken > room:
            return text[index + 1 :]
    return text


def _label(lane: str) -> str:
    return f"[{printable(lane)}] " if lane else ""
