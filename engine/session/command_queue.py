"""What waits for a worker: commands in the order in which they came, and a bound on their words.

No word is dropped silently: what does not fit any more is refused as a whole, counted, and told.
"""

import threading
from collections import deque
from typing import Generic, TypeVar

MAX_WORDS = 20_000
"""Words that may wait: over two hours of talk."""

Command = TypeVar("Command")


class Inbox(Generic[Command]):
    """A queue between threads. Who puts never waits; one thread takes."""

    def __init__(self, max_words: int = MAX_WORDS) -> None:
        self._max_words = max_words
        self._waiting = deque[tuple[Command, int]]()
        self._changed = threading.Condition()
        self._n_words = 0
        self._n_refused = 0

    @property
    def n_words(self) -> int:
        """Words of the commands that wait."""
        return self._n_words

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing waits."""
        return not self._waiting

    def put(self, command: Command, n_words: int = 0) -> bool:
        """Let a command wait, unless its words are too many; tell whether it does."""
        with self._changed:
            if n_words and self._n_words + n_words > self._max_words:
                self._n_refused += n_words
                return False
            self._waiting.append((command, n_words))
            self._n_words += n_words
            self._changed.notify()
        return True

    def take(self) -> Command:
        """Take the oldest command; wait for one where there is none."""
        with self._changed:
            while not self._waiting:
                self._changed.wait()
            command, n_words = self._waiting.popleft()
            self._n_words -= n_words
        return command

    def take_refused(self) -> int:
        """Count the words that were refused since this was last asked."""
        with self._changed:
            n_refused, self._n_refused = self._n_refused, 0
        return n_refused
