"""Decides when the overlay is on the screen."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot

from app.overlay.window import Overlay

_MS = 1000


class Visibility(QObject):
    """Hide the overlay after silence, and while the setup wizard is open.

    It is never hidden while the user drags it, while the mouse is on it, during a pause, while
    sound waits for its captions and before the first caption, but for a hint that covers what must
    be seen.

    Signals:
        silent(): it was hidden after a silence.
    """

    silent = Signal()

    def __init__(self, overlay: Overlay, is_hovered: Callable[[], bool]) -> None:
        """Make it; the overlay owns it, and is shown when it is wanted."""
        super().__init__(overlay)
        self._overlay = overlay
        self._is_hovered = is_hovered
        self._is_wanted = self._is_aside = self._is_paused = self._waits = False
        self._is_silent = False
        self._has_captions = False
        self._silence = QTimer(self, singleShot=True)
        self._silence.timeout.connect(self._hide_in_silence)
        overlay.installEventFilter(self)
        overlay.moved.connect(self.wake)
        overlay.hint_changed.connect(self._settle)

    def hide_after(self, seconds: int) -> None:
        """Hide after so many seconds without a new caption; 0 for never."""
        if seconds * _MS != self._silence.interval():
            self._silence.setInterval(seconds * _MS)
            self.wake()

    def want(self, *, wanted: bool) -> None:
        """Show or hide the overlay as the user wants it."""
        self._is_wanted = wanted
        self.wake()

    def put_aside(self, *, aside: bool) -> None:
        """Hide the overlay for a while, or end that."""
        self._is_aside = aside
        self.wake()

    def pause(self, *, paused: bool) -> None:
        """Show the overlay throughout a pause: it says that nothing is captioned."""
        self._is_paused = paused
        self.wake()

    def keep(self, *, waits: bool) -> None:
        """Show the overlay as long as sound waits for its captions: silence would be untrue."""
        self._waits = waits
        self.wake()

    def take_caption(self) -> None:
        """Show the overlay for a new caption."""
        self._has_captions = True
        self.wake()

    @Slot()
    def wake(self) -> None:
        """Show the overlay if it is wanted, and wait for silence again."""
        self._is_silent = False
        is_open = self._is_wanted and not self._is_aside
        is_idle = self._has_captions and not (self._is_paused or self._waits)
        if is_open and is_idle and self._silence.interval():
            self._silence.start()
        else:
            self._silence.stop()
        self._settle()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begin to wait again when the mouse leaves the overlay."""
        if event.type() == QEvent.Type.Leave and self._silence.isActive():
            self._silence.start()
        return super().eventFilter(watched, event)

    @Slot()
    def _hide_in_silence(self) -> None:
        if self._is_hovered() or self._overlay.is_dragged:
            self._silence.start()
        else:
            self._is_silent = True
            self._settle()
            self.silent.emit()

    @Slot()
    def _settle(self) -> None:
        is_hidden = self._is_aside or self._is_silent or self._overlay.is_hint_in_the_way
        is_shown = self._is_wanted and not is_hidden
        if is_shown != self._overlay.isVisible():
            self._overlay.setVisible(is_shown)
