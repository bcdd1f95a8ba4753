"""The row at the top of the window: what is listened to, overlay and pause."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.look.icons import icon
from app.look.widgets.buttons import ChoiceMenu, open_with, tool_button
from app.look.widgets.level_meter import LevelMeter
from app.look.widgets.names import device_names
from engine.audio.devices import AudioDevice, DeviceKind

_GAP = 8
_MARGIN, _BELOW = 8, 3  # beside and below the level


class SourceToggle(QWidget):
    """Turns one source on and off; arrow down, or the arrow beside it, chooses its device.

    Signals:
        toggled(): the user turned the source on or off.

    Attributes:
        devices: menu of the system's names of devices; empty for the default.
    """

    toggled = Signal()

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
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
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

    @Slot()
    def show_icon(self) -> None:
        _show_icon(self.button, *self._images)

    @Slot()
    def _note_toggle(self) -> None:
        self.show_icon()
        if not self._is_showing:
            self.toggled.emit()


class ControlPanel(QWidget):
    """Two large buttons for sound on the left, two for captions on the right.

    Signals:
        wanted_changed(): the user turned a source on or off.

    Attributes:
        overlay: button, checked while the overlay is shown.
        pause: button, checked while captions are paused.
    """

    wanted_changed = Signal()

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
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_GAP)
        for source in self.sources:
            row.addWidget(source)
            source.toggled.connect(self.wanted_changed)
        row.addStretch()
        for button in (self.overlay, self.pause):
            row.addWidget(button)
            row.setAlignment(button, Qt.AlignmentFlag.AlignTop)  # the level is below the others
        self.pause.toggled.connect(self._name_pause)
        self.overlay.toggled.connect(self._show_icons)
        self._pause_width = self._width_for(self.tr("Resume"))
        self._least = QSize()
        self._shorten()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many texts as have room: that of the overlay goes first."""
        super().resizeEvent(event)
        self._shorten()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange}:
            self._shorten()

    def minimumSizeHint(self) -> QSize:
        """Return the room that the icons alone take."""
        return self._least

    def _shorten(self) -> None:
        buttons = (self.overlay, self.pause, self.system.button, self.microphone.button)
        self._show_texts(buttons, ())
        self._least = self._row.minimumSize()
        self.updateGeometry()
        for first in range(len(buttons) + 1):
            self._show_texts(buttons, buttons[first:])
            if self._row.minimumSize().width() <= self.width():
                return

    def _show_texts(self, buttons: Sequence[QToolButton], shown: Sequence[QToolButton]) -> None:
        styles = Qt.ToolButtonStyle
        for button in buttons:
            has_text = button in shown
            style = styles.ToolButtonTextBesideIcon if has_text else styles.ToolButtonIconOnly
            button.setToolButtonStyle(style)
        self.pause.setMinimumWidth(self._pause_width if self.pause in shown else 0)
        for source in self.sources:
            source.updateGeometry()  # else it is as wide as before until the next event
        self._show_icons()

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
        self.pause.setText(self.tr("Resume") if self.pause.isChecked() else self.tr("Pause"))
        self._show_icons()

    @Slot()
    def _show_icons(self) -> None:
        for source in self.sources:
            source.show_icon()
        _show_icon(self.pause, "play", "pause")
        _show_icon(self.overlay, "captions", "captions-off")

    def _width_for(self, other: str) -> int:
        """Return how wide the button to pause is with either text, so that nothing moves."""
        text, width = self.pause.text(), self.pause.sizeHint().width()
        self.pause.setText(other)
        width = max(width, self.pause.sizeHint().width())
        self.pause.setText(text)
        return width


def _show_icon(button: QToolButton, on: str, off: str) -> None:
    has_text = button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    button.setIcon(icon(on if button.isChecked() else off, before_text=has_text))
