"""A page with the captions, for a browser source in OBS; reachable from this computer only.

``app.sharing`` serves it.
"""

import contextlib
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.captions.line_breaking import Line
from app.config.preferences import PrivacyPreferences
from app.config.toml_file import read_small
from app.config.translations import worded
from engine.errors import message_of
from engine.files import write_file

if TYPE_CHECKING:
    from app.sharing.server import PageServer

_MOST_LINES = 12
_SECRET = re.compile("[A-Za-z0-9_-]{20,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLook:
    """How the page shows captions.

    Attributes:
        colours: custom properties of CSS by their names, for example ``text``.
        font: family of the letters; empty for any without serifs.
        outline: letters have a rim.
        hide_after_s: seconds without a new caption until the page is empty; 0 for never.
    """

    colours: Mapping[str, str] = field(default_factory=dict)
    font: str = ""
    outline: bool = True
    hide_after_s: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """The lines on the page, exchanged as a whole: the server's thread reads it."""

    number: int = 0

    source: tuple[Line, ...] = ()
    captions: tuple[Line, ...] = ()
    second: tuple[Line, ...] = ()
    changed_s: float = 0.0
    look: PageLook = field(default_factory=PageLook)

    def as_json(self, now_s: float) -> str:
        look = self.look
        left_s = look.hide_after_s - (now_s - self.changed_s)
        is_silent = look.hide_after_s > 0 and left_s <= 0
        rows = [(line, "source") for line in self.source]
        rows += [(line, "caption") for line in self.captions]
        rows += [(line, "second") for line in self.second]
        shown = [] if is_silent else [_row(*row) for row in rows[-_MOST_LINES:]]
        style = {"colours": dict(look.colours), "font": look.font, "outline": look.outline}
        shown_for_s = left_s if look.hide_after_s and shown else None
        told = {"lines": shown, "style": style, "shownForS": shown_for_s}
        return json.dumps(told, ensure_ascii=False)


def _row(line: Line, kind: str) -> dict[str, str | bool]:
    n_certain = len(line.text) - line.n_tail
    return {
        "kind": kind,
        "lane": line.lane,
        "rightToLeft": line.right_to_left,
        "label": line.text[: line.n_label],
        "text": line.text[line.n_label : n_certain],
        "tail": line.text[max(line.n_label, n_certain) :],
    }


class BrowserSource(QObject):
    """Serve the last captions while the page is open.

    Attributes:
        token: the secret in its address; empty until the page is first opened.
    """

    def __init__(
        self,
        token_file: Path,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._token_file = token_file
        self._clock = clock
        self.token = ""
        self._content = _Content()
        self._run = secrets.token_hex(4)  # numbers of another run mean nothing here
        self._server: PageServer | None = None

    def use(self, choices: PrivacyPreferences) -> str | None:
        """Open or close the page; return a message for the user if opening failed."""
        self.close()
        return self.open_at(choices.page_port) if choices.page else None

    def open_at(self, port: int) -> str | None:
        """Listen on a port, 0 for any free one; return as ``use`` does."""
        from app.sharing import access, pages  # noqa: PLC0415  slow to import, and rarely used
        from app.sharing.server import PageServer, listening_socket  # noqa: PLC0415  as above

        self.token = self.token or page_token(self._token_file)
        try:
            self._server = PageServer(
                listening_socket(access.LOOPBACK, port),
                lambda keeper, rounds: pages.overlay_pages(self.token, self, keeper, rounds),
                pages.MOST_OVERLAYS,
            )
        except OSError as error:
            text = self.tr(
                "The caption page could not be opened at port {}: {}; choose another port in the "
                "settings"
            )
            return text.format(port, worded(message_of(error)))
        return None

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    @property
    def address(self) -> str:
        """Address of the page with its secret; empty while it is closed."""
        if self._server is None:
            return ""
        return f"http://127.0.0.1:{self._server.port}/?token={self.token}"

    def show_lines(
        self,
        captions: Sequence[Line],
        source: Sequence[Line] = (),
        second: Sequence[Line] = (),
    ) -> None:
        """Show these captions, below the lines of the source and above those of a second one."""
        before = self._content
        now = replace(before, captions=tuple(captions), source=tuple(source), second=tuple(second))
        if now != before:
            self._show(replace(now, changed_s=self._clock()))

    def show_look(self, look: PageLook) -> None:
        if look != self._content.look:
            self._show(replace(self._content, look=look))

    def _show(self, content: _Content) -> None:
        self._content = replace(content, number=content.number + 1)
        if self._server is not None:
            self._server.tell()

    def since(self, seen: str, _show: str) -> tuple[str, str]:
        """Return the content, unless its number was seen; called on the server's thread."""
        content = self._content
        number = f"{self._run}.{content.number}"
        return number, "" if seen == number else content.as_json(self._clock())


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
