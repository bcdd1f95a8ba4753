"""A page with the captions, for a browser source in OBS. Only this computer can reach it.

It listens on the loopback address alone, answers nobody who does not know its secret, and nobody
whose browser was led here under another name (DNS rebinding). It asks for what is new itself, so
nothing is kept open.
"""

import html
import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from PySide6.QtCore import QObject, Slot
from PySide6.QtNetwork import QHostAddress, QTcpServer, QTcpSocket

from app.choices import PrivacyChoices

_LONGEST_REQUEST = 8192
_N_LINES = 2

_PAGE = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Surtitle</title><style>
body {{ margin: 0; background: transparent; font: 600 48px/1.25 sans-serif; color: white; }}
p {{ margin: 0; padding: 0.1em 0.4em; min-height: 1.25em; }}
p {{ text-shadow: 0 0 6px black, 0 0 3px black; }}
</style></head><body><div id="lines" aria-live="polite"></div><script>
const lines = document.getElementById("lines");
let shown = "";
async function look() {{
  try {{
    const answer = await fetch("/captions?token={token}", {{ cache: "no-store" }});
    const text = await answer.text();
    if (text !== shown) {{
      shown = text;
      lines.replaceChildren(...JSON.parse(text).map((line) => {{
        const paragraph = document.createElement("p");
        paragraph.dir = "auto";
        paragraph.textContent = line;
        return paragraph;
      }}));
    }}
  }} catch (error) {{ }}
  setTimeout(look, 200);
}}
look();
</script></body></html>
"""


class CaptionPage(QObject):
    """Serve the last captions while it is open.

    Attributes:
        token: the secret in its address; empty until the page was open once.
    """

    def __init__(self, token_file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._token_file = token_file
        self.token = ""
        self._lines: tuple[str, ...] = ()
        self._server = QTcpServer(self)
        self._server.newConnection.connect(self._take_connections)

    def use(self, choices: PrivacyChoices) -> str | None:
        """Be open or closed, as the person chose.

        Returns:
            a sentence for the person where it could not be opened.
        """
        self.close()
        return self.open_at(choices.page_port) if choices.page else None

    def open_at(self, port: int) -> str | None:
        """Listen on a port, 0 for any that is free; what is returned is as in ``use``."""
        self.token = self.token or page_token(self._token_file)
        if self._server.listen(QHostAddress(QHostAddress.SpecialAddress.LocalHost), port):
            return None
        told = self.tr(
            "The caption page could not be opened at port {}: {}; choose another port in the "
            "settings"
        )
        return told.format(port, self._server.errorString())

    def close(self) -> None:
        """Listen no more."""
        self._server.close()

    @property
    def address(self) -> str:
        """Where the page is, with its secret; empty while it is closed."""
        if not self._server.isListening():
            return ""
        return f"http://127.0.0.1:{self._server.serverPort()}/?token={self.token}"

    def show_lines(self, lines: Sequence[str]) -> None:
        """Show these captions, of which the last ones are seen."""
        self._lines = tuple(lines)[-_N_LINES:]

    @Slot()
    def _take_connections(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.setParent(self)
            socket.readyRead.connect(self._take_request)
            socket.disconnected.connect(socket.deleteLater)

    @Slot()
    def _take_request(self) -> None:
        socket = self.sender()
        assert isinstance(socket, QTcpSocket)
        request = bytes(socket.peek(_LONGEST_REQUEST).data())
        if b"\r\n\r\n" not in request:
            if len(request) >= _LONGEST_REQUEST:
                socket.abort()
            return
        socket.readAll()
        status, kind, body = self._answer(request.decode("latin-1"))
        data = body.encode()
        head = [
            f"HTTP/1.1 {status}",
            f"Content-Type: {kind}; charset=utf-8",
            f"Content-Length: {len(data)}",
            "Cache-Control: no-store",
            "Referrer-Policy: no-referrer",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
        ]
        socket.write("\r\n".join([*head, "", ""]).encode() + data)
        socket.disconnectFromHost()

    def _answer(self, request: str) -> tuple[str, str, str]:
        """Answer a request with status, kind and body."""
        first, *headers = request.split("\r\n")
        method, _, rest = first.partition(" ")
        target = urlsplit(rest.rpartition(" ")[0])
        given = parse_qs(target.query).get("token", [""])[0]
        if method != "GET":
            return "405 Method Not Allowed", "text/plain", "only GET is answered\n"
        if not _is_ours(headers) or not secrets.compare_digest(given.encode(), self.token.encode()):
            return "403 Forbidden", "text/plain", "the address of this page holds a secret\n"
        if target.path == "/captions":
            return "200 OK", "application/json", json.dumps(self._lines, ensure_ascii=False)
        if target.path == "/":
            return "200 OK", "text/html", _PAGE.format(token=html.escape(self.token))
        return "404 Not Found", "text/plain", "there is no such page\n"


def page_token(path: Path) -> str:
    """Read the secret of the page's address, or make one, so that the address stays the same.

    Where it cannot be stored, it holds until the program ends.
    """
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        token = ""
    if len(token) >= 20 and token.replace("-", "").replace("_", "").isalnum():
        return token
    token = secrets.token_urlsafe(24)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(token, encoding="ascii")
    except OSError:
        pass
    return token


def _is_ours(headers: Sequence[str]) -> bool:
    """Tell whether the browser calls this computer by its own name."""
    for header in headers:
        name, _, value = header.partition(":")
        if name.strip().lower() == "host":
            host = value.strip().rpartition(":")[0] or value.strip()
            return host in {"127.0.0.1", "localhost"}
    return False
