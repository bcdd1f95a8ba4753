"""The sound sources: a button for each, its device, its level and a lamp for speech."""

from collections.abc import Sequence
from functools import partial

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
    """Devices of one kind; the first entry is the default of the system.

    Signals:
        opened(): the list is about to open.
        device_chosen(str): the system's name of a device; empty for the default.
    """

    opened = Signal()
    device_chosen = Signal(str)

    def __init__(self, default: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.addItem(default, "")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(_DEVICE_LETTERS)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.activated.connect(lambda: self.device_chosen.emit(self.currentData()))
        self.currentTextChanged.connect(self.setToolTip)

    def showPopup(self) -> None:
        """Emit ``opened`` and open the list."""
        self.opened.emit()
        super().showPopup()

    def show_devices(self, devices: Sequence[AudioDevice]) -> None:
        """Offer these devices; the chosen one stays, even if it is absent."""
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
        """Select a device by the system's name."""
        if self.findData(name) < 0:
            self.addItem(name, name)
        self.setCurrentIndex(self.findData(name))


class SourceControls(QWidget):
    """One source: on or off, its device, its level, and the lamp for speech.

    Signals:
        toggled(): the user turned the source on or off.
        device_chosen(str, str): its kind, and the system's name of a device.
    """

    toggled = Signal()
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
        self.button.setMinimumWidth(self.button.sizeHint().width())  # a tick must not widen it
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
        self.button.toggled.connect(self._note_toggle)
        self.devices.device_chosen.connect(partial(self.device_chosen.emit, kind))

    def show_on(self, *, on: bool) -> None:
        """Show whether the source is on, without emitting ``toggled``."""
        self._is_showing = True
        self.button.setChecked(on)
        self._is_showing = False

    def show_nothing(self) -> None:
        """Show that nothing is recorded."""
        self.meter.show_nothing()
        self.lamp.show_speech(speaks=False)

    @Slot()
    def _note_toggle(self) -> None:
        # A tick, since the colour alone is hard to see.
        self.button.setIcon(self._tick() if self.button.isChecked() else QIcon())
        if not self._is_showing:
            self.toggled.emit()

    def _tick(self) -> QIcon:
        return self.style().standardIcon(QStyle.StandardPixmap.SP_DialogApplyButton)


class SourceBar(QWidget):
    """Both sources.

    Signals:
        wanted_changed(): the user changed a source or its device.
        devices_wanted(): a list of devices is about to open.
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
            self.tr("Translate speech from a microphone"),
            self.tr("Default microphone"),
        )
        self.system = SourceControls(
            DeviceKind.SYSTEM,
            self.tr("What I hear"),
            "Ctrl+2",
            self.tr("Translate the sound that the computer plays"),
            self.tr("Default output"),
        )
        row = FlowLayout(self)
        for source in self.sources:
            row.addWidget(source)
            source.toggled.connect(self.wanted_changed)
            source.device_chosen.connect(self.device_chosen)
            source.device_chosen.connect(self.wanted_changed)
            source.devices.opened.connect(self.devices_wanted)

    @property
    def sources(self) -> tuple[SourceControls, ...]:
        """The microphone and the sound that the computer plays."""
        return self.microphone, self.system

    @property
    def on(self) -> tuple[SourceControls, ...]:
        """The sources that are turned on."""
        return tuple(source for source in self.sources if source.button.isChecked())

    def show_devices(self, devices: Sequence[AudioDevice]) -> None:
        """Offer devices of both kinds."""
        for source in self.sources:
            source.devices.show_devices(
                [device for device in devices if device.kind == source.kind]
            )

    def show_nothing(self) -> None:
        """Show that nothing is recorded."""
        for source in self.sources:
            source.show_nothing()
