"""Ask a server by HTTP, one request at a time over one connection.

A connection that ends is opened again, and the request is sent again: each holds all that it needs.
"""

import contextlib
import http.client
import io
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from engine.errors import ModelError, ServerError, ServerGoneError, first_line, message_of
from engine.messages import Code, Message
from engine.remote.wire import (
    MOST_LINE_BYTES,
    Answer,
    Asked,
    Failure,
    Leaving,
    Opened,
    Opening,
    Request,
    read_answer,
    read_opened,
    write,
)
from engine.settings import ServerSettings
from engine.translation.captioner import Change

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SESSION_HEADER = "X-Session-Id"
"""Names the session, so that what stands before several servers sends it to the same one."""

_CONNECT_S, _PATIENCE_S = 3.0, 15.0  # for a connection, and for the next bytes
_LONGEST_S = 60.0  # for a whole answer, however many signs of life come meanwhile
_MOST_LINES = 4000  # of an answer
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_WAITING = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE,
            HTTPStatus.GATEWAY_TIMEOUT, HTTPStatus.INTERNAL_SERVER_ERROR)  # fmt: skip


class SessionUnknownError(ServerError):
    """The server has forgotten a session, or never knew it."""


class Service:
    """The server of some settings; ``server`` is its name, for people."""

    def __init__(self, settings: ServerSettings) -> None:
        """Prepare; raise ServerError if the address or the certificate cannot be used."""
        self.settings = settings
        parts = urlsplit(settings.address)
        with contextlib.suppress(ValueError):  # of a port that is none
            self._port = parts.port
            is_plain = parts.scheme == "http" and parts.hostname in _LOOPBACK
            is_bare = parts.path in ("", "/") and not (
                parts.query or parts.fragment or parts.username
            )
            if parts.hostname and is_bare and (is_plain or parts.scheme == "https"):
                self._host, self.server = parts.hostname, parts.netloc
                self._context = None if is_plain else _tls_context(settings)
                self._connection: http.client.HTTPConnection | None = None
                self._until_s = 0.0  # the answer to the newest request has to have come
                return
        raise ServerError(Code.SERVER_ADDRESS(address=settings.address))

    def open(self, opening: Opening) -> Opened:
        """Open a session.

        Raises:
            ServerError: the server refuses the settings, or the token.
            ServerGoneError: it does not answer.
        """
        with self._understood():
            return read_opened(self._whole("/v1/sessions", opening))

    def ask(self, asked: Asked, has_waited: Callable[[], None] = lambda: None) -> Iterator[Answer]:
        """Yield the answers as they come; the last is no ``Change``.

        ``has_waited`` is called while the server gives signs of life and no answer.

        Raises:
            SessionUnknownError: the session has to be opened first.
            ServerError: the server refuses.
            ServerGoneError: it does not answer, or no longer, or not to the end within a minute.
        """
        is_over = False
        try:
            with self._understood():
                response = self._request("/v1/captions", asked)
            for _ in range(_MOST_LINES):
                with self._understood():
                    answer = _next_answer(response, has_waited)
                is_over = not isinstance(answer, Change)
                yield answer
                if is_over:
                    return
            raise ServerError(Code.SERVER_MISUNDERSTOOD(detail="it does not end"))
        finally:
            if not is_over:
                self.close()

    def leave(self, session: str) -> None:
        """Close a session, as far as the server answers at once."""
        with contextlib.suppress(ServerError), self._understood():
            self._whole("/v1/leave", Leaving(session=session))

    def unreachable(self, error: ServerGoneError) -> ServerGoneError:
        """Return an error for callers that do not wait any longer."""
        return ServerGoneError(Code.SERVER_UNREACHABLE(server=self.server, reason=error.message))

    def close(self) -> None:
        """End the connection; the next request opens another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def interrupt(self) -> None:
        """Let the wait for an answer fail at once; for other threads."""
        sock = None if self._connection is None else self._connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):  # it has ended
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # TLS's own is for its thread alone

    @contextlib.contextmanager
    def _understood(self) -> Iterator[None]:
        """Turn errors of the connection into ours, and end it then."""
        try:
            yield
        except ssl.SSLError as error:
            self.close()
            detail = getattr(error, "verify_message", "") or error.reason or first_line(error)
            untrusted = Code.SERVER_UNTRUSTED(server=self.server, detail=detail)
            raise ServerError(untrusted) from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise ServerGoneError(message_of(error)) from error
        except ServerError:
            self.close()
            raise
        except ValueError as error:
            self.close()
            raise ServerError(Code.SERVER_MISUNDERSTOOD(detail=str(error))) from error

    def _whole(self, path: str, request: Request) -> bytes:
        return self._request(path, request).read(MOST_LINE_BYTES + 1)

    def _request(self, path: str, request: Request) -> http.client.HTTPResponse:
        """Return an answer whose status is good; a connection that was idle may have ended."""
        is_fresh = self._connection is None
        try:
            response = self._send(path, request)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if is_fresh or isinstance(error, TimeoutError):  # it is there, and as slow as before
                raise
            response = self._send(path, request)
        if response.status != HTTPStatus.OK:
            body = response.read(MOST_LINE_BYTES)
            raise self._refused(response.status, body)
        return response

    def _send(self, path: str, request: Request) -> http.client.HTTPResponse:
        if self._connection is None:
            self._connection = self._connect()
        heads = {"Content-Type": "application/json", SESSION_HEADER: request.session}
        if self.settings.token:
            heads["Authorization"] = f"Bearer {self.settings.token}"
        if self._connection.sock is not None:
            self._connection.sock.settimeout(_PATIENCE_S)
        self._until_s = time.monotonic() + _LONGEST_S
        self._connection.request("POST", path, write(request), heads)
        return self._connection.getresponse()

    def _left_s(self) -> float:
        return self._until_s - time.monotonic()

    def _connect(self) -> http.client.HTTPConnection:
        place = self._host, self._port
        connection = (
            http.client.HTTPConnection(*place, timeout=_CONNECT_S)
            if self._context is None
            else http.client.HTTPSConnection(*place, timeout=_CONNECT_S, context=self._context)
        )
        connection.response_class = partial(_timed_response, self._left_s)  # type: ignore[assignment]  # it is called only
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        return connection

    def _refused(self, status: int, body: bytes) -> ServerError:
        if status == HTTPStatus.UNAUTHORIZED:
            return ServerError(Code.SERVER_REFUSES_TOKEN(server=self.server))
        if status == HTTPStatus.CONFLICT:
            return SessionUnknownError()
        message = _told(body)
        if status in _WAITING:
            return ServerGoneError(message or Code.AS_SAID(sentence=f"HTTP {status}"))
        return ServerError(message or Code.SERVER_MISUNDERSTOOD(detail=f"HTTP {status}"))


def _timed_response(
    left_s: Callable[[], float], sock: socket.socket, *arguments: int, **options: str
) -> http.client.HTTPResponse:
    return http.client.HTTPResponse(_TimedReader(sock, left_s), *arguments, **options)  # type: ignore[arg-type]  # it makes a file of it


class _TimedReader(io.RawIOBase):
    """Reads from a connection up to a moment: a byte a second does not last for ever."""

    def __init__(self, sock: socket.socket, left_s: Callable[[], float]) -> None:
        self._sock, self._left_s = sock, left_s
        self._raw = sock.makefile("rb", buffering=0)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int | None:
        left_s = self._left_s()
        if left_s <= 0:
            raise TimeoutError(Code.HUB_TIMED_OUT())
        self._sock.settimeout(min(_PATIENCE_S, left_s))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _next_answer(response: http.client.HTTPResponse, has_waited: Callable[[], None]) -> Answer:
    """Return the next answer; behind the last one, the connection can be used again."""
    while (line := response.readline(MOST_LINE_BYTES + 1)) == b"\n":
        has_waited()
    if not line.endswith(b"\n") and len(line) <= MOST_LINE_BYTES:
        raise ServerGoneError(Code.CONNECTION_RESET())
    answer = read_answer(line)
    if not isinstance(answer, Change):
        response.read(1)
    return answer


def _told(body: bytes) -> Message | None:
    """Return the reason that a server of ours sent; None from another one."""
    with contextlib.suppress(ValueError):
        answer = read_answer(body)
        return answer.message if isinstance(answer, Failure) else None
    return None


def _tls_context(settings: ServerSettings) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=settings.certificate)
    except OSError as error:  # ssl.SSLError is one
        reason = Code.AS_SAID(sentence=f"{settings.certificate}: {message_of(error)}")
        raise ModelError(Code.SERVER_UNREACHABLE(server=settings.address, reason=reason)) from error
