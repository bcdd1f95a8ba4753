"""A server for desktops on this computer: the model, its sessions and their connections."""

from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.serving.answers import Answers
from app.serving.tokens import Tokens
from app.sharing.doorkeeper import Doorkeeper
from app.sharing.networks import LOOPBACK
from app.sharing.server import PageServer, TlsFiles, listening_socket
from app.sharing.streams import Rounds
from engine.session.conversations import Conversations

STANDARD_PORT = 8754
MOST_CLIENTS = 32
"""Sessions at once, if nothing else is said."""

CONNECTIONS = 3
"""For each session: a desktop has one, and one may be half dead."""

KEEP_ALIVE_S = 120
LAST_ANSWERS_S = 10.0
"""For what was asked before the end."""


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
    """Return an application that gives these answers, and no others."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "nothing else is switched on"
        response = await answers.answer(Request(scope, receive))
        await response(scope, receive, send)

    return answer
