"""Names of the lanes that tell two speakers apart. Plain Python."""

from engine.audio.devices import DeviceKind

ME, THEM = "me", "them"

LANES = {DeviceKind.MICROPHONE: ME, DeviceKind.SYSTEM: THEM}
"""The lane in which each kind of device is heard."""
