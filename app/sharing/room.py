"""Shares captions with a room: the page for phones, its address, and who may read.

Nothing listens before a ``Room`` is made, and nothing after it is closed.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from app.captions.model import UtteranceView
from app.sharing.access import LOOPBACK, Access
from app.sharing.doorkeeper import Doorkeeper
from app.sharing.pages import Page, pages_at, refusal, stream_answer
from app.sharing.room_feed import RoomFeed
from app.sharing.server import PageServer, listening_socket
from app.sharing.streams import EventResponse, Rounds

MOST_READERS = 500
PORT = 8766
"""The usual port; another one is taken where it is not free."""

_LONGEST_PIN = 32  # bytes


class Room:
    """Captions for all who have the link or the PIN, until it is closed."""

    def __init__(
        self,
        address: str,
        languages: Mapping[str, str],
        views: Sequence[UtteranceView] = (),
        *,
        with_pin: bool = False,
        key: str = "",
        readers_changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin to share.

        Args:
            address: of this computer in the network that is chosen.
            languages: those that are offered, as ``RoomFeed`` has them.
            views: captions of before, which nobody gets.
            with_pin: a PIN is typed; else the link lets in.
            key: of a sharing before, whose link lets in again; empty for another one.
            readers_changed: called on a thread of the server; also when the PIN is guessed at.

        Raises:
            OSError: the computer does not have this address, or lets nobody listen there.
        """
        self.access = Access(with_pin=with_pin, key=key, guessed=readers_changed)
        self._feed = RoomFeed(languages, views, time.time())
        try:
            listener = listening_socket(address, PORT)
        except OSError:
            listener = listening_socket(address, 0)
        hosts = [address, "localhost"] if address == LOOPBACK else [address]
        self._server = PageServer(
            listener,
            lambda keeper, rounds: _pages(hosts, self.access, self._feed, keeper, rounds),
            MOST_READERS,
            readers_changed,
        )

    @property
    def host(self) -> str:
        """The address of this computer in the network."""
        return str(self._server.host)

    @property
    def address(self) -> str:
        """The short address, which everybody may know."""
        return f"http://{self._server.host}:{self._server.port}/"

    @property
    def link(self) -> str:
        """The address for the QR code; without a PIN the key is in it."""
        return self.address if self.access.pin else f"{self.address}#{self.access.key}"

    @property
    def read(self) -> tuple[str, ...]:
        """Codes of the further languages that are read."""
        further = self._feed.further
        return tuple(name for name in self._server.doorkeeper.read if name in further)

    @property
    def n_readers(self) -> int:
        return self._server.doorkeeper.n_readers

    def show_languages(self, languages: Mapping[str, str]) -> None:
        """Change the languages that are offered, as ``RoomFeed`` has them."""
        self._feed.show_languages(languages)
        self._server.tell()

    def show_ready(self, ready: Collection[str], full: Collection[str] = ()) -> None:
        self._feed.show_ready(ready, full)
        self._server.tell()

    def show_views(
        self,
        views: Sequence[UtteranceView],
        name_of: Callable[[UtteranceView], str] = lambda _view: "",
    ) -> None:
        self._feed.show_views(views, name_of)
        self._server.tell()

    def close(self) -> None:
        """End every connection and stop listening."""
        self._server.close()


def _pages(
    hosts: Sequence[str], access: Access, feed: RoomFeed, doorkeeper: Doorkeeper, rounds: Rounds
) -> ASGIApp:
    whole = Page("room_page.html")

    async def page(_request: Request) -> Response:
        return whole.response(with_pin=bool(access.pin))

    async def captions(request: Request) -> Response | EventResponse:
        if not access.admits(request.query_params.get("key", "")):
            return refusal(403, "the link or the PIN is needed to read here")
        return stream_answer(request, feed, rounds, doorkeeper)

    async def key(request: Request) -> Response:
        address = "" if request.client is None else request.client.host
        if not access.tries.may_try(address):
            return refusal(429, "too many tries: wait a minute")
        if not access.is_pin(await _short_body(request), address):
            return refusal(403, "this is not the PIN")
        return JSONResponse({"key": access.key}, headers={"Cache-Control": "no-store"})

    routes = [Route("/", page), Route("/captions", captions)]
    if access.pin:
        routes.append(Route("/key", key, methods=["POST"]))
    return pages_at(hosts, routes)


async def _short_body(request: Request) -> str:
    """Return what was sent, or nothing if it is longer than any PIN."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LONGEST_PIN:
            return ""
    return body.decode(errors="replace")
