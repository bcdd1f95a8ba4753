import pytest

from app.dialogs.setup.model_service import ModelService
from engine.hub.bundled import bundled_models
from engine.hub.catalogue import KNOWN_MODELS, TRANSLATION_MODELS


@pytest.fixture
def desk(qapp, tmp_path, monkeypatch):  # noqa: ARG001  signals need an application
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    desks = []

    def make():
        one = ModelService(tmp_path / "models")
        one.lists = []
        one.listed.connect(one.lists.append)
        desks.append(one)
        return one

    yield make
    for one in desks:
        one.close()


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
    bundled = [folder.name for folder in bundled_models()]
    assert set(here) == {*bundled, "mine", KNOWN_MODELS[1].name}
    for name in bundled:
        assert here[name].choice is None
        assert here[name].n_bytes > 1e7
        assert here[name].licence == "CC-BY-SA-4.0"
    assert here["mine"].licence == "MIT"
    assert len(offers) == len(TRANSLATION_MODELS) + len(bundled) + 1


def test_the_room_that_is_left_is_told_before_the_library_is_made(desk):
    assert desk().free_bytes > 0
