"""A program of its own that a test runs to its end, and what such programs begin with."""

import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]


def ran(*command, surroundings=None, **options):
    """Run a program from the root of the repository, with more in its environment; get text."""
    usual = {"cwd": ROOT, "capture_output": True, "text": True, "check": False}
    usual["env"] = os.environ | (surroundings or {})
    return subprocess.run([*map(str, command)], **usual | options)  # noqa: PLW1510  above


def waited(condition, limit_s=90):
    """Wait for something in a program with windows; tell whether it came on a busy machine."""
    from PySide6.QtTest import QTest  # noqa: PLC0415  most who run programs have no windows

    limit_s += time.monotonic()
    while not condition() and time.monotonic() < limit_s:
        QTest.qWait(20)
    return bool(condition())
