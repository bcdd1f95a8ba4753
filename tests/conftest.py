"""What every test must leave behind: nothing that still runs."""

import threading

import pytest

PATIENCE_S = 5  # for pools of libraries, which end by themselves


@pytest.fixture(autouse=True)
def _no_thread_is_left_running():
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        if not thread.daemon:
            thread.join(PATIENCE_S)
    left = [
        thread
        for thread in set(threading.enumerate()) - before
        if not thread.daemon or thread.name == "surtitle-engine"
    ]
    assert not left, f"threads were left running: {left}"
