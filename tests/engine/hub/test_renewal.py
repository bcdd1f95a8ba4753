"""The catalogue is renewed by a script from a hub, which is on this computer here."""

import json
import sys

import pytest

from engine.hub.catalogue import KNOWN_MODELS, TRANSLATION_MODELS, read_models
from tests.support import hub_server
from tests.support.programs.run import ran

SIZES = {"model.safetensors": 1000, "pytorch_model.bin": 999, "source.spm": 20, "config.json": 3}
FOOTPRINT = {"n_linear": 90, "n_rows": 1, "n_other": 10, "n_cached": 1, "stored_bytes": 2}


def entry(**changes):
    return {"name": "some/model", "revision": "refs/pr/4", "licence": "MIT", "sources": ["en"],
            "targets": ["fr"], "download_bytes": 7, "checked": ""} | changes  # fmt: skip


def renew(tmp_path, *entries, change=lambda listing: listing):
    path = tmp_path / "models.json"
    path.write_text(json.dumps({"about": "words", "models": entries}))
    files = {name: b"x" * size for name, size in SIZES.items()}
    with hub_server.running(files) as hub:
        hub.change = lambda listing: change(listing | {"cardData": {"license": "cc-by-4.0"}})
        command = [sys.executable, "-m", "scripts.renew_models", path]
        done = ran(*command, surroundings={"HF_ENDPOINT": hub.endpoint}, timeout=500)
    return done, path, [path for path, _ in hub.asked if "/models/" in path]


def test_revision_size_and_licence_come_from_the_hub(tmp_path):
    done, path, asked = renew(tmp_path, entry())
    assert (done.returncode, done.stderr) == (0, "")
    assert asked == ["/api/models/some/model/revision/refs%2Fpr%2F4?blobs=true"]
    (model,) = read_models(path.read_text())
    assert model.revision == hub_server.REVISION
    assert model.download_bytes == 1023
    assert model.licence == "CC-BY-4.0"
    assert model.checked
    assert model.targets == ("fr",)


def test_a_model_whose_shape_is_another_is_dropped_and_one_that_fails_stays(tmp_path):
    def change(listing):
        return listing | {"safetensors": {"total": 150}}

    gone = entry(name="gone/model", revision="")
    other = entry(revision="", footprint=FOOTPRINT)
    done, path, _ = renew(tmp_path, gone, other, entry(), change=change)
    assert done.returncode == 0
    assert "gone/model: dropped: the hub has no such model" in done.stderr
    assert "another shape: it has 150 parameters" in done.stderr
    assert [model.footprint for model in read_models(path.read_text())] == [None]


def test_the_catalogue_names_only_languages_of_the_windows_and_scores_of_its_pairs():
    for model in TRANSLATION_MODELS:
        for pair, score in model.scores.items():
            assert model.translates(*pair)
            assert 0 < score.value < 100
            assert score.published.startswith("https://")
    assert len({model.name for model in TRANSLATION_MODELS}) == len(TRANSLATION_MODELS)
    for model in KNOWN_MODELS:
        n_stored = model.download_bytes / model.footprint.stored_bytes
        assert 0.99 <= n_stored / model.footprint.n_parameters <= 1.27, model.name


@pytest.mark.parametrize("change", [{"sha": "../../.."}, {"cardData": {"license": "mit\x1b[2J"}}])
def test_a_revision_or_a_licence_that_is_none_is_not_written(tmp_path, change):
    done, path, _ = renew(tmp_path, entry(), change=lambda listing: listing | change)
    assert done.returncode == 1
    assert "some/model: left as it is" in done.stderr
    assert json.loads(path.read_text())["models"] == [entry()]
