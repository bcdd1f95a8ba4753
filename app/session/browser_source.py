"""A page with the captions, for a browser source in OBS; reachable from this computer only.

``app.session.caption_server`` serves it. The page polls for new captions.
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
from app.config.system.toml_file import read_small
from app.config.system.translations import worded
from engine.errors import message_of
from engine.files import write_file

if TYPE_CHECKING:
    from app.session.caption_server import CaptionServer

_MOST_LINES = 8
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
    """The lines on the page, exchanged as a whole: the server's threads read it."""

    source: tuple[Line, ...] = ()
    captions: tuple[Line, ...] = ()
    changed_s: float = 0.0
    look: PageLook = field(default_factory=PageLook)

    def as_json(self, now_s: float) -> str:
        look = self.look
        is_silent = 0 < look.hide_after_s <= now_s - self.changed_s
        rows = [(line, "source") for line in self.source]
        rows += [(line, "caption") for line in self.captions]
        shown = [] if is_silent else [_row(*row) for row in rows[-_MOST_LINES:]]
        style = {"colours": dict(look.colours), "font": look.font, "outline": look.outline}
        return json.dumps({"lines": shown, "style": style}, ensure_ascii=False)


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
        self._server: CaptionServer | None = None

    def use(self, choices: PrivacyPreferences) -> str | None:
        """Open or close the page; return a message for the user if opening failed."""
        self.close()
        return self.open_at(choices.page_port) if choices.page else None

    def open_at(self, port: int) -> str | None:
        """Listen on a port, 0 for any free one; return as ``use`` does."""
        from app.session.caption_server import CaptionServer  # noqa: PLC0415  slow to import, and rarely used

        self.token = self.token or page_token(self._token_file)
        try:
            self._server = CaptionServer(port, self.token, self._as_json)
        except OSError as error:
            text = self.tr(
                "The caption page could not be opened at port {}: {}; choose another port in the "
                "settings"
            )
            return text.format(port, worded(message_of(error)))
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

    def show_lines(self, captions: Sequence[Line], source: Sequence[Line] = ()) -> None:
        """Show these captions, below the lines of the source."""
        before, captions, source = self._content, tuple(captions), tuple(source)
        if (captions, source) != (before.captions, before.source):
            self._content = replace(
                before, captions=captions, source=source, changed_s=self._clock()
            )

    def show_look(self, look: PageLook) -> None:
        """Show the captions like this."""
        self._content = replace(self._content, look=look)

    def _as_json(self) -> str:
        return self._content.as_json(self._clock())


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
