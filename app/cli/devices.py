"""Show what can be listened to: ``surtitle devices``.

Exit codes: 0, and 1 where nothing can be recorded, with one sentence on stderr.
"""

import argparse
import sys
from collections.abc import Sequence

from app.system.text_io import printable
from engine.audio.devices import AudioDevice, DeviceKind
from engine.errors import AudioError

_TITLES = {DeviceKind.MICROPHONE: "Microphones", DeviceKind.SYSTEM: "What you hear"}


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``devices`` to the commands of ``surtitle``."""
    parser = subparsers.add_parser(
        "devices",
        help="show microphones and what else can be listened to",
        description="Show microphones, and outputs whose sound can be listened to; * marks the "
        "default.",
    )
    parser.set_defaults(run=run)


def run(_arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own
    """Print the tables.

    Returns:
        the exit code, as the module says.
    """
    from engine.audio.sources import AudioSources  # noqa: PLC0415  numpy slows the help down

    try:
        devices = AudioSources().devices()
    except AudioError as error:
        sys.stderr.write(f"surtitle devices: {printable(str(error))}\n")
        return 1
    sys.stdout.write(tables(devices))
    return 0


def tables(devices: Sequence[AudioDevice]) -> str:
    """Write a table for each kind of device: the default, its name, and the system's name."""
    width = max((len(printable(device.description)) for device in devices), default=0)
    parts = []
    for kind, title in _TITLES.items():
        lines = [_line(device, width) for device in devices if device.kind == kind]
        parts.append("\n".join([title, *(lines or ["  none"])]))
    return "\n\n".join(parts) + "\n"


def _line(device: AudioDevice, width: int) -> str:
    mark = "*" if device.is_default else " "
    muted = "  (muted)" if device.is_muted else ""
    return f"{mark} {printable(device.description):{width}}  {printable(device.name)}{muted}"
