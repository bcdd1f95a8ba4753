"""The peak memory of a process is its own, whatever started it."""

import sys

import pytest

from tests.support.programs.run import ran

LARGE = 300_000_000

CHILD = "from engine.runtime.causal_model import peak_memory_bytes; print(peak_memory_bytes())"
PARENT = f"""
import subprocess, sys
held = b"x" * {LARGE}
subprocess.run([sys.executable, "-c", {CHILD!r}], check=True)
{CHILD}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_the_process_that_started_this_one_is_not_counted():
    done = ran(sys.executable, "-c", PARENT, check=True)
    child, parent = map(int, done.stdout.split())
    assert 0 < child < LARGE < parent
