"""Shows the captions of the overlay on the caption page, in the same look."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.config.preferences import Preferences
from app.look.contrast import Rgb
from app.overlay.controller import OverlayController
from app.overlay.themes import theme_of
from app.session.browser_source import BrowserSource, PageLook

_OPAQUE = 255


class PageController(QObject):
    """Own the caption page.

    Signals:
        failed(str): why the page cannot be opened.
        address_changed(str): of the page, with its secret; empty while it is closed.

    Attributes:
        source: the page.
    """

    failed = Signal(str)
    address_changed = Signal(str)

    def __init__(self, folder: Path, stage: OverlayController, parent: QObject) -> None:
        """Make the page; ``folder`` keeps its secret."""
        super().__init__(parent)
        self.source = BrowserSource(folder / "page.token", self)
        self._stage = stage
        stage.lines_changed.connect(self._show_lines)

    def use(self, preferences: Preferences) -> None:
        """Open or close the page."""
        failure = self.source.use(preferences.privacy)
        if failure is not None:
            self.failed.emit(failure)
        self.address_changed.emit(self.source.address)
        self.show_look(preferences)
        self._show_lines()

    def show_look(self, preferences: Preferences) -> None:
        """Show colours, font and speakers as on the overlay."""
        captions, colours = preferences.captions, theme_of(preferences.captions)
        lanes = {lane: _css(colour) for lane, colour in colours.lanes.items()}
        named = {
            "text": _css(colours.text),
            "quiet": _css(colours.quiet),
            "box": _css(colours.background, colours.opacity),
            "rim": _css(colours.rim),
        }
        look = PageLook(
            colours=named | lanes,
            font=captions.font,
            outline=captions.outline,
            hide_after_s=preferences.overlay.hide_after_s,
        )
        self.source.show_look(look)

    @Slot()
    def _show_lines(self) -> None:
        """Show the lines of the overlay."""
        lines = self._stage.lines
        self.source.show_lines(lines.lines, lines.source, lines.second)

    def close(self) -> None:
        """Close the page."""
        self.source.close()


def _css(colour: Rgb, opacity: int = _OPAQUE) -> str:
    red, green, blue = colour
    return f"rgb({red} {green} {blue} / {opacity / _OPAQUE:.3g})"
