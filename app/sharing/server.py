"""The HTTP server of the caption pages, and of a computer that translates: uvicorn, in a thread.

Any program that reaches the port can talk to it, so connections are limited in number, time and
size (``doorkeeper``), whatever uvicorn itself allows.
"""

import asyncio
import functools
import logging
import os
import socket
import ssl
import threading
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_remote_addr

from app.sharing import doorkeeper
from app.sharing.doorkeeper import Client, Doorkeeper
from app.sharing.streams import Rounds

_log = logging.getLogger(__name__)

_ARRIVING = 1024
"""Connections that the system keeps until they are accepted: a full room comes back at once after a
dead spot."""

_ACCEPTED_AT_ONCE = 64
"""In a turn of the loop; a request is heard three turns later, so that fewer than
``doorkeeper.MOST_WAITING`` wait in a room that comes back."""

_LONGEST_HEAD = 8192  # bytes of a request
_BUFFER = 16 * 1024  # bytes that wait for a slow reader, beside those that the system keeps:
_SYSTEM_BUFFER = 64 * 1024
_FAREWELL_S = 0.05  # for a reader to take its last event
_KEEP_ALIVE_S = 5
_GREETING_S = 5
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
        listener.listen(_ARRIVING)
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
        self._loop.set_exception_handler(self._note_fault)
        self._faults: set[type] = set()
        self._create_server, self._listener = self._loop.create_server, listener
        self._loop.create_server = self._listen  # type: ignore[method-assign,assignment]  # see there
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
            backlog=_ACCEPTED_AT_ONCE,
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

    async def _listen(
        self,
        factory: Callable[[], "_Connection"],
        *,
        ssl: ssl.SSLContext | None,
        **arguments: object,
    ) -> asyncio.Server:
        """Listen as uvicorn wants it, but let the doorkeeper know who has not greeted yet."""

        def greet() -> asyncio.BaseProtocol:
            return factory() if ssl is None else _Greeting(factory(), ssl, self.doorkeeper)

        server: asyncio.Server = await self._create_server(greet, **arguments)  # type: ignore[call-overload]  # as there
        self._listener.listen(_ARRIVING)  # asyncio has made it as short as a turn of its loop
        return server

    def _note_fault(self, _loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """Report what goes wrong, once of each kind: a flood of faults writes no flood of lines."""
        error = context.get("exception")
        if type(error) not in self._faults:
            self._faults.add(type(error))
            bug = error if isinstance(error, Exception) and not isinstance(error, OSError) else None
            _log.error("%s: %s", context["message"], error, exc_info=bug)

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


class _Greeting(SSLProtocol):
    """The greeting of TLS; the doorkeeper knows it before anything was said."""

    def __init__(
        self, connection: "_Connection", context: ssl.SSLContext, doorkeeper: Doorkeeper
    ) -> None:
        super().__init__(
            connection.loop,
            connection,
            context,
            waiter=None,  # type: ignore[arg-type]  # it asks whether there is one
            server_side=True,
            ssl_handshake_timeout=_GREETING_S,
        )
        self._doorkeeper, self._client = doorkeeper, ("", 0)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as there
        self._client = get_remote_addr(transport) or self._client
        self._below = transport
        self._doorkeeper.open(self._client, self)
        super().connection_made(transport)

    def buffer_updated(self, nbytes: int) -> None:
        self._doorkeeper.hear(self._client)
        super().buffer_updated(nbytes)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._doorkeeper.close(self._client)
        super().connection_lost(exc)

    def end(self) -> None:
        self._below.abort()

    def write(self, _event: bytes) -> bool:
        """Send nothing: the greeting comes first."""
        return False


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

    def data_received(self, data: bytes) -> None:
        self._doorkeeper.hear(self._client)
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._late is not None:
            self._late.cancel()
        self._doorkeeper.close(self._client)
        super().connection_lost(exc)

    def end(self) -> None:
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
