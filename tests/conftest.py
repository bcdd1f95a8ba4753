"""What every test finds, and must leave behind: nothing that still runs."""

import gc
import os
import signal
import sys
import threading

import pytest

import engine  # noqa: F401  before any library: it switches their telemetry off
from engine.settings import ModelSettings
from tests.support.network.here_only import refuse_the_rest

# Before torch is imported: matrices of tests are small, and threads that wait cost more.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# While tests are found nothing is dropped, and each search for garbage goes through all libraries.
gc.disable()

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
    gc.freeze()
    gc.enable()


@pytest.fixture
def hub_cache(tmp_path, monkeypatch):
    """An empty cache of the hub's own library, instead of the person's."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tiny_hub(tmp_path, monkeypatch, hub_cache):  # noqa: ARG001  it is needed, not looked at
    """A hub on this computer that has ``some/model``; whoever asks by name asks it."""
    from tests.support import hub_server  # noqa: PLC0415  with the next line it imports torch
    from tests.support.fakes import save_tiny_model  # noqa: PLC0415  it imports torch

    folder = save_tiny_model(tmp_path / "tiny")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    with hub_server.running(files) as hub:
        settings = hub_server.settings(hub)
        monkeypatch.setattr("engine.hub.download.HubSettings", lambda: settings)
        yield hub


@pytest.fixture(scope="module")
def papers():
    """Layouts, methods and systems of the papers, while the tests of a file run."""
    from tests.support.training_runs import added  # noqa: PLC0415  few files need it

    with added():
        yield


def _never_changed(folder):
    """Yield a folder; after the tests nobody has written into it."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    yield folder
    assert before == {path: path.read_bytes() for path in folder.iterdir()}, folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The tiny model's folder, which torch computes; who changes it takes a copy."""
    from tests.support.fakes import save_tiny_model  # noqa: PLC0415  it imports torch

    yield from _never_changed(save_tiny_model(tmp_path_factory.mktemp("tiny")))


@pytest.fixture(scope="session")
def plain_model(tmp_path_factory):
    """The tiny model's folder as transformers saves it, which ONNX Runtime computes; likewise."""
    from tests.support.fakes import save_plain_model  # noqa: PLC0415  it imports torch

    yield from _never_changed(save_plain_model(tmp_path_factory.mktemp("graph")))


@pytest.fixture(scope="session")
def far_model(plain_model):
    """Settings of the tiny model as another computer has it."""
    return ModelSettings(directory=plain_model, device="cpu", capacity=300)


class _All:
    def __contains__(self, _hash):
        return True


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(request, monkeypatch):
    """Hold a test to leaving nothing: in one fixture, since each costs every test a millisecond."""
    if request.node.get_closest_marker("strangers") is None:
        _use_templates_and_tokenizers_at_once(monkeypatch)
    before = set(threading.enumerate())
    yield
    called = CALLED.copy()
    CALLED.clear()
    _give_torch_its_threads_again()
    _collect_garbage()
    running = _still_running(set(threading.enumerate()) - before)
    assert not running, f"threads were left running: {running}"
    assert not called, f"other computers were called: {called}"


def _use_templates_and_tokenizers_at_once(monkeypatch):
    """Take those of tests as ours: a process of its own for each would cost a part of a second."""
    name = "engine.untrusted.limited_process"
    if name in sys.modules:
        monkeypatch.setattr(sys.modules[name], "_OURS", _All())


def _give_torch_its_threads_again():
    """Undo what a session chose: no test may compute otherwise because of the one before it."""
    if {"torch", "engine.runtime.load_plan"} <= sys.modules.keys():
        n_threads = sys.modules["engine.runtime.load_plan"]._all_threads()
        sys.modules["torch"].set_num_threads(n_threads)


def _collect_garbage():
    """Collect between tests, in whose event loops the window's collector may not have its turn."""
    if "app.config.background" in sys.modules:
        sys.modules["app.config.background"].collect()


def _still_running(threads):
    left = [
        thread for thread in threads if not thread.daemon or thread.name.startswith("surtitle-")
    ]
    for thread in left:
        thread.join(GRACE_S)
    return [thread for thread in left if thread.is_alive()]
