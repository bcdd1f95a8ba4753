"""A program of its own that a test runs to its end."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]


def ran(*command, surroundings=None, **options):
    """Run a program from the root of the repository, with more in its environment; get text."""
    usual = {"cwd": ROOT, "capture_output": True, "text": True, "check": False}
    usual["env"] = os.environ | (surroundings or {})
    return subprocess.run([*map(str, command)], **usual | options)  # noqa: PLW1510  above
