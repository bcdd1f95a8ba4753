"""The row at the top of the window: what is listened to, overlay and pause."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
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
