"""Which languages are read, with a time of grace for those whose last reader has left."""

import time
from collections.abc import Callable, Collection

GRACE_S = 30.0
"""A language is computed for so long after its last reader has left: phones lose the network."""


class Grace:
    """Follow what is read; the languages that came first stay in front."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left_s = dict[
            str, float | None
        ]()  # when the last reader left; None while there is one

    def follow(self, read: Collection[str]) -> None:
        now_s = self._clock()
        for language, left_s in self._left_s.items():
            if language not in read and left_s is None:
                self._left_s[language] = now_s
        for language in read:
            self._left_s[language] = None

    @property
    def languages(self) -> tuple[str, ...]:
        """Those that are read, or were so a moment ago."""
        now_s = self._clock()
        self._left_s = {
            language: left_s
            for language, left_s in self._left_s.items()
            if left_s is None or now_s - left_s < GRACE_S
        }
        return tuple(self._left_s)

    @property
    def ends_in_s(self) -> float | None:
        """Seconds until the next one ends; None if every one has a reader."""
        left = [left_s for left_s in self._left_s.values() if left_s is not None]
        return max(0.0, min(left) + GRACE_S - self._clock()) if left else None
