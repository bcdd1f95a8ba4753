"""The HTTP server behind ``browser_source``: the standard library's, on threads, without Qt.

It listens on the loopback address only and refuses requests without its secret or with another
host name (DNS rebinding). Any program of this computer can reach the port, so connections are
limited in number and time.
"""

import contextlib
import html
import logging
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from urllib.parse import parse_qs

from engine.files import ASSETS

_log = logging.getLogger(__name__)

HOST = "127.0.0.1"
MOST_CONNECTIONS, LONGEST_S = 32, 5.0

_POLL_S = 0.2  # how often what is open too long is looked for; also how long closing takes at most

_PAGE = (ASSETS / "caption_page.html").read_text(encoding="utf-8")

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class CaptionServer(ThreadingTCPServer):
    """Listen until closed.

    Attributes:
        token: the secret.
        captions: returns the current captions and their look as JSON; called on any thread.
    """

    allow_reuse_address = os.name != "nt"  # there it would let others listen on the same port
    daemon_threads = True
    request_queue_size = MOST_CONNECTIONS

    def __init__(self, port: int, token: str, captions: Callable[[], str]) -> None:
        """Listen on a port, 0 for any free one.

        Raises:
            OSError: the port cannot be used.
            OverflowError: there is no such port.
        """
        self.token = token
        self.captions = captions
        self._open: dict[socket.socket, float] = {}  # connections, and when they were opened
        self._guard = threading.Lock()  # of these
        super().__init__((HOST, port), _Request)
        self._thread = threading.Thread(
            target=self.serve_forever, args=(_POLL_S,), name="surtitle-page"
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.socket.getsockname()[1])

    def close(self) -> None:
        """Stop listening and end all connections."""
        self.shutdown()
        self._thread.join()
        self.server_close()
        self._end_older_than(0.0)

    def get_request(self) -> tuple[socket.socket, object]:
        """Accept a connection; after a failure, wait before the next try."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(_POLL_S)
            raise

    def verify_request(self, request: object, client_address: object) -> bool:  # noqa: ARG002  as it is called
        """Count a connection; beyond the limit, close the oldest one for it.

        An answer takes milliseconds, so the oldest is one that asks for nothing: it would keep out
        those that do.
        """
        if not isinstance(request, socket.socket):
            return False
        with self._guard:
            late = [next(iter(self._open))] if len(self._open) >= MOST_CONNECTIONS else []
            self._open[request] = time.monotonic()
        self._end(late)
        return True

    def shutdown_request(self, request: object) -> None:
        """Close a connection and forget it."""
        with self._guard:
            if isinstance(request, socket.socket):
                self._open.pop(request, None)
        super().shutdown_request(request)  # type: ignore[arg-type]  # what typeshed calls it

    def service_actions(self) -> None:
        """Close the connections that are open too long; called by the server loop."""
        self._end_older_than(LONGEST_S)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002  as it is called
        """Ignore broken connections: the client may close its end."""
        if not isinstance(sys.exception(), OSError):
            _log.exception("a request could not be answered")

    def _end_older_than(self, seconds: float) -> None:
        now_s = time.monotonic()
        with self._guard:
            late = [one for one, since_s in self._open.items() if now_s - since_s >= seconds]
        self._end(late)

    def _end(self, connections: Iterable[socket.socket]) -> None:
        for one in connections:
            with self._guard:
                self._open.pop(one, None)
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)  # wakes its thread, which closes it


class _Request(BaseHTTPRequestHandler):
    """Answer one request."""

    server: CaptionServer
    server_version, sys_version = "Surtitle", ""
    timeout = LONGEST_S

    def do_GET(self) -> None:
        """Answer with the page or the captions, if the secret is right."""
        path, _, query = self.path.partition("?")
        given = parse_qs(query).get("token", [""])[0]
        if not self._is_ours() or not secrets.compare_digest(
            given.encode(errors="replace"), self.server.token.encode()
        ):
            self._answer(
                HTTPStatus.FORBIDDEN, "text/plain", "the address of this page holds a secret\n"
            )
        elif path == "/captions":
            self._answer(HTTPStatus.OK, "application/json", self.server.captions())
        elif path == "/":
            page = _PAGE.replace("{token}", html.escape(self.server.token))
            self._answer(HTTPStatus.OK, "text/html", page)
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "there is no such page\n")

    def log_message(self, *_arguments: object) -> None:
        """Log nothing: an open page sends five requests a second."""

    def _is_ours(self) -> bool:
        """Return whether the request names this computer as its host."""
        host = self.headers.get("Host", "").strip()
        return (host.rpartition(":")[0] or host) in {HOST, "localhost"}

    def _answer(self, status: HTTPStatus, kind: str, body: str) -> None:
        data = body.encode(errors="replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
