"""Keeps a dialog inside its screen: small screens and scaled ones have less room than it likes."""

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize
from PySide6.QtWidgets import QDialog, QStyle

_BORDER = 8  # pixels on each side that frames of window managers take at most


class FitToScreen(QObject):
    """Bound a dialog's size by the screen whenever it is shown; let it come back where it stood.

    Its content must be able to shrink: what does not fit belongs into a part that scrolls.
    """

    def __init__(self, dialog: QDialog) -> None:
        super().__init__(dialog)
        self._dialog = dialog
        self._corner: QPoint | None = None  # of its frame, when it was last seen
        dialog.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look at the dialog before it comes on the screen, and when it goes."""
        if event.spontaneous():
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.Show:
            self._fit()
        elif event.type() == QEvent.Type.Hide:
            self._corner = self._dialog.pos()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        dialog, parent = self._dialog, self._dialog.parentWidget()
        screen = (parent or dialog).screen()
        bar = dialog.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
        frame = QSize(2 * _BORDER, bar + _BORDER)
        size, place = fitted(dialog.size(), frame, self._corner, screen.availableGeometry())
        if size != dialog.size():
            dialog.resize(size)
        if place is not None:
            dialog.move(place)


def fitted(
    size: QSize, frame: QSize, corner: QPoint | None, area: QRect
) -> tuple[QSize, QPoint | None]:
    """Find a window's size and the corner of its frame, all of it inside an area of the screen.

    Args:
        size: that it likes, without its frame.
        frame: what its frame adds.
        corner: where it stood; None leaves the place to the window system.
        area: what panels leave free.
    """
    size = size.boundedTo(area.size() - frame)
    if corner is None:
        return size, None
    whole = QRect(corner, size + frame)
    whole.moveRight(min(whole.right(), area.right()))
    whole.moveBottom(min(whole.bottom(), area.bottom()))
    whole.moveLeft(max(whole.left(), area.left()))
    whole.moveTop(max(whole.top(), area.top()))
    return size, whole.topLeft()
