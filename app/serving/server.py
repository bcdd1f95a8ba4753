"""A server for desktops on this computer: it answers requests to translate.

``engine.remote.wire`` has their forms. A request is heard after its token is known to be right.
Sizes, times and rates are bounded: a flood is slowed down, and nothing is computed for who has
gone.
"""

import asyncio
import contextlib
import hashlib
import logging
import os
import re
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Generic, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.config.text_io import TextError
from app.sharing.access import LOOPBACK, Tries, is_same
from app.sharing.doorkeeper import Client, Doorkeeper
from app.sharing.server import PageServer, TlsFiles, listening_socket
from app.sharing.streams import Rounds
from engine.errors import message_of
from engine.messages import Code, Codes, Message
from engine.remote.wire import (
    MOST_REQUEST_BYTES,
    Answer,
    Asked,
    Failure,
    Kind,
    Leaving,
    Opened,
    Opening,
    read_request,
    write,
)
from engine.session.conversations import Conversations, Lives
from engine.translation.captioner import Change

_log = logging.getLogger(__name__)

CONNECTIONS = 3
"""For each session: a desktop has one, and one may be half dead."""

KEEP_ALIVE_S = 120
LAST_ANSWERS_S = 10.0
"""For what was asked before the end."""

_BODY_S = 10.0  # until a request has come
_BEAT_S = 3.0  # a sign of life while nothing is to be told
_OPENING_BEATS = 20  # of a session, while others are computed for
_RATE, _BURST = 60.0, 120.0  # requests a second of a connection, and at once
_MOST_RATES = 4096  # connections whose rate is known
_TOKEN, _MOST_TOKENS = re.compile("[ -~]{20,200}"), 1000
_FEWEST_LETTERS = 8  # that differ in a token
_MOST_TOKEN_BYTES = 1 << 18
_RANDOM_BYTES = 24
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_JSON, _LINES = "application/json", "application/x-ndjson"
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_STATUS: dict[Codes, HTTPStatus] = {
    Code.SERVER_FULL: HTTPStatus.SERVICE_UNAVAILABLE,
    Code.SERVER_STOPPING: HTTPStatus.SERVICE_UNAVAILABLE,
    Code.SERVER_BUSY: HTTPStatus.TOO_MANY_REQUESTS,
}

Told = TypeVar("Told")


class Tokens:
    """The tokens that a server knows; without any, everybody who reaches it may ask."""

    def __init__(self, tokens: Sequence[str] = ()) -> None:
        self._tokens = tuple(tokens)

    def __bool__(self) -> bool:
        return bool(self._tokens)

    def whose(self, authorization: str) -> str | None:
        """Return a name for the sender of this header; None where its token is not known.

        All tokens are compared, each in a time that does not tell how much of it is right.
        """
        if not self._tokens:
            return ""
        scheme, _, given = authorization.partition(" ")
        found = [is_same(given, token) for token in self._tokens]
        if scheme.lower() != "bearer" or not any(found):
            return None
        return hashlib.sha256(given.encode()).hexdigest()[:16]


def read_tokens(path: Path) -> tuple[str, ...]:
    """Read a file with a token on each line; make one where there is no file.

    Empty lines, and lines that begin with ``#``, are skipped.

    Raises:
        TextError: it cannot be read or made, or a token could be guessed.
    """
    try:
        if not path.exists():
            _make(path)
        with path.open("rb") as file:
            if os.name != "nt" and os.fstat(file.fileno()).st_mode & 0o077:
                _log.warning("others can read the tokens in %s: chmod 600 %s", path, path)
            lines = file.read(_MOST_TOKEN_BYTES).decode().splitlines()
    except (OSError, UnicodeError) as error:
        msg = f"the tokens in {path} cannot be read: {message_of(error)}"
        raise TextError(msg) from error
    told = [line.strip() for line in lines]
    tokens = tuple(line for line in told if line and not line.startswith("#"))
    for number, token in enumerate(tokens, start=1):
        if not _TOKEN.fullmatch(token) or len(set(token)) < _FEWEST_LETTERS:
            msg = (
                f"token {number} in {path} should be 20 to 200 letters and digits, "
                f"{_FEWEST_LETTERS} of them different; delete the file, and it is made with a "
                "random one"
            )
            raise TextError(msg)
    if not 0 < len(tokens) <= _MOST_TOKENS:
        msg = f"{path} should have a token on each line, up to {_MOST_TOKENS}, got {len(tokens)}"
        raise TextError(msg)
    return tokens


def _make(path: Path) -> None:
    """Write a file that only its owner can read."""
    token = secrets.token_urlsafe(_RANDOM_BYTES)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{token}\n")


class Answers:
    """Answers to all requests; for one thread.

    Attributes:
        refused: requests by the status that they got.
    """

    def __init__(
        self,
        conversations: Conversations,
        tokens: Tokens,
        doorkeeper: Doorkeeper | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Answer for these conversations.

        Args:
            tokens: one of which every request but that for the health names.
            doorkeeper: of the connections; None where another program keeps them.
        """
        self.refused = Counter[int]()
        self._conversations, self._tokens, self._doorkeeper = conversations, tokens, doorkeeper
        self._tries = Tries(clock)
        self._clock = clock
        self._free_at_s: OrderedDict[Client, float] = OrderedDict()  # when a flood is paid off
        self._routes = {
            ("GET", "/metrics"): self._metrics,
            ("POST", "/v1/sessions"): self._open,
            ("POST", "/v1/captions"): self._translate,
            ("POST", "/v1/leave"): self._leave,
        }

    async def answer(self, request: Request) -> Response:
        try:
            return await self._heard(request)
        except _RefusedError as refusal:
            self.refused[refusal.status] += 1
            body, heads = write(Failure(refusal.message)), _HEADERS | {"Connection": "close"}
            return Response(body, refusal.status, heads, _JSON)
        except ClientDisconnect:
            return Response(status_code=HTTPStatus.BAD_REQUEST)

    async def _heard(self, request: Request) -> Response:
        path, heads = request.url.path, request.headers
        if (request.method, path) == ("GET", "/health"):
            is_alive = self._conversations.is_alive
            status = HTTPStatus.OK if is_alive else HTTPStatus.SERVICE_UNAVAILABLE
            return PlainTextResponse("ok\n" if is_alive else "stopped\n", status, _HEADERS)
        if "origin" in heads or heads.get("sec-fetch-site", "none") != "none":
            raise _RefusedError(HTTPStatus.FORBIDDEN, "browsers have nothing to ask here")
        host = heads.get("host", "").rpartition(":")[0] or heads.get("host", "")
        if not self._tokens and host not in _LOCAL_HOSTS:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "without tokens only this computer may ask")
        who = self._whose(request)
        route = self._routes.get((request.method, path))
        if route is None:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "there is nothing at this address")
        await self._slow_down(_client(request))
        return await route(request, who)

    def _whose(self, request: Request) -> str:
        """Return whose token a request names, and let its connection stay."""
        client = _client(request)
        who = self._tokens.whose(request.headers.get("authorization", ""))
        if who is None:
            if self._tries.may_try(client[0]):
                self._tries.note_wrong(client[0])
                raise _RefusedError(HTTPStatus.UNAUTHORIZED, "this token is not known")
            raise _RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "too many wrong tokens came")
        keeper = self._doorkeeper
        if keeper is not None and not keeper.has_place(client) and keeper.admit(client) is None:
            raise _RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, Code.SERVER_FULL())
        return who

    async def _slow_down(self, client: Client) -> None:
        now_s = self._clock()
        free_at_s = max(self._free_at_s.pop(client, now_s), now_s) + 1 / _RATE
        self._free_at_s[client] = free_at_s
        if len(self._free_at_s) > _MOST_RATES:
            self._free_at_s.popitem(last=False)
        wait_s = free_at_s - now_s - _BURST / _RATE
        if wait_s > 0:
            await asyncio.sleep(wait_s)

    async def _read(self, kind: type[Kind], request: Request) -> Kind:
        content = bytearray()
        try:
            async with asyncio.timeout(_BODY_S):
                async for chunk in request.stream():
                    content += chunk
                    if len(content) > MOST_REQUEST_BYTES:
                        detail = f"a request has at most {MOST_REQUEST_BYTES} bytes"
                        raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
        except TimeoutError:
            detail = f"a request should have come after {_BODY_S:.0f} seconds"
            raise _RefusedError(HTTPStatus.REQUEST_TIMEOUT, detail) from None
        try:
            return read_request(kind, bytes(content))
        except ValueError as error:
            detail = f"the request {error}"
            raise _RefusedError(HTTPStatus.BAD_REQUEST, detail) from error

    async def _metrics(self, _request: Request, _who: str) -> Response:
        """Return figures, but nothing of what was said or by whom.

        Format: https://prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4.
        """
        work = self._conversations
        values = {f"{name}_total": n for name, n in work.figures.items()}
        values |= {f'refused_total{{status="{status}"}}': n for status, n in self.refused.items()}
        values |= {"sessions": work.n_sessions, "sessions_most": work.n_most}
        values |= {"waiting_sessions": work.n_waiting}
        values |= {"connections": 0 if self._doorkeeper is None else self._doorkeeper.n_open}
        text = "".join(f"surtitle_{name} {value}\n" for name, value in values.items())
        return Response(text, 200, _HEADERS | {"Content-Type": _PROMETHEUS})

    async def _open(self, request: Request, who: str) -> Response:
        opening = await self._read(Opening, request)
        self._check_alive()
        answers = _Mailbox[Opened | Failure]()
        self._conversations.open(who, opening, answers.put, self._lives(request))
        answer = await self._in_time(answers) or Failure(Code.SERVER_BUSY())
        if isinstance(answer, Failure):
            status = _STATUS.get(answer.message.code, HTTPStatus.UNPROCESSABLE_ENTITY)
            raise _RefusedError(status, answer.message)
        return Response(write(answer), 200, _HEADERS, _JSON)

    async def _in_time(self, answers: "_Mailbox[Told]") -> Told | None:
        """Return an answer; None where none comes, or none can since the server stops."""
        for _ in range(_OPENING_BEATS):
            answer = await answers.take(_BEAT_S)
            if answer is not None:
                return answer
            self._check_alive()
        return None

    def _lives(self, request: Request) -> Lives:
        keeper, client = self._doorkeeper, _client(request)
        return lambda: keeper is None or keeper.has_place(client)

    def _check_alive(self) -> None:
        if not self._conversations.is_alive:
            raise _RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, Code.SERVER_STOPPING())

    async def _translate(self, request: Request, who: str) -> Response:
        asked = await self._read(Asked, request)
        self._check_alive()
        if not self._conversations.is_open((who, asked.session)):
            raise _RefusedError(HTTPStatus.CONFLICT, "this session is to be opened first")
        answers = _Mailbox[Answer]()
        self._conversations.ask(who, asked, answers.put, self._lives(request))
        return StreamingResponse(self._lines(answers), 200, _HEADERS, _LINES)

    async def _lines(self, answers: "_Mailbox[Answer]") -> AsyncIterator[bytes]:
        """Yield answers up to the last; an empty line while there is none.

        Where the server has stopped they end without the last, and the client asks again.
        """
        answer: Answer | None = None
        while answer is None or isinstance(answer, Change):
            answer = await answers.take(_BEAT_S)
            if answer is None and self._conversations.has_stopped:
                return
            yield b"\n" if answer is None else write(answer)

    async def _leave(self, request: Request, who: str) -> Response:
        leaving = await self._read(Leaving, request)
        self._conversations.leave(who, leaving.session)
        return Response(b"{}\n", 200, _HEADERS, _JSON)


class _RefusedError(Exception):
    """A request gets nothing but a reason."""

    def __init__(self, status: int, reason: str | Message) -> None:
        super().__init__(str(reason))
        self.status = status
        self.message = Code.AS_SAID(sentence=reason) if isinstance(reason, str) else reason


class _Mailbox(Generic[Told]):
    """Answers of the thread that translates, for the one that sends them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._told = asyncio.Queue[Told]()

    def put(self, told: Told) -> None:
        """Put something in; for any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._told.put_nowait, told)

    async def take(self, patience_s: float) -> Told | None:
        """Take out the oldest; None where none comes in time."""
        try:
            async with asyncio.timeout(patience_s):
                return await self._told.get()
        except TimeoutError:
            return None


def _client(request: Request) -> Client:
    address = request.client
    return ("", 0) if address is None else (address.host, address.port)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingSettings:
    """Where a server listens, and to whom.

    Attributes:
        host, port: of its socket; 0 is any free port.
        tokens: that it knows; empty only where nobody but this computer can reach it.
        tls: its certificate; None where it speaks in the clear.
        most_clients: sessions at once.
    """

    host: str = LOOPBACK
    port: int
    tokens: tuple[str, ...] = field(default=(), repr=False)
    tls: TlsFiles | None = None
    most_clients: int


class TranslationServer:
    """Serves until it is closed.

    Attributes:
        address: to name to desktops.
    """

    def __init__(self, settings: ServingSettings, conversations: Conversations) -> None:
        """Listen, and start to translate.

        Raises:
            OSError: the port or the certificate cannot be used.
            OverflowError: there is no such port.
        """
        self._conversations, self._is_closed = conversations, False
        listener = listening_socket(settings.host, settings.port)

        def make(doorkeeper: Doorkeeper, _rounds: Rounds) -> ASGIApp:
            return application(Answers(conversations, Tokens(settings.tokens), doorkeeper))

        try:
            self._server = PageServer(
                listener,
                make,
                CONNECTIONS * settings.most_clients,
                tls=settings.tls,
                keep_alive_s=KEEP_ALIVE_S,
            )
        except BaseException:
            listener.close()
            raise
        conversations.start()
        scheme = "http" if settings.tls is None else "https"
        self.address = f"{scheme}://{self._server.host}:{self._server.port}"

    def close(self) -> None:
        """Take no more requests, give the answers that are under way, and stop, once."""
        if not self._is_closed:
            self._is_closed = True
            self._conversations.stop(LAST_ANSWERS_S)
            self._server.close()


def application(answers: Answers) -> ASGIApp:

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "nothing else is switched on"
        response = await answers.answer(Request(scope, receive))
        await response(scope, receive, send)

    return answer
