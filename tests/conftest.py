"""What every test finds, and must leave behind: nothing that still runs."""

import signal
import threading

import pytest

GRACE_S = 5  # the library loads weights in threads that it tells to end but does not wait for


def pytest_configure():
    """Let Ctrl+C work in tests that type it: a shell's background jobs begin with it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
