"""List PortAudio's input devices; as a process of its own, print them as JSON.

PortAudio looks for devices once, when it is initialised, so that while a stream runs only another
process can list the current ones.
"""

import json
import sys
from typing import TypedDict

import sounddevice

_PREFERRED = "Windows WASAPI"
"""Windows lists every device once for each of its sound interfaces; this one is used."""


class Input(TypedDict):
    """An input device; ``index`` is PortAudio's number, valid until it is initialised again."""

    index: int
    name: str
    rate_hz: int
    n_channels: int
    is_default: bool


def list_inputs() -> list[Input]:
    interfaces = sounddevice.query_hostapis()
    chosen = next(
        (number for number, interface in enumerate(interfaces) if interface["name"] == _PREFERRED),
        None,
    )
    default = sounddevice.default.device[0]
    if chosen is not None:
        default = interfaces[chosen]["default_input_device"]
    return [
        {
            "index": index,
            "name": device["name"],
            "rate_hz": round(device["default_samplerate"]),
            "n_channels": device["max_input_channels"],
            "is_default": index == default,
        }
        for index, device in enumerate(sounddevice.query_devices())
        if device["max_input_channels"] > 0 and chosen in (None, device["hostapi"])
    ]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(list_inputs()))
