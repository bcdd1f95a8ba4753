"""The page with the lines of the overlay, for a browser source in OBS; for this computer alone."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from app.sharing.access import is_same
from app.sharing.doorkeeper import Doorkeeper
from app.sharing.pages import Page, pages_at, refusal, stream_answer
from app.sharing.streams import EventResponse, Rounds, Stream

HOST = "127.0.0.1"
MOST_READERS = 16

_HOSTS: Sequence[str] = (HOST, "localhost")


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

    return pages_at(_HOSTS, [Route("/", page), Route("/captions", captions)])


def _stranger() -> Response:
    return refusal(403, "the address of this page holds a secret")
