"""The HTTP server of the caption pages, and of a computer that translates: uvicorn, in a thread.

Any program that reaches the port can talk to it, so connections are limited in number, time and
size (``doorkeeper``), whatever uvicorn itself allows.
"""

import asyncio
import functools
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.sharing import doorkeeper
from app.sharing.doorkeeper import Client, Doorkeeper
from app.sharing.streams import Rounds

_BACKLOG = 128
_LONGEST_HEAD = 8192  # bytes of a request
_BUFFER = 16 * 1024  # bytes that wait for a slow reader, beside those that the system keeps:
_SYSTEM_BUFFER = 64 * 1024
_FAREWELL_S = 0.05  # for a reader to take its last event
_KEEP_ALIVE_S = 5
_GREETING_S = 5.0
_LAST_S = 5.0  # for the thread, which ends with the program in any case
_GONE_MS = 30_000  # without an answer from a phone that lost the network

MakePages = Callable[[Doorkeeper, Rounds], ASGIApp]
"""Makes what answers requests."""


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at a port of one address, 0 for any free port.

    Raises:
        OSError: the port cannot be used.
        OverflowError: there is no such port.
    """
    listener = socket.socket()
    try:
        if os.name != "nt":  # there it would let others listen on the same port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _GONE_MS)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SYSTEM_BUFFER)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """A certificate with those that it rests on, and its key."""

    certificate: Path
    key: Path


class PageServer:
    """Serve until closed.

    Attributes:
        host, port: where it listens.
        doorkeeper: knows its connections.
    """

    def __init__(
        self,
        listener: socket.socket,
        make: MakePages,
        most_readers: int,
        readers_changed: Callable[[], None] = lambda: None,
        *,
        tls: TlsFiles | None = None,
        keep_alive_s: int = _KEEP_ALIVE_S,
    ) -> None:
        """Serve at a socket, which it closes.

        Args:
            listener: the socket.
            make: makes what answers.
            most_readers: connections that are admitted at once.
            readers_changed: called on its thread when their number is another.
            tls: None serves in the clear.
            keep_alive_s: an idle connection is kept for so long.

        Raises:
            OSError: the certificate or its key cannot be used.
        """
        self.host, self.port = listener.getsockname()
        self.doorkeeper = Doorkeeper(most_readers, readers_changed)
        self._loop = asyncio.new_event_loop()
        if tls is not None:  # no doorkeeper knows who has not greeted yet
            create = functools.partial(self._loop.create_server, ssl_handshake_timeout=_GREETING_S)
            self._loop.create_server = create  # type: ignore[method-assign]  # uvicorn passes none
        self._rounds = Rounds(self._loop, lambda: self.doorkeeper.n_readers)
        config = Config(
            make(self.doorkeeper, self._rounds),
            http=functools.partial(_Connection, doorkeeper=self.doorkeeper),  # type: ignore[arg-type]  # it is called only
            loop="none",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            h11_max_incomplete_event_size=_LONGEST_HEAD,
            timeout_keep_alive=keep_alive_s,
            timeout_graceful_shutdown=1,
            ssl_certfile=None if tls is None else tls.certificate,
            ssl_keyfile=None if tls is None else tls.key,
        )
        config.load()  # an unusable certificate is reported here
        self._server = Server(config)
        self._thread = threading.Thread(
            target=self._serve, args=(listener,), name="surtitle-page", daemon=True
        )
        self._thread.start()

    def tell(self) -> None:
        """Send what changed to all readers; for any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._rounds.tell)

    def close(self) -> None:
        """Let every reader go, end all connections and stop listening; wait for that a while.

        Closed again, it does nothing.
        """
        if self._loop.is_closed():
            return
        self._server.should_exit = True
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join(_LAST_S)

    def _end(self) -> None:
        self._rounds.end()
        self._loop.call_later(_FAREWELL_S, self.doorkeeper.end_all)

    def _serve(self, listener: socket.socket) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._server.serve(sockets=[listener]))
        finally:
            listener.close()
            self._loop.close()


class _Connection(H11Protocol):
    """A connection that the doorkeeper knows."""

    def __init__(self, *, doorkeeper: Doorkeeper, **arguments: object) -> None:
        super().__init__(**arguments)  # type: ignore[arg-type]  # as uvicorn gives them
        self._doorkeeper = doorkeeper
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as there
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=_BUFFER)
        self._doorkeeper.open(self._client, self)
        self._late = self.loop.call_later(doorkeeper.LONGEST_S, self._end_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._late is not None:
            self._late.cancel()
        self._doorkeeper.close(self._client)
        super().connection_lost(exc)

    def end(self) -> None:
        """End it, whatever still waits to be sent."""
        self.transport.abort()

    def write(self, event: bytes) -> bool:
        """Send a part of an answer whose head was sent; return whether that could be done at once.

        It goes past h11, as the part that h11 would make of it, and past a task for each reader:
        one event to each of many takes a third of the time so.
        """
        is_chunked = self.conn.their_http_version == b"1.1"
        if not is_chunked or self.transport.is_closing() or self.transport.get_write_buffer_size():
            return False
        self.transport.write(b"%x\r\n%b\r\n" % (len(event), event))
        return True

    @property
    def _client(self) -> Client:
        return self.client or ("", 0)

    def _end_if_idle(self) -> None:
        if self._doorkeeper.is_waiting(self._client):
            self.transport.abort()
