"""Record what is played, by the file that does it on Windows, and print what was heard as JSON.

It is a process of its own because on Linux SoundCard aborts when the server it knows is gone.
"""

import dataclasses
import json
import sys
import time

import numpy as np

from engine.audio.backends.wasapi_loopback import Loopback
from engine.errors import TapEndedError

WAIT_S = 90


def record(tap, seconds):
    """So much sound, however late a busy machine hands it over; or what it ended with."""
    end_s, parts = time.monotonic() + WAIT_S, []
    try:
        while sum(map(len, parts)) < seconds * tap.rate_hz and time.monotonic() < end_s:
            parts.append(tap.read(0.05))
    except TapEndedError as error:
        return np.concatenate([np.zeros(0), *parts]), str(error)
    return np.concatenate(parts), ""


def main() -> None:
    system = Loopback()
    devices = system.devices()
    tap = system.open(devices[0])
    samples, _ = record(tap, 2)
    tap.close()
    _, closed = record(tap, 1)
    _, missing = record(system.open(dataclasses.replace(devices[0], name="nobody")), 1)
    length = tap.rate_hz // 10
    parts = samples[: len(samples) // length * length].reshape(-1, length)
    tones_hz = 10 * np.argmax(np.abs(np.fft.rfft(parts)), axis=1)  # of every tenth of a second
    described = [(device.description, device.kind, device.is_default) for device in devices]
    json.dump(
        {
            "devices": described,
            "tone_hz": int(np.bincount(tones_hz[tones_hz > 0]).argmax()),
            "closed": closed,
            "missing": missing,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
