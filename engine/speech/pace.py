"""How fast a model of speech computes, and whether that has been too slow for a while."""


class Pace:
    """A running mean of seconds of computing per second of speech."""

    def __init__(self, *, newest_weight: float, slow_from: float, slow_after: int) -> None:
        """Prepare.

        Args:
            newest_weight: of the newest measure in the mean.
            slow_from: the mean from which a computer is too slow.
            slow_after: measures in a row at which it must be that slow.
        """
        self._newest_weight = newest_weight
        self._slow_from = slow_from
        self._slow_after = slow_after
        self._factor = 0.0
        self._n_slow = 0

    @property
    def factor(self) -> float:
        """The mean; 0 before the first measure."""
        return self._factor

    @property
    def is_slow(self) -> bool:
        """Whether it has been too slow for a while."""
        return self._n_slow >= self._slow_after

    def take(self, computing_s: float, speech_s: float) -> None:
        """Take a measure."""
        newest = computing_s / speech_s
        before = self._factor or newest
        self._factor = before + self._newest_weight * (newest - before)
        self._n_slow = self._n_slow + 1 if self._factor > self._slow_from else 0
