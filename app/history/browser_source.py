"""A page with the captions, for a browser source in OBS; reachable from this computer only.

``app.history.caption_server`` serves it. The page polls for new captions.
"""

import contextlib
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.config.preferences import PrivacyPreferences
from app.system.toml_file import read_small
from engine.files import write_file

if TYPE_CHECKING:
    from app.history.caption_server import CaptionServer

_N_LINES = 2
_SECRET = re.compile("[A-Za-z0-9_-]{20,}")


class BrowserSource(QObject):
    """Serve the last captions while the page is open.

    Attributes:
        token: the secret in its address; empty until the page is first opened.
    """

    def __init__(self, token_file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._token_file = token_file
        self.token = ""
        self._lines: tuple[str, ...] = ()  # exchanged as a whole: the server's threads read it
        self._server: CaptionServer | None = None

    def use(self, choices: PrivacyPreferences) -> str | None:
        """Open or close the page; return a message for the user if opening failed."""
        self.close()
        return self.open_at(choices.page_port) if choices.page else None

    def open_at(self, port: int) -> str | None:
        """Listen on a port, 0 for any free one; return as ``use`` does."""
        from app.history.caption_server import CaptionServer  # noqa: PLC0415  slow to import, and rarely used

        self.token = self.token or page_token(self._token_file)
        try:
            self._server = CaptionServer(port, self.token, lambda: self._lines)
        except OSError as error:
            text = self.tr(
                "The caption page could not be opened at port {}: {}; choose another port in the "
                "settings"
            )
            return text.format(port, error.strerror)
        return None

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            self._server = None

    @property
    def is_open(self) -> bool:
        """Whether the page is open."""
        return self._server is not None

    @property
    def address(self) -> str:
        """Address of the page with its secret; empty while it is closed."""
        if self._server is None:
            return ""
        return f"http://127.0.0.1:{self._server.port}/?token={self.token}"

    def show_lines(self, lines: Sequence[str]) -> None:
        """Show these captions; the page displays the last ones."""
        self._lines = tuple(lines)[-_N_LINES:]


def page_token(path: Path) -> str:
    """Return the stored secret of the page's address, or make and store one.

    Only the owner may read the file. If it cannot be written, the secret changes with each start.
    """
    try:
        token = read_small(path).strip()
        is_private = not path.stat().st_mode & 0o077
    except (OSError, ValueError):
        token, is_private = "", False
    if not _SECRET.fullmatch(token):
        token, is_private = secrets.token_urlsafe(24), False
    if not is_private:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_file(path, token)
    return token
