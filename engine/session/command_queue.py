"""The queue between senders and the worker: commands in order, and a bound on their words.

No word is dropped silently: a command whose words do not fit is refused as a whole, and its words
are counted.
"""

import threading
from collections import deque

from engine.events import Command, n_words

MAX_WORDS = 20_000
"""Limit of waiting words: over two hours of talk."""


class CommandQueue:
    """A queue between threads. Putting never waits; one thread takes."""

    def __init__(self, max_words: int = MAX_WORDS) -> None:
        self.max_words = max_words
        self._waiting = deque[Command | None]()
        self._changed = threading.Condition()
        self._n_words = 0
        self._n_refused = 0

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    @property
    def n_words(self) -> int:
        return self._n_words

    def put(self, command: Command | None) -> bool:
        """Append a command and return True; return False where its words are too many.

        None stands for no command, and only wakes the thread that takes.
        """
        added = 0 if command is None else n_words(command)
        with self._changed:
            if added and self._n_words + added > self.max_words:
                self._n_refused += added
                return False
            self._waiting.append(command)
            self._n_words += added
            self._changed.notify()
        return True

    def take(self) -> Command | None:
        """Remove the oldest command and return it; wait for one where there is none."""
        with self._changed:
            while not self._waiting:
                self._changed.wait()
            command = self._waiting.popleft()
            self._n_words -= 0 if command is None else n_words(command)
        return command

    def take_refused(self) -> int:
        """Return how many words were refused since the last call."""
        with self._changed:
            n_refused, self._n_refused = self._n_refused, 0
        return n_refused
