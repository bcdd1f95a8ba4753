"""Names of the lanes that tell two speakers apart. Plain Python."""

from engine.audio.devices import DeviceKind

ME, THEM = "me", "them"

FILE = "file"
"""The lane of a file that is captioned as fast as it goes, in a session of its own."""

CORRECTED = "corrected"
"""The lane of rows that are captioned again, since somebody corrected them."""

APART = frozenset({FILE, CORRECTED})
"""The lanes of utterances that are no rows of the transcript."""

LANES = {DeviceKind.MICROPHONE: ME, DeviceKind.SYSTEM: THEM}
"""The lane in which each kind of device is heard."""
