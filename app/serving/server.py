"""A server for desktops on this computer: it answers requests to translate.

``engine.remote.wire`` has their forms. A request is heard after its token is known to be right.
Sizes, times and rates are bounded: a flood is slowed down, and nothing is computed for who has
gone.
"""

import asyncio
import contextlib
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Generic, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.serving.tokens import Tokens
from app.sharing.access import Tries
from app.sharing.doorkeeper import Client, Doorkeeper
from app.sharing.networks import LOOPBACK
from app.sharing.server import PageServer, TlsFiles, listening_socket
from app.sharing.streams import Rounds
from engine.messages import Code, Codes, Message
from engine.remote.wire import (
    MOST_REQUEST_BYTES,
    Answer,
    Asked,
    Changed,
    Failure,
    Form,
    Leaving,
    Opened,
    Opening,
    read_request,
    write,
)
from engine.session.conversations import Conversations, Figures, Lives

STANDARD_PORT = 8754
MOST_CLIENTS = 32
"""Sessions at once, if nothing else is said."""

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
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_JSON, _LINES = "application/json", "application/x-ndjson"
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_QUANTILES = (0.5, 0.95, 0.99)
_STATUS: dict[Codes, HTTPStatus] = {
    Code.SERVER_FULL: HTTPStatus.SERVICE_UNAVAILABLE,
    Code.SERVER_STOPPING: HTTPStatus.SERVICE_UNAVAILABLE,
    Code.SERVER_BUSY: HTTPStatus.TOO_MANY_REQUESTS,
}

Told = TypeVar("Told")


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

    async def _read(self, kind: type[Form], request: Request) -> Form:
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
        n_open = 0 if self._doorkeeper is None else self._doorkeeper.n_open
        text = metrics_text(self._conversations, self.refused, n_open)
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
        while answer is None or isinstance(answer, Changed):
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


def newest_quantile(figures: Figures, quantile: float) -> float:
    """Return a quantile of the seconds to the first answer, of the newest thousand; 0 of none."""
    newest = sorted(figures.first_s)
    return newest[min(len(newest) - 1, int(quantile * len(newest)))] if newest else 0.0


def metrics_text(conversations: Conversations, refused: Counter[int], n_connections: int) -> str:
    """Return the figures as text for Prometheus; they tell nothing of what was said, or by whom.

    Format: https://prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4. Names
    that end in ``_total`` are of counters, the others of gauges.
    """
    figures = conversations.figures
    values: dict[str, float] = {
        "sessions": conversations.n_sessions,
        "sessions_most": conversations.n_most,
        "waiting_sessions": conversations.n_waiting,
        "connections": n_connections,
        "sentences_total": figures.sentences,
        "words_total": figures.words,
        "failed_total": figures.failed,
        "passes_total": figures.passes,
        "pass_sessions_total": figures.rows_asked,
    }
    quantiles = _QUANTILES if figures.first_s else ()
    values |= {
        f'first_answer_seconds{{quantile="{one}"}}': newest_quantile(figures, one)
        for one in quantiles
    }
    values |= {f'refused_total{{status="{status}"}}': n for status, n in refused.items()}
    return "".join(f"surtitle_{name} {value}\n" for name, value in values.items())


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
    port: int = STANDARD_PORT
    tokens: tuple[str, ...] = field(default=(), repr=False)
    tls: TlsFiles | None = None
    most_clients: int = MOST_CLIENTS


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
