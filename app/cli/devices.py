"""List the sound devices: ``surtitle devices``. Exit codes as in ``exit_code_of``."""

import argparse
from collections.abc import Sequence

from app.cli.exit_codes import exit_code_of, standard_output
from app.config.text_io import printable, send
from engine.audio.devices import AudioDevice, DeviceKind

_TITLES = {DeviceKind.MICROPHONE: "Microphones", DeviceKind.SYSTEM: "What you hear"}


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "devices",
        help="list microphones and outputs to listen to",
        description="List microphones, and outputs whose sound can be captured; * marks the "
        "default.",
    )
    parser.set_defaults(run=run)


def run(_arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own
    from engine.audio.sources import AudioSources  # noqa: PLC0415  numpy slows the help down

    return exit_code_of(
        "devices", lambda: send(standard_output(), tables(AudioSources().devices()))
    )


def tables(devices: Sequence[AudioDevice]) -> str:
    """Return a table for each kind of device: default mark, name, and the system's name."""
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
