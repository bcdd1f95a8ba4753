"""Times of the clock of the utterances become times of day. Plain Python."""

import time
from collections.abc import Callable

_ANOTHER_S = 1.0  # difference of the two clocks: one was set, or the computer slept


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
