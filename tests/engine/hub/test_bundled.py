"""What comes with the program: models and adapters fit, are light, and are used if they help."""

from pathlib import Path

import pytest

from engine.files import ASSETS
from engine.hub.catalogue import (
    bundled_languages,
    bundled_model,
    bundled_models,
    suited_model,
)
from engine.models.model_card import read_card
from tests.support.app.bundle import bundle

MOST_BYTES = 80 << 20  # of all models and adapters


def test_each_language_has_its_model_and_another_the_first(tmp_path, monkeypatch):
    folders = bundle(tmp_path, monkeypatch)
    assert bundled_languages() == folders
    assert [suited_model(code) for code in ("fr", "pl")] == [folders["fr"], folders["de"]]
    assert bundled_model(Path("surtitle-en-es")) == folders["es"]
    assert bundled_model(Path("surtitle-en-pl")) is None
    monkeypatch.chdir(tmp_path)
    Path("surtitle-en-es").mkdir()
    assert bundled_model(Path("surtitle-en-es")) is None, "a folder here is what was meant"
    monkeypatch.setattr("engine.hub.catalogue.ASSETS", tmp_path / "none")
    assert suited_model("de") is None


@pytest.mark.parametrize("folder", bundled_models(), ids=lambda folder: folder.name)
def test_a_bundled_model_knows_the_language_of_its_name_and_tells_where_it_comes_from(folder):
    card, text = read_card(folder), (folder / "README.md").read_text("utf-8")
    assert (card.name, [*card.languages]) == (folder.name, [folder.name[-2:]])
    assert card.calibration is not None, "doubtful captions are marked"
    head = text.partition("---\n")[2].partition("---\n")[0]
    assert f"language: [en, {folder.name[-2:]}]" in head
    assert "license: " in head
    assert "attribution" in text, "of the data"


def test_all_that_is_bundled_is_light():
    sizes = [
        path.stat().st_size
        for path in (*ASSETS.glob("models/**/*"), *ASSETS.glob("adapters/**/*"))
        if path.is_file()
    ]
    assert sum(sizes) <= MOST_BYTES
