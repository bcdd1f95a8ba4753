"""Decides who may read the captions of a room: by the link, or by a PIN."""

import logging
import secrets
import time
from collections import deque
from collections.abc import Callable

_log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"  # where this computer alone can ask

TRIES, MINUTE_S = 10, 60.0
"""So many wrong secrets are taken from one address in that time."""

MOST_TRIES = 200
"""The same from all addresses together; one that never was wrong may try in any case."""

SUSPICIOUS = 300
"""Wrong ones of all time; a room types its PINs wrongly less often."""

_MOST_ADDRESSES = 4096

_PIN_DIGITS = 6
_KEY_BYTES = 16


def is_same(given: str, secret: str) -> bool:
    """Return whether a secret was given, in a time that does not tell how much of it is right."""
    return secrets.compare_digest(given.encode(errors="replace"), secret.encode())


class Tries:
    """Counts wrong secrets, so that nobody tries many; for one thread.

    Attributes:
        n_wrong: of all time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.n_wrong = 0
        self._clock = clock
        self._wrong: deque[tuple[float, str]] = deque()  # the newest last
        self._were_wrong: set[str] = set()

    def may_try(self, address: str) -> bool:
        """Return whether a secret from an address is looked at: it comes not too soon."""
        now_s = self._clock()
        while self._wrong and now_s - self._wrong[0][0] >= MINUTE_S:
            self._wrong.popleft()
        if len(self._wrong) < MOST_TRIES:
            return sum(one == address for _, one in self._wrong) < TRIES
        return address not in self._were_wrong and len(self._were_wrong) < _MOST_ADDRESSES

    def note_wrong(self, address: str) -> None:
        self.n_wrong += 1
        self._were_wrong.add(address)
        self._wrong.append((self._clock(), address))


class Access:
    """The key of one sharing, and the PIN that is exchanged for it.

    Attributes:
        key: 128 random bits; every request for captions names it.
        pin: six digits; empty where only the link lets in.
    """

    def __init__(
        self,
        *,
        with_pin: bool,
        key: str = "",
        guessed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make them, the key where none is given; ``guessed`` is called once ``is_guessed_at``."""
        self.key = key or secrets.token_urlsafe(_KEY_BYTES)
        digits = (str(secrets.randbelow(10)) for _ in range(_PIN_DIGITS))
        self.pin = "".join(digits) if with_pin else ""
        self.tries, self._guessed = Tries(clock), guessed

    @property
    def is_guessed_at(self) -> bool:
        """Whether more PINs were wrong than a room types."""
        return self.tries.n_wrong >= SUSPICIOUS

    def admits(self, key: str) -> bool:
        return is_same(key, self.key)

    def is_pin(self, pin: str, address: str) -> bool:
        """Return whether this is the PIN; note that it came from an address if it is not."""
        if self.pin and is_same(pin, self.pin):
            return True
        self.tries.note_wrong(address)
        if self.tries.n_wrong == SUSPICIOUS:
            _log.warning("somebody guesses the PIN: share anew, which makes another one")
            self._guessed()
        return False
