"""The row at the top of the window: what is listened to, overlay and pause."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QMargins, QPoint, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QLabel,
    QLayout,
    QLayoutItem,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.look.icons import icon
from app.look.widgets.buttons import ChoiceMenu, open_with, tool_button
from app.look.widgets.level_meter import LevelMeter
from app.look.widgets.names import device_names
from engine.audio.devices import AudioDevice, DeviceKind

_GAP = 8
_MARGIN, _BELOW = 8, 3  # beside and below the level


class FlowLayout(QLayout):
    """Widgets of their preferred width side by side, in as many lines as needed.

    Widgets added after ``add_gap`` are aligned to the far end if all fit in one line.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap_before: int | None = None
        self.setContentsMargins(QMargins())

    def add_gap(self) -> None:
        """Align the widgets added from now on to the far end."""
        self._gap_before = len(self._items)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    # Qt asks for items beyond the end to find the last one.
    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        lines = self._lines(width)
        heights = [max(item.sizeHint().height() for item in line) for line in lines]
        return sum(heights) + self.spacing() * max(0, len(lines) - 1)

    def sizeHint(self) -> QSize:
        shown = self._shown()
        width = sum(item.sizeHint().width() for item in shown)
        height = max((item.sizeHint().height() for item in shown), default=0)
        return QSize(width + self.spacing() * max(0, len(shown) - 1), height)

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, area: QRect) -> None:
        """Place the lines one below the other.

        Widgets are centred in the height of their line, unless they are aligned to its top.
        """
        super().setGeometry(area)
        lines, top = self._lines(area.width()), area.top()
        for line in lines:
            height = max(item.sizeHint().height() for item in line)
            left = area.left()
            for item in line:
                if len(lines) == 1 and item is self._first_after_gap():
                    left += max(0, area.width() - self.sizeHint().width())
                size = item.sizeHint().boundedTo(QSize(area.width(), height))
                is_at_top = item.alignment() & Qt.AlignmentFlag.AlignTop
                gap = 0 if is_at_top else (height - size.height()) // 2
                item.setGeometry(QRect(QPoint(left, top + gap), size))
                left += size.width() + self.spacing()
            top += height + self.spacing()

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        used = width
        for item in self._shown():
            own = item.sizeHint().width()
            if not lines or used + self.spacing() + own > width:
                lines.append([])
                used = -self.spacing()
            lines[-1].append(item)
            used += self.spacing() + own
        return lines

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if _takes_room(item)]

    def _first_after_gap(self) -> QLayoutItem | None:
        after = [] if self._gap_before is None else self._items[self._gap_before :]
        return next((item for item in after if _takes_room(item)), None)


def _takes_room(item: QLayoutItem) -> bool:
    """Return whether an item is visible; a label without text is not."""
    widget = item.widget()
    return not item.isEmpty() and (not isinstance(widget, QLabel) or bool(widget.text()))


class SourceToggle(QWidget):
    """Turns one source on and off; arrow down, or the arrow beside it, chooses its device.

    Signals:
        toggled(): the user turned the source on or off.
        device_chosen(str, str): its kind, and the system's name of a device; empty for the default.
    """

    toggled = Signal()
    device_chosen = Signal(str, str)

    def __init__(
        self, kind: DeviceKind, images: tuple[str, str], name: str, tip: str, title: str
    ) -> None:
        """Make the button.

        Args:
            images: names of the icons while it is on, and off.
            title: of the menu of its devices.
        """
        super().__init__()
        self.kind = kind
        self._is_showing = False
        self.devices = ChoiceMenu(title, self)
        self.show_devices(())
        self.devices.choose("")
        self._images = images
        self.button = tool_button(images[1], name, tip, checkable=True)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self.button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        open_with(self.devices, self.button)
        self.meter = LevelMeter(self.button, thin=True)
        self.meter.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.meter.setAccessibleName(self.tr("Level of {}").format(name))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.button)
        self.button.toggled.connect(self._note_toggle)
        self.devices.value_chosen.connect(self._choose_device)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the level at the lower edge of the button."""
        super().resizeEvent(event)
        area = self.button.rect().adjusted(_MARGIN, 0, -_MARGIN, -_BELOW)
        area.setTop(area.bottom() - self.meter.sizeHint().height() + 1)
        self.meter.setGeometry(area)

    def show_devices(self, devices: Sequence[AudioDevice]) -> None:
        """Offer the devices of this kind; the chosen one stays, even if it is absent."""
        self.devices.show_entries([(*one, "") for one in device_names(self.kind, devices)])

    def show_device(self, name: str) -> None:
        """Select a device by the system's name."""
        self.devices.choose(name)

    def show_on(self, *, on: bool) -> None:
        """Show whether the source is on, without emitting ``toggled``."""
        self._is_showing = True
        self.button.setChecked(on)
        self._is_showing = False

    @Slot(str)
    def _choose_device(self, name: str) -> None:
        self.device_chosen.emit(self.kind, name)

    @Slot()
    def _note_toggle(self) -> None:
        on, off = self._images
        self.button.setIcon(icon(on if self.button.isChecked() else off, before_text=True))
        if not self._is_showing:
            self.toggled.emit()


class ControlPanel(QWidget):
    """Two large buttons for sound on the left, two for captions on the right.

    Signals:
        wanted_changed(): the user turned a source on or off.
        devices_wanted(): a list of devices is about to open.
        device_chosen(str, str): the kind of a source, and the system's name of its device.

    Attributes:
        overlay: button, checked while the overlay is shown.
        pause: button, checked while captions are paused.
    """

    wanted_changed = Signal()
    devices_wanted = Signal()
    device_chosen = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.microphone = SourceToggle(
            DeviceKind.MICROPHONE,
            ("mic", "mic-off"),
            self.tr("Microphone"),
            self.tr("Caption what is said into the microphone"),
            self.tr("Mi&crophone in use"),
        )
        self.system = SourceToggle(
            DeviceKind.SYSTEM,
            ("volume-2", "volume-x"),
            self.tr("Computer sound"),
            self.tr("Caption the sound that the computer plays"),
            self.tr("Computer sound &from"),
        )
        self.overlay = tool_button(
            "captions-off",
            self.tr("Overlay"),
            self.tr("Show the captions above all other windows"),
            checkable=True,
        )
        self.pause = tool_button(
            "pause",
            self.tr("Pause"),
            self.tr("Pause the captions; typed text is kept"),
            checkable=True,
        )
        row = self._row = FlowLayout(self)
        row.setSpacing(_GAP)
        for source in self.sources:
            row.addWidget(source)
            source.toggled.connect(self.wanted_changed)
            source.device_chosen.connect(self.device_chosen)
            source.devices.aboutToShow.connect(self.devices_wanted)
        row.add_gap()
        for button in (self.overlay, self.pause):
            row.addWidget(button)
            row.setAlignment(button, Qt.AlignmentFlag.AlignTop)  # the level is below the others
        self.pause.toggled.connect(self._name_pause)
        self.overlay.toggled.connect(self._show_overlay)
        self._reserve_room(self.pause, self.tr("Resume"))
        self._least_widths = {one: one.minimumWidth() for one in (self.overlay, self.pause)}

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the texts of overlay and pause, or their icons alone where that spares a row."""
        super().resizeEvent(event)
        self._shorten()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange}:
            self._shorten()

    def _shorten(self) -> None:
        """Leave texts out, that of the overlay first, unless the row is too long without them."""
        self._show_texts(self._least_widths)
        shown = list(self._least_widths)
        while shown and self._row.sizeHint().width() > self.width():
            self._show_texts(shown := shown[1:])
        if self._row.sizeHint().width() > self.width():
            self._show_texts(self._least_widths)

    def _show_texts(self, shown: Collection[QToolButton]) -> None:
        styles = Qt.ToolButtonStyle
        for button, least in self._least_widths.items():
            has_text = button in shown
            style = styles.ToolButtonTextBesideIcon if has_text else styles.ToolButtonIconOnly
            if style != button.toolButtonStyle():
                button.setToolButtonStyle(style)
                button.setMinimumWidth(least if has_text else 0)
        self._show_overlay()
        self._show_pause()

    @property
    def sources(self) -> tuple[SourceToggle, SourceToggle]:
        """The microphone and the sound that the computer plays."""
        return self.microphone, self.system

    @property
    def on(self) -> tuple[SourceToggle, ...]:
        return tuple(source for source in self.sources if source.button.isChecked())

    def show_devices(self, devices: Sequence[AudioDevice]) -> None:
        for source in self.sources:
            source.show_devices(devices)

    def show_nothing(self) -> None:
        for source in self.sources:
            source.meter.show_nothing()

    @Slot()
    def _name_pause(self) -> None:
        is_paused = self.pause.isChecked()
        self.pause.setText(self.tr("Resume") if is_paused else self.tr("Pause"))
        self._show_pause()

    def _show_pause(self) -> None:
        _show_icon(self.pause, "play" if self.pause.isChecked() else "pause")

    @Slot()
    def _show_overlay(self) -> None:
        _show_icon(self.overlay, "captions" if self.overlay.isChecked() else "captions-off")

    def _reserve_room(self, button: QToolButton, other: str) -> None:
        """Make a button as wide as its other text needs, so that nothing moves."""
        text, width = button.text(), button.sizeHint().width()
        button.setText(other)
        button.setMinimumWidth(max(width, button.sizeHint().width()))
        button.setText(text)


def _show_icon(button: QToolButton, name: str) -> None:
    has_text = button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    button.setIcon(icon(name, before_text=has_text))
