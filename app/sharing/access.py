"""Decides who may read the captions of a room: by the link, or by a PIN."""

import secrets
import time
from collections import deque
from collections.abc import Callable

TRIES, MINUTE_S = 10, 60.0
"""So often a secret is tried from one address in that time, right or wrong."""

MOST_TRIES = 200
"""The same from all addresses together; a room types its PINs in a few minutes."""

_PIN_DIGITS = 6
_KEY_BYTES = 16


def is_same(given: str, secret: str) -> bool:
    """Return whether a secret was given, in a time that does not tell how much of it is right."""
    return secrets.compare_digest(given.encode(errors="replace"), secret.encode())


class Tries:
    """Counts tries of secrets, so that nobody tries many; for one thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tries: deque[tuple[float, str]] = deque()  # the newest last

    def may_try(self, address: str) -> bool:
        """Note a try from an address; return whether it counts, or comes too soon after others."""
        now_s = self._clock()
        while self._tries and now_s - self._tries[0][0] >= MINUTE_S:
            self._tries.popleft()
        n_own = sum(one == address for _, one in self._tries)
        if n_own >= TRIES or len(self._tries) >= MOST_TRIES:
            return False
        self._tries.append((now_s, address))
        return True


class Access:
    """The key of one sharing, and the PIN that is exchanged for it.

    Attributes:
        key: 128 random bits; every request for captions names it.
        pin: six digits; empty where only the link lets in.
    """

    def __init__(self, *, with_pin: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.key = secrets.token_urlsafe(_KEY_BYTES)
        digits = (str(secrets.randbelow(10)) for _ in range(_PIN_DIGITS))
        self.pin = "".join(digits) if with_pin else ""
        self._tries = Tries(clock)

    def admits(self, key: str) -> bool:
        """Return whether this is the key."""
        return is_same(key, self.key)

    def may_try(self, address: str) -> bool:
        """Note a try with a PIN; return whether it counts, or comes too soon after others."""
        return self._tries.may_try(address)

    def is_pin(self, pin: str) -> bool:
        """Return whether this is the PIN."""
        return bool(self.pin) and is_same(pin, self.pin)
