"""Captions become cues: short enough to be read at once, and as soon as they cannot change.

Pure. Translated text has no times of its own; where it stands between the words it rests on is
found by straight lines between the pieces of the caption.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.history.cues import Cue
from engine.events import CaptionChanged, UtteranceDropped, UtteranceEnded
from engine.speech.events import Heard, WordsPlaced
from engine.speech.hypothesis import RecognizedWord

LONGEST = 84
"""Characters of a cue: two lines of 42, as subtitlers have it."""

_SHORTEST_S = 0.5  # a cue is shown at least so long


@dataclass(slots=True)
class _Growing:
    lane: str
    words: tuple[RecognizedWord, ...] = ()
    caption: str = ""
    ends: list[tuple[int, int]] = field(default_factory=list)  # of pieces: characters, words read
    n_cued: int = 0  # characters
    n_words_cued: int = 0


class CueMaker:
    """Feed a listener's events, get cues.

    Together the cues of an utterance are its caption, in order, and their times never run
    backwards; nothing of it is made a cue twice.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        self._growing: dict[int, _Growing] = {}

    def feed(self, event: Heard) -> list[Cue]:
        """Take an event; return the cues that became certain with it."""
        match event:
            case WordsPlaced(utterance=number, lane=lane, words=words):
                self._growing.setdefault(number, _Growing(lane)).words = words
            case CaptionChanged(utterance=number) if number in self._growing:
                growing = self._growing[number]
                _grow(growing, event)
                return list(self._cut(growing, ended=False))
            case UtteranceEnded(utterance=number) if number in self._growing:
                return list(self._cut(self._growing.pop(number), ended=True))
            case UtteranceDropped(utterance=number):
                self._growing.pop(number, None)
        return []

    def flush(self) -> list[Cue]:
        """Make cues of what is there: nothing more will come."""
        growing, self._growing = self._growing, {}
        return [cue for one in growing.values() for cue in self._cut(one, ended=True)]

    def _cut(self, growing: _Growing, *, ended: bool) -> Iterator[Cue]:
        while len(growing.caption) - growing.n_cued > LONGEST:
            window = growing.caption[growing.n_cued : growing.n_cued + LONGEST + 1]
            blank = window.rfind(" ")
            length = blank + 1 if blank > 0 else LONGEST
            yield self._cue(growing, growing.n_cued + length)
        if ended and growing.caption[growing.n_cued :].strip():
            yield self._cue(growing, len(growing.caption), is_last=True)

    def _cue(self, growing: _Growing, end: int, *, is_last: bool = False) -> Cue:
        start_s, end_s = _time(growing, growing.n_cued), _time(growing, end)
        text = growing.caption[growing.n_cued : end].strip()
        n_words = growing.n_words_cued
        while n_words < len(growing.words) and (
            is_last or growing.words[n_words].middle_s <= end_s
        ):
            n_words += 1
        source = " ".join(word.text for word in growing.words[growing.n_words_cued : n_words])
        growing.n_cued, growing.n_words_cued = end, n_words
        return Cue(
            start_s=max(0.0, start_s),
            end_s=max(end_s, start_s + _SHORTEST_S, 0.0),
            text=text,
            source=source,
            speaker=growing.lane,
            language=self._language,
        )


def _grow(growing: _Growing, change: CaptionChanged) -> None:
    growing.caption = growing.caption[: change.kept] + change.text
    growing.ends = [end for end in growing.ends if end[0] <= change.kept]
    growing.ends.append((len(growing.caption), change.n_read))
    growing.n_cued = min(growing.n_cued, len(growing.caption))


def _time(growing: _Growing, at: int) -> float:
    """Tell when the words were said that a place in the caption rests on."""
    words = growing.words
    places, times = [0], [words[0].start_s]
    for place, n_read in growing.ends:
        places.append(place)
        times.append(max(times[-1], words[min(max(n_read, 1), len(words)) - 1].end_s))
    if at >= len(growing.caption):
        return times[-1]
    right = min(bisect_right(places, at), len(places) - 1)
    left = right - 1
    share = (at - places[left]) / max(1, places[right] - places[left])
    return times[left] + share * (times[right] - times[left])
