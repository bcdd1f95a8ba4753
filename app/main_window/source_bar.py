"""What is listened to: a button for each source, its device, how loud it is and whether it speaks.

Typing needs no source: the typed line works whatever is on here.
"""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QStyle, QWidget

from app.widgets.flow_layout import FlowLayout
from app.widgets.level_meter import LevelMeter
from app.widgets.speech_indicator import SpeechIndicator
from engine.audio.devices import AudioDevice, DeviceKind

_METER_WIDTH = 90
_GAP = 12
_DEVICE_LETTERS = 18


class DeviceList(QComboBox):
    """Devices of one kind; the first entry is whatever the system's default is.

    Signals:
        opened(): the list is about to be seen.
        device_chosen(str): the system's name of a device, nothing for the default.
    """

    opened = Signal()
    device_chosen = Signal(str)

    def __init__(self, default: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.addItem(default, "")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(_DEVICE_LETTERS)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.activated.connect(self._choose)
        self.currentTextChanged.connect(self.setToolTip)

    def showPopup(self) -> None:
        """Tell it before the list opens."""
        self.opened.emit()
        super().showPopup()

    def show_devices(self, devices: Sequence[AudioDevice]) -> None:
        """Offer these; the one that is chosen stays, even where it is gone for now."""
        chosen, text = self.currentData(), self.currentText()
        while self.count() > 1:
            self.removeItem(1)
        for device in devices:
            muted = self.tr("{} (muted)").format(device.description)
            self.addItem(muted if device.is_muted else device.description, device.name)
        if self.findData(chosen) < 0:
            self.addItem(text, chosen)
        self.setCurrentIndex(self.findData(chosen))

    def show_device(self, name: str) -> None:
        """Make a device the chosen one, by the system's name of it."""
        if self.findData(name) < 0:
            self.addItem(name, name)
        self.setCurrentIndex(self.findData(name))

    @Slot()
    def _choose(self) -> None:
        self.device_chosen.emit(self.currentData())


class SourceControls(QWidget):
    """One source: on or off, which device, how loud, and whether somebody speaks.

    Signals:
        toggled(str, bool): listen to this kind of source, or no more.
        device_chosen(str, str): its kind, and the system's name of a device.
    """

    toggled = Signal(str, bool)
    device_chosen = Signal(str, str)

    def __init__(self, kind: DeviceKind, name: str, keys: str, tip: str, default: str) -> None:
        super().__init__()
        self.kind = kind
        self._is_showing = False
        self.button = QPushButton(name)
        self.button.setCheckable(True)
        self.button.setToolTip(f"{tip} ({keys})")
        self.button.setAccessibleDescription(tip)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.setIcon(self._tick())
        self.button.setMinimumWidth(self.button.sizeHint().width())  # nothing moves with a click
        self.button.setIcon(QIcon())
        self.devices = DeviceList(default)
        plain = name.replace("&", "")
        self.devices.setAccessibleName(self.tr("Device of {}").format(plain))
        self.meter, self.lamp = LevelMeter(), SpeechIndicator()
        self.meter.setFixedWidth(_METER_WIDTH)
        self.meter.setAccessibleName(self.tr("Level of {}").format(plain))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, _GAP, 0)
        for widget in (self.button, self.devices, self.meter, self.lamp):
            row.addWidget(widget)
        self.button.toggled.connect(self._tell_toggle)
        self.devices.device_chosen.connect(self._tell_device)

    def show_on(self, *, on: bool) -> None:
        """Show whether it is wanted, without telling it."""
        self._is_showing = True
        self.button.setChecked(on)
        self._is_showing = False

    def show_nothing(self) -> None:
        """Show that nothing is recorded."""
        self.meter.show_nothing()
        self.lamp.show_speech(speaks=False)

    @Slot(bool)
    def _tell_toggle(self, on: bool) -> None:  # noqa: FBT001  what the signal carries
        self._show_tick()
        if not self._is_showing:
            self.toggled.emit(self.kind, on)

    @Slot(str)
    def _tell_device(self, name: str) -> None:
        self.device_chosen.emit(self.kind, name)

    def _show_tick(self) -> None:
        """Tick what is on: by its colour alone it is hard to see."""
        self.button.setIcon(self._tick() if self.button.isChecked() else QIcon())

    def _tick(self) -> QIcon:
        return self.style().standardIcon(QStyle.StandardPixmap.SP_DialogApplyButton)


class SourceBar(QWidget):
    """Both sources.

    Signals:
        wanted_changed(): other sources are on, or other devices are chosen.
        devices_wanted(): somebody looks for devices.
        device_chosen(str, str): the kind of a source, and the system's name of its device.
    """

    wanted_changed = Signal()
    devices_wanted = Signal()
    device_chosen = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.microphone = SourceControls(
            DeviceKind.MICROPHONE,
            self.tr("Microphone"),
            "Ctrl+1",
            self.tr("Translate what is said into a microphone"),
            self.tr("Default microphone"),
        )
        self.system = SourceControls(
            DeviceKind.SYSTEM,
            self.tr("What I hear"),
            "Ctrl+2",
            self.tr("Translate what the computer plays"),
            self.tr("Default output"),
        )
        row = FlowLayout(self)
        for source in self.sources:
            row.addWidget(source)
            source.toggled.connect(self._change)
            source.device_chosen.connect(self._choose_device)
            source.devices.opened.connect(self.devices_wanted)

    @property
    def sources(self) -> tuple[SourceControls, ...]:
        """The microphone and what the computer plays."""
        return self.microphone, self.system

    @property
    def on(self) -> tuple[SourceControls, ...]:
        """Those that are wanted."""
        return tuple(source for source in self.sources if source.button.isChecked())

    def show_devices(self, devices: Sequence[AudioDevice]) -> None:
        """Offer devices of both kinds."""
        for source in self.sources:
            source.devices.show_devices([one for one in devices if one.kind == source.kind])

    def show_nothing(self) -> None:
        """Show that nothing is recorded."""
        for source in self.sources:
            source.show_nothing()

    @Slot(str, bool)
    def _change(self, _kind: str, _on: bool) -> None:  # noqa: FBT001  what the signal carries
        self.wanted_changed.emit()

    @Slot(str, str)
    def _choose_device(self, kind: str, name: str) -> None:
        self.device_chosen.emit(kind, name)
        self.wanted_changed.emit()
