"""What comes with the program: models and adapters fit, are light, and are used if they help."""

from pathlib import Path

import pytest

from engine.files import ASSETS
from engine.hub.bundled import (
    WORTH,
    bundled_adapters,
    bundled_languages,
    bundled_model,
    bundled_models,
    default_adapter,
    suited_model,
)
from engine.models.adapters.adapter import Status, inspect_adapter, verify_adapter
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import read_card
from engine.settings import TranslationSettings
from tests.support.app.bundle import bundle

MOST_BYTES = 80 << 20  # of all models and adapters


BASES = [read_fingerprint(folder) for folder in bundled_models()]


def wanted(policy, language="de"):
    return TranslationSettings(target_language=language, policy=policy)


def test_each_language_has_its_model_and_another_the_first(tmp_path, monkeypatch):
    folders = bundle(tmp_path, monkeypatch)
    assert bundled_languages() == folders
    assert [suited_model(code) for code in ("fr", "pl")] == [folders["fr"], folders["de"]]
    assert bundled_model(Path("surtitle-en-es")) == folders["es"]
    assert bundled_model(Path("surtitle-en-pl")) is None
    monkeypatch.chdir(tmp_path)
    Path("surtitle-en-es").mkdir()
    assert bundled_model(Path("surtitle-en-es")) is None, "a folder here is what was meant"
    monkeypatch.setattr("engine.hub.bundled.ASSETS", tmp_path / "none")
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


@pytest.mark.parametrize("folder", bundled_adapters(), ids=lambda folder: folder.name)
def test_a_bundled_adapter_fits_a_bundled_model_and_tells_where_it_comes_from(folder):
    adapter, *_ = fitting = [
        adapter
        for adapter in (inspect_adapter(folder, base) for base in BASES)
        if adapter.status is Status.OK
    ]
    assert [adapter.reason for adapter in fitting] == [None]
    assert verify_adapter(adapter) == adapter.card.weights_sha256
    assert {one.policy for one in adapter.card.scores} <= set(adapter.card.policies)
    assert all(one.base_bleu is not None for one in adapter.card.scores)
    assert all(one.licence not in ("", "not stated") for one in adapter.card.data)
    assert adapter.card.licence in (folder / "README.md").read_text(encoding="utf-8")


def test_all_that_is_bundled_is_light():
    sizes = [
        path.stat().st_size
        for path in (*ASSETS.glob("models/**/*"), *ASSETS.glob("adapters/**/*"))
        if path.is_file()
    ]
    assert sum(sizes) <= MOST_BYTES


@pytest.mark.parametrize("policy", ["read:3", "read:5", "wait:3", "wait:5", "offline"])
def test_one_is_used_unasked_exactly_where_its_card_says_that_it_helps(policy):
    base = BASES[0]
    gains = {
        folder: inspect_adapter(folder, base).card.gain("de", policy.partition(":")[0]) or 0.0
        for folder in bundled_adapters()
    }
    best = max(gains, key=gains.__getitem__, default=None)
    expected = best if best is not None and gains[best] >= WORTH else None
    assert default_adapter(base, wanted(policy)) == expected
    assert default_adapter(base, wanted(policy, "fr")) is None
