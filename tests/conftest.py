"""What every test must leave behind: nothing that still runs."""

import threading

import pytest

GRACE_S = 5  # the library loads weights in threads that it tells to end but does not wait for


@pytest.fixture(autouse=True)
def _no_thread_is_left_running():
    before = set(threading.enumerate())
    yield
    left = [
        thread
        for thread in set(threading.enumerate()) - before
        if not thread.daemon or thread.name.startswith("surtitle-")
    ]
    for thread in left:
        thread.join(GRACE_S)
    running = [thread for thread in left if thread.is_alive()]
    assert not running, f"threads were left running: {running}"
