"""Where samples stand in time, and how many are missing without anybody saying so.

Drivers and sound servers drop samples and tell nobody. But time goes on: when the samples that
came are fewer than the time that passed and stay so, the difference was lost. A thread that is
kept from running is late as well, but catches up with the next samples; so the lateness that counts
is the smallest within a window. A device's clock is never quite right: slow growth is its drift.
"""

WINDOW_S = 2.0
"""Nobody is kept from running as long as this without catching up in between."""

LEAST_LOSS_S = 0.2
"""Less than this is taken for a changed buffer in the system."""


class SampleClock:
    """Follow one uninterrupted recording.

    Invariant: between losses, times are contiguous: a block starts where the last one ended.

    Attributes:
        lost_s: seconds of sound that should have come and did not.
    """

    def __init__(self, rate_hz: int, *, start_s: float, clock_s: float) -> None:
        """Begin.

        Args:
            rate_hz: samples a second.
            start_s: the earliest time on the source's timeline that the first sample may have.
            clock_s: what the clock says at that point of the timeline.
        """
        self._rate_hz = rate_hz
        self._start_s = start_s
        self._zero_s = clock_s - start_s  # what the clock says at 0 on the timeline
        self._end_s: float | None = None  # on the timeline, of what was fed
        self._usual_s = 0.0  # lateness when nothing is lost
        self._least_s = float("inf")  # of this window
        self._window_end_s = 0.0
        self.lost_s = 0.0

    def feed(self, n_samples: int, now_s: float) -> float:
        """Place a block that has just come.

        Args:
            n_samples: how long it is, at least 1.
            now_s: the clock now.

        Returns:
            where its first sample stands on the timeline, in seconds.
        """
        heard_s = now_s - self._zero_s
        length_s = n_samples / self._rate_hz
        if self._end_s is None:
            self._end_s = max(heard_s - length_s, self._start_s)
            self._window_end_s = heard_s + WINDOW_S
            self._usual_s = heard_s - (self._end_s + length_s)
        start_s = self._end_s
        self._end_s += length_s
        self._least_s = min(self._least_s, heard_s - self._end_s)
        if heard_s >= self._window_end_s:
            self._close_window(heard_s)
        return start_s

    def _close_window(self, heard_s: float) -> None:
        rise_s = self._least_s - self._usual_s
        if rise_s >= LEAST_LOSS_S and self._end_s is not None:
            self.lost_s += rise_s
            self._end_s += rise_s
        else:
            self._usual_s = self._least_s
        self._least_s = float("inf")
        self._window_end_s = heard_s + WINDOW_S
