"""Parts that all caption pages share, and the page of the overlay for a browser source in OBS.

Captions are text to a page, never HTML; its own script and style are named by their hashes, so that
a browser runs nothing else, and asks nobody else for anything.
"""

import base64
import contextlib
import hashlib
import re
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from app.sharing.access import LOOPBACK, is_same
from app.sharing.doorkeeper import Doorkeeper
from app.sharing.streams import EventResponse, Reader, Rounds, Stream
from engine.files import ASSETS

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_NOWHERE = (
    "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
)
_NOT_FRAMED = "; frame-ancestors 'none'"
_LONGEST_NAME = 16  # letters of what a reader follows

_METHODS = ("GET", "POST")

MOST_OVERLAYS = 16  # that are read at once


def pages_at(hosts: Sequence[str], routes: Sequence[BaseRoute]) -> ASGIApp:
    """Return an application with these routes and no other, for requests to these hosts alone."""
    guards = [
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
        Middleware(_Guard),
    ]
    application = Starlette(routes=routes, middleware=guards)
    application.router.redirect_slashes = False
    return application


class _Guard:
    """Refuse other methods and what other origins ask for; answer no client that has gone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = _refused(Request(scope)) if scope["type"] == "http" else None
        with contextlib.suppress(ClientDisconnect):  # a client that has hung up
            await (answer or self._app)(scope, receive, send)


def _refused(request: Request) -> Response | None:
    heads = request.headers
    if request.method not in _METHODS:
        return refusal(405, "this page can only be read")
    own = f"http://{heads.get('host', '')}"
    is_foreign = heads.get("origin", own) != own
    is_led_here = heads.get("sec-fetch-site", "none") not in ("none", "same-origin")
    if is_foreign or (is_led_here and heads.get("sec-fetch-mode") != "navigate"):
        return refusal(403, "pages of others may not ask here")
    return None


def refusal(status: int, reason: str) -> Response:
    """Return an answer to a request that gets nothing."""
    return PlainTextResponse(f"{reason}\n", status, _HEADERS | {"Connection": "close"})


def stream_answer(
    request: Request, stream: Stream, rounds: Rounds, doorkeeper: Doorkeeper
) -> Response | EventResponse:
    """Return the events of a stream, or a refusal where no place is left for one more reader."""
    address = request.client
    client = ("", 0) if address is None else (address.host, address.port)
    seen, show = (request.query_params.get(name, "") for name in ("after", "show"))
    place = doorkeeper.admit(client, show[:_LONGEST_NAME])
    if place is None:
        return refusal(503, "as many are reading as this computer can serve")
    return EventResponse(rounds, Reader(stream, show, place, seen))


class Page:
    """A file of HTML and the policy that a browser has to keep for it."""

    def __init__(
        self, name: str, *, takes_any_style: bool = False, is_framed: bool = False
    ) -> None:
        """Read ``name`` in ``assets``.

        Args:
            name: of the file; its one script and its one style stand in it.
            takes_any_style: the program that shows it may add style sheets, as OBS does.
            is_framed: it may stand in the page of another.
        """
        self.html = (ASSETS / name).read_text(encoding="utf-8")
        styles = "'unsafe-inline'" if takes_any_style else _hash(self.html, "style")
        policy = f"{_NOWHERE}; script-src {_hash(self.html, 'script')}; style-src {styles}"
        self.policy = policy if is_framed else policy + _NOT_FRAMED

    def response(self, *, with_pin: bool = False) -> Response:
        """Return the page, or the one that asks for a PIN first."""
        html = self.html.replace("<body>", "<body data-pin>", 1) if with_pin else self.html
        heads = _HEADERS | {"Content-Security-Policy": self.policy}
        return Response(html, 200, heads, "text/html; charset=utf-8")


def _hash(html: str, element: str) -> str:
    (content,) = re.findall(f"<{element}>(.*?)</{element}>", html, re.DOTALL)
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def overlay_pages(token: str, stream: Stream, doorkeeper: Doorkeeper, rounds: Rounds) -> ASGIApp:
    """Return the page and its captions, for requests with the token."""
    whole = Page("caption_page.html", takes_any_style=True, is_framed=True)

    def is_let_in(request: Request) -> bool:
        return is_same(request.query_params.get("token", ""), token)

    async def page(request: Request) -> Response:
        return whole.response() if is_let_in(request) else _stranger()

    async def captions(request: Request) -> Response | EventResponse:
        if not is_let_in(request):
            return _stranger()
        return stream_answer(request, stream, rounds, doorkeeper)

    return pages_at((LOOPBACK, "localhost"), [Route("/", page), Route("/captions", captions)])


def _stranger() -> Response:
    return refusal(403, "the address of this page holds a secret")
