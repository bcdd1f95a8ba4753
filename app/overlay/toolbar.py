"""The toolbar beside the overlay, with the button that unlocks it.

It is a separate window, since a locked overlay takes no clicks. The menus of the main window have
the same actions.
"""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QCursor,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QRegion,
)
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.look.icons import icon
from app.overlay.text_layout import paint_box, set_shape
from app.overlay.themes import Theme
from app.overlay.window import Overlay

_LINGER_MS = 1500
_LOOK_MS = 200  # how often it is checked where the mouse is while the overlay is locked
_ICON_SIDE = 20
_NEAR = 16  # pixels around the unlock button where the mouse shows it
_FLAGS = (
    Qt.WindowType.Tool
    | Qt.WindowType.FramelessWindowHint
    | Qt.WindowType.WindowStaysOnTopHint
    | Qt.WindowType.WindowDoesNotAcceptFocus
)


class OverlayToolbar(QWidget):
    """Buttons beside the overlay while the mouse is there.

    A locked overlay has only "unlock", while the mouse is at that corner. Wayland lets no program
    position windows: there the toolbar is inside the overlay, and a locked overlay has none.

    Attributes:
        is_hovered: the mouse is on the overlay or its buttons.
    """

    def __init__(
        self,
        overlay: Overlay,
        actions: Mapping[QAction, tuple[str, str]],
        way_back: QAction,
        colours: Theme,
        *,
        inside: bool,
    ) -> None:
        """Attach to an overlay.

        Args:
            actions: from left to right, each with its icons while it is off and on.
            way_back: the action that unlocks.
            inside: whether to be a child of the overlay.
        """
        super().__init__(overlay if inside else None)
        if not inside:
            # Tiling window managers would put it anywhere; others ignore this flag.
            self.setWindowFlags(_FLAGS | Qt.WindowType.X11BypassWindowManagerHint)
            self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
            self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
            self.setAttribute(Qt.WidgetAttribute.WA_AlwaysShowToolTips)  # it is never active
        self.setWindowTitle(self.tr("Surtitle captions, controls"))
        self.setAccessibleName(self.tr("Controls of the overlay"))
        self._overlay, self._inside = overlay, inside
        self._colours = colours
        self.is_hovered = False
        self.buttons = [BarButton(*item, self) for item in actions.items()]
        self.way_back = next(it for it in self.buttons if it.action is way_back)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 3, 6, 3)
        row.setSpacing(2)
        for button in self.buttons:
            row.addWidget(button)
        self._leave = QTimer(self, singleShot=True, interval=_LINGER_MS)
        self._leave.timeout.connect(self.settle)
        # The window system reports no mouse over a locked overlay.
        self._look = QTimer(self, interval=_LOOK_MS)
        self._look.timeout.connect(self._find_mouse)
        self.show_colours(colours)
        overlay.installEventFilter(self)
        overlay.box_changed.connect(self._move_beside)
        self.hide()

    def show_colours(self, colours: Theme) -> None:
        """Use the colours of the captions, on an opaque box."""
        self._colours = colours
        palette = QPalette(QColor(*colours.background))
        for role in (QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
            palette.setColor(role, QColor(*colours.text))
        for button in self.buttons:
            button.setPalette(palette)
            button.show_colour(QColor(*colours.text))
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._overlay:
            match event.type():
                case QEvent.Type.Enter:
                    self._on_enter()
                case QEvent.Type.Leave:
                    self._on_leave()
                case QEvent.Type.Move | QEvent.Type.Resize:
                    self._move_beside()
                case QEvent.Type.Show | QEvent.Type.Hide:
                    self.settle()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Stay while the mouse is on the bar."""
        if event.type() == QEvent.Type.Enter:
            self._on_enter()
        elif event.type() == QEvent.Type.Leave:
            self._on_leave()
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_box(painter, self.rect(), self._colours, opaque=True)
        painter.end()

    @Slot()
    def linger(self) -> None:
        """Show the toolbar for a moment, as after unlocking."""
        self._on_enter()
        self._on_leave()

    @Slot()
    def settle(self) -> None:
        """Show no button, all buttons, or only the unlock button."""
        locked = self._overlay.is_locked
        for button in self.buttons:
            button.setVisible(not locked or button is self.way_back)
        self.way_back.show_text(shown=locked)  # it is alone then
        self.adjustSize()
        is_shown = self._overlay.isVisible()
        if locked and is_shown and not self._inside:
            self._look.start()
        else:
            self._look.stop()
        is_needed = self.is_hovered or self._leave.isActive()
        self._overlay.show_whole(whole=is_needed and not locked)
        self._move_beside()
        self.setVisible(is_shown and is_needed and not (locked and self._inside))
        if self.isVisible():
            self.raise_()

    def _on_enter(self) -> None:
        self.is_hovered = True
        self.settle()

    def _on_leave(self) -> None:
        self.is_hovered = False
        self._leave.start()

    @Slot()
    def _find_mouse(self) -> None:
        height = self.height()
        corner = self.geometry().adjusted(-_NEAR, -height, _NEAR, height)
        if corner.contains(QCursor.pos()) != self.is_hovered:
            if self.is_hovered:
                self._on_leave()
            else:
                self._on_enter()

    def cut_out(self, holes: QRegion) -> None:
        """Show nothing in a region, and let clicks through there."""
        set_shape(self, QRegion(self.rect()) - holes)

    @Slot()
    def _move_beside(self) -> None:
        if self._inside:
            self.move(self._overlay.width() - self.width(), 0)
        else:
            area = self._overlay.screen().availableGeometry()
            box = self._overlay.box.translated(self._overlay.pos())
            self.move(place_beside(box, self.size(), area))


def place_beside(overlay: QRect, bar: QSize, area: QRect) -> QPoint:
    """Return a position on the screen: above the overlay's right corner, else below, else on it."""
    left = min(overlay.right() + 1, area.right() + 1) - bar.width()
    above, below = overlay.top() - bar.height(), overlay.bottom() + 1
    if above >= area.top():
        top = above
    elif below + bar.height() <= area.bottom() + 1:
        top = below
    else:
        top = max(area.top(), overlay.top())
    return QPoint(max(area.left(), left), min(top, area.bottom() + 1 - bar.height()))


class BarButton(QToolButton):
    """A button for an action, with an icon; its name, and its tool tip with the keys, is a text.

    It never takes the focus.
    """

    def __init__(self, action: QAction, icons: tuple[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        self.action, self._icons = action, icons
        self._colour = QColor()
        self.setIconSize(QSize(_ICON_SIDE, _ICON_SIDE))
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow)
        self._follow()

    def show_colour(self, colour: QColor) -> None:
        self._colour = colour
        self._follow()

    def show_text(self, *, shown: bool) -> None:
        """Show the name beside the icon, or the icon alone."""
        style = Qt.ToolButtonStyle
        self.setToolButtonStyle(
            style.ToolButtonTextBesideIcon if shown else style.ToolButtonIconOnly
        )

    @Slot()
    def _follow(self) -> None:
        name = self.action.iconText()
        keys = self.action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self.setText(name)
        self.setAccessibleName(name)
        self.setToolTip(f"{name} ({keys})" if keys else name)
        self.setIcon(icon(self._icons[self.action.isChecked()], self._colour.name()))
