"""A sound source: one large button with its devices in a menu and its level at the lower edge."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.look.icons import icon
from app.look.widgets.choice_menu import ChoiceMenu
from app.look.widgets.device_names import device_names
from app.look.widgets.level_meter import LevelMeter
from app.look.widgets.tool_button import open_with, tool_button
from engine.audio.devices import AudioDevice, DeviceKind

_MARGIN, _GAP = 8, 3  # beside and below the level


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
        area = self.button.rect().adjusted(_MARGIN, 0, -_MARGIN, -_GAP)
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
