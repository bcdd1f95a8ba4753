"""Keeps the dialogs of the program inside their screen, which may be small or scaled."""

from PySide6.QtCore import QChildEvent, QEvent, QObject, QPoint, QRect, QSize
from PySide6.QtWidgets import QDialog, QStyle, QWidget

_BORDER = 8  # pixels; the widest frame of window managers


class FitDialogs(QObject):
    """Keep every dialog of a window inside its screen, and every dialog of those.

    A dialog belongs to the window, not to a part of it.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow a dialog from before it is first shown."""
        if event.type() == QEvent.Type.ChildPolished and isinstance(event, QChildEvent):
            child = event.child()
            if isinstance(child, QDialog):
                FitToScreen(child)
        return super().eventFilter(watched, event)


class FitToScreen(FitDialogs):
    """Limit the size of a dialog by the screen whenever it is shown, and restore its position.

    The content must be able to shrink or scroll. Its own dialogs are kept inside, too.
    """

    def __init__(self, dialog: QDialog) -> None:
        super().__init__(dialog)
        self._dialog = dialog
        self._corner: QPoint | None = None  # of its frame, when it was last hidden

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit the dialog before it is shown; save its position when it is hidden."""
        if event.spontaneous():
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.Show:
            self._fit()
        elif event.type() == QEvent.Type.Hide:
            self._corner = self._dialog.pos()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        dialog, parent = self._dialog, self._dialog.parentWidget()
        screen, frame = (parent or dialog).screen(), frame_of(dialog)
        wanted, layout = dialog.size(), dialog.layout()
        if layout is not None:  # Qt opens a dialog no higher than two thirds of the screen
            least = layout.minimumHeightForWidth(wanted.width())
            wanted = wanted.expandedTo(QSize(0, least))
        size, position = fitted(wanted, frame, self._corner, screen.availableGeometry())
        if size != dialog.size():
            dialog.resize(size)
        if position is not None:
            dialog.move(position)


def frame_of(window: QWidget) -> QSize:
    """Return what the frame of a window needs beside its content, before there is one."""
    bar = window.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
    return QSize(2 * _BORDER, bar + _BORDER)


def fitted(
    size: QSize, frame: QSize, corner: QPoint | None, area: QRect
) -> tuple[QSize, QPoint | None]:
    """Return the size of a window and the corner of its frame inside an area of the screen.

    Args:
        size: preferred size without the frame.
        frame: extra size of the frame.
        corner: former corner; None leaves the position to the window system.
        area: of the screen, without panels.
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
