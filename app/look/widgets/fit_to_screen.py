"""Keeps the dialogs of the program inside their screen, which may be small or scaled.

In all windows Enter presses the button that has the focus: of Qt's own, ``autoDefault`` does that
alone, and lets Enter in a field press a button as well.
"""

from PySide6.QtCore import QChildEvent, QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QPushButton, QStyle, QWidget
from shiboken6 import isValid

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
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return _is_pressed(watched, event) or super().eventFilter(watched, event)
        return super().eventFilter(watched, event)


def _is_pressed(window: QObject, event: QKeyEvent) -> bool:
    """Press the button that has the focus by Enter, unless it is on: then Enter goes on."""
    button = window.focusWidget() if isinstance(window, QWidget) else None
    is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat()
    if not is_enter or not isinstance(button, QPushButton) or button.isChecked():
        return False
    button.click()
    return True


class FitToScreen(FitDialogs):
    """Limit the size of a dialog by the screen whenever it is shown, and restore its position.

    The content must be able to shrink or scroll. Its own dialogs are kept inside, too.
    """

    def __init__(self, dialog: QDialog) -> None:
        super().__init__(dialog)
        self._dialog = dialog
        self._corner: QPoint | None = None  # of its frame, when it was last hidden

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit the dialog before it is shown; save its position when it is hidden, not deleted."""
        if event.type() == QEvent.Type.Show and not event.spontaneous():
            self._fit()
        elif event.type() == QEvent.Type.Hide and not event.spontaneous() and isValid(self._dialog):
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
