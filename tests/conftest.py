"""What every test finds, and must leave behind: nothing that still runs."""

import gc
import os
import signal
import sys
import threading

import pytest

import engine  # noqa: F401  before any library: it switches their telemetry off
from tests.support.network.here_only import refuse_the_rest

# Before torch is imported: matrices of tests are small, and threads that wait cost more.
os.environ.setdefault("OMP_NUM_THREADS", "1")

CALLED = refuse_the_rest()
GRACE_S = 30  # the library loads weights in threads that it tells to end but does not wait for


def pytest_configure():
    """Let Ctrl+C work in tests that type it: a shell's background jobs begin with it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Begin with the files that take long: no process shall be left alone with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish():
    """Leave what is there now out of every later search for garbage: libraries are most of it."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def hub_cache(tmp_path, monkeypatch):
    """An empty cache of the hub's own library, instead of the person's."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tiny_hub(tmp_path, monkeypatch, hub_cache):  # noqa: ARG001  it is needed, not looked at
    """A hub on this computer that has ``some/model``; whoever asks by name asks it."""
    from tests.support import hub_server  # noqa: PLC0415  with the next line it imports torch
    from tests.support.fakes import save_tiny_model  # noqa: PLC0415

    folder = save_tiny_model(tmp_path / "tiny")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    with hub_server.running(files) as hub:
        settings = hub_server.settings(hub)
        monkeypatch.setattr("engine.hub.download.HubSettings", lambda: settings)
        yield hub


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


@pytest.fixture(autouse=True)
def _no_other_computer_is_called():
    yield
    called = CALLED.copy()
    CALLED.clear()
    assert not called


@pytest.fixture(autouse=True)
def _garbage_is_collected():
    """Collect between tests, in whose event loops the window's collector may not have its turn."""
    yield
    if "app.config.system.garbage" in sys.modules:
        sys.modules["app.config.system.garbage"].collect()


@pytest.fixture(autouse=True)
def _torch_keeps_its_threads():
    """Undo what a session chose: no test may compute otherwise because of the one before it."""
    yield
    if {"torch", "engine.runtime.device"} <= sys.modules.keys():
        n_threads = sys.modules["engine.runtime.device"]._all_threads()
        sys.modules["torch"].set_num_threads(n_threads)


class _All:
    def __contains__(self, _hash):
        return True


@pytest.fixture(autouse=True)
def _templates_and_tokenizers_of_tests_are_ours(request, monkeypatch):
    """Use them at once: a process of its own for each would cost a part of a second."""
    if request.node.get_closest_marker("strangers") is None:
        for name in ("engine.untrusted.chat_template", "engine.untrusted.tokenizer_trial"):
            if name in sys.modules:
                monkeypatch.setattr(sys.modules[name], "_OURS", _All())
