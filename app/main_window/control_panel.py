"""The row at the top of the window: what is listened to, overlay and pause."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.icons import icon
from app.look.widgets.flow_layout import FlowLayout
from app.look.widgets.tool_button import tool_button
from app.main_window.source_toggle import SourceToggle
from engine.audio.devices import AudioDevice, DeviceKind

_GAP = 8


class ControlPanel(QWidget):
    """Two large buttons for sound on the left, two for captions on the right.

    Signals:
        wanted_changed(): the user changed a source or its device.
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
            self.tr("Default microphone"),
        )
        self.system = SourceToggle(
            DeviceKind.SYSTEM,
            ("volume-2", "volume-x"),
            self.tr("Computer sound"),
            self.tr("Caption the sound that the computer plays"),
            self.tr("Default output"),
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
        row = FlowLayout(self)
        row.setSpacing(_GAP)
        for source in self.sources:
            row.addWidget(source)
            source.toggled.connect(self.wanted_changed)
            source.device_chosen.connect(self.device_chosen)
            source.device_chosen.connect(self.wanted_changed)
            source.devices.aboutToShow.connect(self.devices_wanted)
        row.add_gap()
        for button in (self.overlay, self.pause):
            row.addWidget(button)
            row.setAlignment(button, Qt.AlignmentFlag.AlignTop)  # the level is below the others
        self.pause.toggled.connect(self._name_pause)
        self.overlay.toggled.connect(self._show_overlay)
        self._reserve_room(self.pause, self.tr("Resume"))

    @property
    def sources(self) -> tuple[SourceToggle, SourceToggle]:
        """The microphone and the sound that the computer plays."""
        return self.microphone, self.system

    @property
    def on(self) -> tuple[SourceToggle, ...]:
        """The sources that are turned on."""
        return tuple(source for source in self.sources if source.button.isChecked())

    def show_devices(self, devices: Sequence[AudioDevice]) -> None:
        """Offer devices of both kinds."""
        for source in self.sources:
            source.show_devices(devices)

    def show_nothing(self) -> None:
        """Show that nothing is recorded."""
        for source in self.sources:
            source.meter.show_nothing()

    @Slot()
    def _name_pause(self) -> None:
        is_paused = self.pause.isChecked()
        self.pause.setText(self.tr("Resume") if is_paused else self.tr("Pause"))
        self.pause.setIcon(icon("play" if is_paused else "pause", before_text=True))

    @Slot()
    def _show_overlay(self) -> None:
        name = "captions" if self.overlay.isChecked() else "captions-off"
        self.overlay.setIcon(icon(name, before_text=True))

    def _reserve_room(self, button: QToolButton, other: str) -> None:
        """Make a button as wide as its other text needs, so that nothing moves."""
        text, width = button.text(), button.sizeHint().width()
        button.setText(other)
        button.setMinimumWidth(max(width, button.sizeHint().width()))
        button.setText(text)
