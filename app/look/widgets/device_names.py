"""Names of sound devices in lists that choose one."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from engine.audio.devices import AudioDevice, DeviceKind


def device_names(kind: DeviceKind, devices: Sequence[AudioDevice] = ()) -> list[tuple[str, str]]:
    """Return text and name in the system of each device of a kind, that of its choice first."""
    defaults = {
        DeviceKind.MICROPHONE: QCoreApplication.translate("Devices", "Default microphone"),
        DeviceKind.SYSTEM: QCoreApplication.translate("Devices", "Default output"),
    }
    muted = QCoreApplication.translate("Devices", "{} (muted)")
    return [
        (defaults[kind], ""),
        *(
            (muted.format(one.description) if one.is_muted else one.description, one.name)
            for one in devices
            if one.kind == kind
        ),
    ]
