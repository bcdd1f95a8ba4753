"""Diagnostics as text for the clipboard, without spoken text and without paths."""

import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication

from app.config.preferences import Preferences
from app.config.system.logs import last_fault
from app.config.system.versions import PROGRAM, version_of

_LIBRARIES = (PROGRAM, "PySide6-Essentials", "torch", "transformers", "tokenizers")
_NAMES = ("name_me", "name_them", "address")  # of people, and of their computers
_FAULT_LINES = 40


def diagnostics(preferences: Preferences, state: Mapping[str, str | float], logs: Path) -> str:
    """Describe the program, the computer and the choices.

    Args:
        preferences: their paths are described as set or not.
        state: further labels and values, for example the model's name.
        logs: folder of the logs; the trace of the last crash is in it.
    """
    lines = ["Surtitle, diagnostics", ""]
    lines += [f"{name}: {version_of(name) or 'not installed'}" for name in _LIBRARIES]
    lines += [
        f"Python: {platform.python_version()}, {sys.platform}, {platform.machine()}",
        f"system: {platform.platform()}",
        f"Qt: {qVersion()}, {QGuiApplication.platformName()}",
    ]
    for screen in QGuiApplication.screens():
        size, scale = screen.size(), screen.devicePixelRatio()
        lines.append(f"screen: {size.width()} x {size.height()}, scale {scale:g}")
    lines += [f"{label}: {value}" for label, value in state.items()]
    lines += ["", *_choices(preferences), "", *_fault(logs)]
    return "\n".join(lines).rstrip() + "\n"


def _choices(preferences: Preferences) -> list[str]:
    lines = []
    for page, values in asdict(preferences).items():
        pairs = values.items() if isinstance(values, dict) else [("", values)]
        for name, value in pairs:
            shown = "set" if isinstance(value, Path) or (name in _NAMES and value) else value
            lines.append(f"{page}.{name} = {shown}" if name else f"{page} = {shown}")
    return lines


def _fault(logs: Path) -> list[str]:
    """Return the trace of the last crash: functions and our files, no values."""
    try:
        text = last_fault(logs)
    except OSError:
        return ["no crash is known"]
    return ["the last crash:", *map(_without_folder, text.splitlines()[:_FAULT_LINES])]


def _without_folder(line: str) -> str:
    """Reduce ``File "/home/name/x/app/overlay.py", line 3`` to the name of the file."""
    before, quote, rest = line.partition('"')
    path, end, after = rest.partition('"')
    return f"{before}{quote}{Path(path).name}{end}{after}"
