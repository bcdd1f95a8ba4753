"""Readable times for cues, since captions of typed text come as fast as they are computed.

Subtitling standards: up to 15 letters a second, no cue shorter than 1.5 seconds.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app.captions.cues import LATEST_S, Cue
from engine.settings import check_choice

_ANOTHER_S = 1.0  # difference of the two clocks: one was set, or the computer slept

TIMES = ("first", "session", "clock")
"""Where times are counted from: the first cue, the start of the session, midnight before it."""


@dataclass(frozen=True, slots=True)
class Times:
    """Where the times of subtitles are counted from.

    Attributes:
        start: one of ``TIMES``.
        started: when the session started, of its own time zone; needed for the clock.
    """

    start: str = "session"
    started: datetime = datetime.min

    def __post_init__(self) -> None:
        check_choice("times", self.start, TIMES)


def begun(cues: Sequence[Cue], started: datetime) -> datetime:
    """Return the time of the first cue of a session, which started then."""
    return started + timedelta(seconds=cues[0].start_s if cues else 0.0)


_LEAST_S, _LETTERS_PER_S = 1.5, 15.0
_LONGEST_S = 7.0  # what is read stays until the next cue comes, but not through a long silence
_LATE_S = 5.0  # a cue that would come later than this behind its words hurries those before it
_HURRIED_S, _HURRIED_LETTERS_PER_S = 0.5, 30.0


def readable(cues: Sequence[Cue]) -> list[Cue]:
    """Extend each cue to the next one, and at least to its reading time.

    No cue starts before its words, overlaps another one or changes its order.

    Args:
        cues: ordered by start; of several lines (languages) the longest counts.
    """
    timed = list[Cue]()
    free_s = 0.0  # nobody reads any more
    for place, cue in enumerate(cues):
        start_s = max(cue.start_s, free_s)
        n_letters = max(map(len, cue.text.splitlines()), default=0)
        if start_s - cue.start_s <= _LATE_S:
            free_s = start_s + max(_LEAST_S, n_letters / _LETTERS_PER_S)
        else:
            free_s = start_s + max(_HURRIED_S, n_letters / _HURRIED_LETTERS_PER_S)
        end_s = max(cue.end_s, start_s + _LONGEST_S)
        if place + 1 < len(cues):
            end_s = min(end_s, cues[place + 1].start_s)
        end_s = min(max(end_s, free_s), LATEST_S)
        timed.append(replace(cue, start_s=min(start_s, LATEST_S), end_s=end_s))
    return timed


def counted(cues: Sequence[Cue], times: Times) -> list[Cue]:
    """Return cues with the times that people want to read.

    Args:
        cues: with times since the start of the session.
        times: where they are counted from.
    """
    shift_s = 0.0
    if times.start == "first":
        shift_s = -min((cue.start_s for cue in cues), default=0.0)
    elif times.start == "clock":
        midnight = times.started.replace(hour=0, minute=0, second=0, microsecond=0)
        shift_s = (times.started - midnight).total_seconds()
    return [replace(cue, start_s=cue.start_s + shift_s, end_s=cue.end_s + shift_s) for cue in cues]


class EpochClock:
    """Map the monotonic clock to the seconds since the epoch.

    The same time is mapped to the same one each time, until the time of day is set.
    """

    def __init__(
        self,
        epoch: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._epoch, self._monotonic = epoch, monotonic
        self._between_s = epoch() - monotonic()

    def __call__(self, at_s: float) -> float:
        """Return the seconds since the epoch of a monotonic time."""
        between_s = self._epoch() - self._monotonic()
        if abs(between_s - self._between_s) > _ANOTHER_S:
            self._between_s = between_s
        return self._between_s + at_s
