"""Routes the events of a listener to rows, subtitle files and messages on standard error."""

import contextlib
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from app.captions.cues import Cue, spoken_cue
from app.captions.export import SUBTITLES, SubtitleWriter
from app.captions.model import left_out_note, left_out_s
from app.captions.subtitles import Subtitles, split
from engine.audio.devices import SAMPLE_RATE_HZ, AudioNotice, NoticeKind
from engine.errors import SurtitleError
from engine.events import (
    Event,
    Failed,
    Notice,
    Ready,
    Refused,
    UtteranceEnded,
)
from engine.metrics.latency import StageTime, WordLags
from engine.speech.events import (
    Behind,
    Heard,
    LeftOut,
    ListeningEnded,
    ListeningFailed,
    Noticed,
    RecognizerReady,
    SoundCame,
    TailChanged,
)
from engine.utterances import Utterance, UtteranceTracker

if TYPE_CHECKING:
    from engine.messages import Message
    from engine.speech.listener import Listener  # numpy slows the help down
import unicodedata
from typing import BinaryIO

from app.config.preferences import with_sign
from app.config.text_io import printable, send
from engine.events import CaptionChanged

# Captions are lines of a terminal or a pipe. A caption becomes a line when its utterance ends. The
# last row of a terminal also shows the growing captions, followed dimly by the tentative source
# words. Only that row is ever rewritten, and it is never wider than the terminal.

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


_MOST_WAITING = 5_000  # events
_POLL_S = 0.2


class Stop:
    """The event of Ctrl+C."""


STOP: Final = Stop()
_AT_ONCE = "words appear at once, as they are said"
_MORE_EXACT = "words appear more exactly, a second or two later"
_TRANSLATION: Final = "translation"  # beside the lanes: "me", "them", or ""


class EventQueue:
    """A queue from the engine's threads to the main thread; ``put`` blocks while it is too long."""

    def __init__(self) -> None:
        # SimpleQueue, since a signal handler puts, too
        self._waiting: queue.SimpleQueue[Heard | Event | Stop] = queue.SimpleQueue()
        self._closed = threading.Event()

    def put(self, event: Heard | Event | Stop) -> None:
        """Append an event; wait while the queue is full, unless it is closed."""
        while self._waiting.qsize() > _MOST_WAITING and not self._closed.wait(_POLL_S):
            pass
        self._waiting.put(event)

    @property
    def is_empty(self) -> bool:
        return self._waiting.empty()

    def __iter__(self) -> Iterator[Heard | Event | Stop]:
        while True:
            with contextlib.suppress(queue.Empty):
                yield self._waiting.get(timeout=_POLL_S)

    def __enter__(self) -> "EventQueue":
        return self

    def __exit__(self, *_error: object) -> None:
        self._closed.set()

    @contextlib.contextmanager
    def interrupts(self) -> Iterator[None]:
        """Turn the first Ctrl+C into an event; the second one acts as usual."""

        def stop(_number: int, _frame: object) -> None:
            signal.signal(signal.SIGINT, before)
            self._waiting.put(STOP)

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


class Screen:
    """Writes events as rows, cues and messages on standard error."""

    def __init__(
        self,
        listener: "Listener",
        utterances: UtteranceTracker,
        view: ListeningView,
        writers: Sequence[SubtitleWriter],
        tell: Callable[[str], None],
    ) -> None:
        """Keep the parts.

        Args:
            listener: stopped by Ctrl+C.
            view: writes standard output.
            tell: writes a message to standard error.
        """
        self._listener, self._utterances, self._view = listener, utterances, view
        self._subtitles, self._writers, self._write_message = Subtitles(), writers, tell
        self._lags = WordLags()
        self._awaited = {_TRANSLATION, *listener.lanes}  # before anything can be heard
        self._failure: Message | None = None
        self._streams = False

    def serve(self, mailbox: EventQueue) -> None:
        """Handle events until the last."""
        for event in mailbox:
            if isinstance(event, Stop):
                self._tell("ending; the last words are still translated, Ctrl+C again skips them")
                self._listener.stop()
                continue
            if isinstance(event, ListeningEnded):
                break
            self._take(event)
            if mailbox.is_empty:
                self._show(self._view.draw())
        self._view.close()
        if self._failure:
            raise SurtitleError(self._failure)

    def write_rest(self, end_s: float) -> None:
        """Write the last subtitles, which do not outlast a recording that ends at ``end_s``."""
        self._write(self._subtitles.flush(end_s))

    def sum_up(self) -> None:
        """Report how long each stage took, on standard error and in JSON Lines."""
        lags = self._lags.heard()
        lost_s = self._listener.n_dropped / SAMPLE_RATE_HZ
        for writer in self._writers:
            writer.write_summary({"lags": [_fields(lag) for lag in lags], "lost_s": lost_s})
        lanes = self._lags.lanes
        if len(lanes) > 1:
            for lane in lanes:
                whole = self._lags.heard(lane=lane)[-1]
                self._tell(
                    f"{lane}: {whole.n_words} words, captions {whole.median_s:.2f} s "
                    f"({whole.p95_s:.2f}) after each"
                )
        if lags:
            stages = ", ".join(f"{lag.stage} {lag.median_s:.2f} ({lag.p95_s:.2f})" for lag in lags)
            self._tell(
                f"words: {lags[0].n_words}; median seconds (95 % within) for each stage: {stages}; "
                f"{lost_s:.2f} s of sound lost"
            )

    def _take(self, event: Heard | Event) -> None:
        match event:
            case TailChanged(lane=lane, words=tail):
                self._view.show_tail(lane, tail)
            case LeftOut():
                self._leave_out(event)
            case Failed(message=message):
                raise SurtitleError(message)
            case ListeningFailed(message=message):
                self._failure = message
            case _:
                self._report(event)
        if isinstance(event, Event):
            utterance = self._utterances.take(event, time.monotonic())
            if utterance is not None:
                self._follow(event, utterance)

    def _leave_out(self, event: LeftOut) -> None:
        note = left_out_note(event.seconds)
        self._view.write(event.lane, note)
        self._write_gap(event.lane, note, event.start_s, event.seconds)

    def _write_gap(self, lane: str, note: str, start_s: float, seconds: float) -> None:
        gap = Cue(
            start_s=start_s,
            end_s=start_s + seconds,
            text=note,
            source=note,
            speaker=lane,
            left_out_s=seconds,
        )
        self._keep(gap)

    def _keep(self, cue: Cue) -> None:
        """Write a cue, subtitles as far as nothing that comes can change them."""
        self._subtitles.feed(cue)
        begun_s = [one.words[0].start_s for one in self._utterances.open if one.words]
        self._write(self._subtitles.take(min(begun_s, default=cue.end_s)))
        for writer in self._writers:
            if writer.form not in SUBTITLES:
                writer.write_all(split(cue))

    def _write(self, subtitles: Sequence[Cue]) -> None:
        for writer in self._writers:
            if writer.form in SUBTITLES:
                writer.write_all(subtitles)

    def _report(self, event: Heard | Event) -> None:
        match event:
            case Refused(message=message) | Notice(message=message) | Behind(message=message):
                self._tell(str(message))
            case Ready():
                self._begin(_TRANSLATION)
            case RecognizerReady(streams=streams):
                self._streams = streams
            case SoundCame(lane=lane):
                self._begin(lane)
            case Noticed(notice=AudioNotice(kind=NoticeKind.FAILED, message=message)):
                self._failure = message
            case Noticed(notice=notice):
                self._tell(str(notice.message))

    def _follow(self, event: Event, utterance: Utterance) -> None:
        self._lags.take(utterance, time.monotonic())
        cue = spoken_cue(event, utterance)
        if cue is not None:
            self._keep(cue)
        if isinstance(event, UtteranceEnded) and (seconds := left_out_s(utterance)):
            note, start_s = left_out_note(seconds), utterance.words[0].start_s
            self._write_gap(utterance.lane, note, start_s, seconds)
        self._show(self._view.take(event, utterance))

    def _begin(self, awaited: str) -> None:
        was_waiting = bool(self._awaited)
        self._awaited.discard(awaited)
        if was_waiting and not self._awaited:
            how = _AT_ONCE if self._streams else _MORE_EXACT
            self._tell(f"listening; {how}; Ctrl+C ends it")

    def _show(self, utterances: Sequence[int]) -> None:
        for number in utterances:
            self._lags.painted(self._utterances[number], time.monotonic())

    def _tell(self, sentence: str) -> None:
        self._view.hide()
        self._write_message(sentence)


def _fields(lag: StageTime) -> dict[str, str | int | float]:
    return {
        "stage": lag.stage,
        "n_words": lag.n_words,
        "median_s": round(lag.median_s, 3),
        "p95_s": round(lag.p95_s, 3),
    }
