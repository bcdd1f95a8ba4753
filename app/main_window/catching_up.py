"""Estimates how long words that wait will still wait. Plain Python."""

_LEAST_S = 2.0  # before it, too little was read for an estimate


class CatchingUp:
    """The rate at which words were read since many of them waited.

    Words that came meanwhile hide some that were read, so an estimate is rather too long.
    """

    def __init__(self) -> None:
        self._began_s = self._now_s = 0.0
        self._n_waiting = self._n_read = 0

    def update(self, n_waiting: int, now_s: float) -> None:
        """Take the number of words that wait at a time; none of them ends the catching up."""
        if not self._n_waiting:
            self._began_s, self._n_read = now_s, 0
        self._n_read += max(0, self._n_waiting - n_waiting)
        self._n_waiting, self._now_s = n_waiting, now_s

    @property
    def left_s(self) -> float | None:
        """Seconds until none waits; None while that is not known."""
        seconds = self._now_s - self._began_s
        if not self._n_waiting or not self._n_read or seconds < _LEAST_S:
            return None
        return self._n_waiting * seconds / self._n_read
