"""Counts the connections of a server: readers are bounded, and idle connections are ended."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

MOST_WAITING = 256
"""Connections that are open at once without reading a stream; one gives way to one more.

That is the oldest that has sent nothing; where each has sent something, the oldest of all.
"""

LONGEST_S = 10.0
"""An answer takes milliseconds; a connection that is no reader's by then is ended."""

Client = tuple[str, int]
"""Address and port of the other side; no two open connections have the same."""


class Connection(Protocol):
    """An open connection."""

    def end(self) -> None:
        """End it, whatever still waits to be sent."""

    def write(self, event: bytes) -> bool:
        """Send a part of the answer; False, and nothing is sent, if another still waits."""


@dataclass(slots=True)
class ReaderPlace:
    """The place of one reader.

    Attributes:
        is_taken: the connection is open.
    """

    connection: Connection
    show: str = ""
    is_taken: bool = True


class Doorkeeper:
    """Know all open connections; used on the thread of the server, counts on any.

    Attributes:
        read: what is read, what was first in front; exchanged as a whole.
    """

    def __init__(self, most_readers: int, changed: Callable[[], None] = lambda: None) -> None:
        """Let in so many readers; ``changed`` is called when ``n_readers`` is another."""
        self._most = most_readers
        self._changed = changed
        self._waiting: dict[Client, Connection] = {}
        self._silent: dict[Client, None] = {}  # those of them that have sent nothing
        self._readers: dict[Client, ReaderPlace] = {}
        self.read: tuple[str, ...] = ()

    def open(self, client: Client, connection: Connection) -> None:
        """Note a connection, or what it has become; beyond the limit, end another."""
        if client not in self._waiting:
            if len(self._waiting) >= MOST_WAITING:
                oldest = next(iter(self._silent or self._waiting))
                self._silent.pop(oldest, None)
                self._waiting.pop(oldest).end()
            self._silent[client] = None
        self._waiting[client] = connection

    def hear(self, client: Client) -> None:
        """Note that a connection has sent something."""
        self._silent.pop(client, None)

    def close(self, client: Client) -> None:
        self._silent.pop(client, None)
        self._waiting.pop(client, None)
        place = self._readers.pop(client, None)
        if place is not None:
            place.is_taken = False
            self._note_readers()

    def admit(self, client: Client, show: str = "") -> ReaderPlace | None:
        """Let a connection read ``show``; return its place, None where none is left."""
        if client not in self._waiting or len(self._readers) >= self._most:
            return None
        place = self._readers[client] = ReaderPlace(self._waiting.pop(client), show)
        self._note_readers()
        return place

    def has_place(self, client: Client) -> bool:
        """Return whether a connection was admitted and is open; for any thread."""
        return client in self._readers

    def _note_readers(self) -> None:
        self.read = tuple(dict.fromkeys(place.show for place in self._readers.values()))
        self._changed()

    def end_all(self) -> None:
        readers = (place.connection for place in self._readers.values())
        for connection in (*self._waiting.values(), *readers):
            connection.end()

    def is_waiting(self, client: Client) -> bool:
        """Return whether a connection is open and reads no stream."""
        return client in self._waiting

    @property
    def n_open(self) -> int:
        return len(self._waiting) + len(self._readers)

    @property
    def n_readers(self) -> int:
        return len(self._readers)
