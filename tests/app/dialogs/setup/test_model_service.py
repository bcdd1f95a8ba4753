import json
import threading

import pytest

from app.dialogs.setup.model_service import ModelService
from engine.hub.catalogue import KNOWN_MODELS, TRANSLATION_MODELS
from engine.hub.transfer import HubSettings
from tests.support import hub_server

FILES = {"config.json": b"{}", "tokenizer.json": b"{}", "model.safetensors": b"w" * 3_000_000}


@pytest.fixture
def desk(qapp, tmp_path, monkeypatch):  # noqa: ARG001  signals need an application
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    desks = []

    def make(**settings):
        one = ModelService(tmp_path / "models", **settings)
        one.lists, one.told, one.here, one.steps = [], [], [], []
        one.listed.connect(one.lists.append)
        one.failed.connect(one.told.append)
        one.fetched.connect(one.here.append)
        one.progressed.connect(lambda *step: one.steps.append(step))
        desks.append(one)
        return one

    yield make
    for one in desks:
        one.close()


def settings(hub):
    return HubSettings(endpoint=hub.endpoint, timeout_s=20, tries=1)


def test_the_bundled_model_and_those_of_the_library_are_here_and_others_are_not(qtbot, desk):
    one = desk()
    known = one.library / KNOWN_MODELS[1].name.replace("/", "--")
    for folder in (known, one.library / "mine", one.library / ".begun"):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    (one.library / "mine" / "README.md").write_text("---\nlicense: mit\n---\n")
    one.refresh()
    qtbot.waitUntil(lambda: bool(one.lists), timeout=30_000)
    (offers,) = one.lists
    here = {offer.name: offer for offer in offers if offer.is_here}
    assert set(here) == {"surtitle-en-de", "mine", KNOWN_MODELS[1].name}
    assert here["surtitle-en-de"].choice is None
    assert here["surtitle-en-de"].n_bytes > 1e7
    assert here["surtitle-en-de"].licence == "CC-BY-SA-4.0"
    assert here["mine"].licence == "MIT"
    assert len(offers) == len(TRANSLATION_MODELS) + 2


def test_a_model_is_fetched_and_its_bytes_are_told(qtbot, desk):
    with hub_server.running(FILES) as hub:
        one = desk(hub=settings(hub))
        one.fetch("some/model")
        qtbot.waitUntil(lambda: bool(one.here and one.lists), timeout=30_000)
    total = sum(map(len, FILES.values()))
    assert one.here == ["some/model"]
    assert one.steps[-1] == ("some/model", total, total)
    done = [step[1] for step in one.steps]
    assert done == sorted(done)
    assert json.loads((one.library / "some--model" / "config.json").read_text()) == {}
    assert "some/model" in [offer.name for offer in one.lists[-1]]


def test_a_fetch_that_is_cancelled_keeps_what_is_there_and_says_nothing(qtbot, desk):
    may_go = threading.Event()

    def slow(name, _start):
        if name.endswith(".safetensors"):
            may_go.wait(10)

    with hub_server.running(FILES) as hub:
        hub.fault = slow
        one = desk(hub=settings(hub))
        one.fetch("some/model")
        qtbot.waitUntil(lambda: any("safetensors" in path for path, _ in hub.asked), timeout=30_000)
        one.cancel()
        may_go.set()
        qtbot.waitUntil(lambda: one.told == [""], timeout=30_000)
        assert not one.here
        one.fetch("some/model")
        qtbot.waitUntil(lambda: one.here == ["some/model"], timeout=30_000)


def test_a_model_that_cannot_be_fetched_is_one_sentence(qtbot, desk):
    with hub_server.running(FILES) as hub:
        one = desk(hub=settings(hub))
        one.fetch("nobody/nothing")
        qtbot.waitUntil(lambda: bool(one.told), timeout=30_000)
    assert "nobody/nothing cannot be downloaded" in one.told[0]


def test_the_room_that_is_left_is_told_before_the_library_is_made(desk):
    assert desk().free_bytes > 0
