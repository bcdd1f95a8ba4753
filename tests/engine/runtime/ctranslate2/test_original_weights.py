"""Test that of a downloaded model what was converted is deleted, and nothing else."""

import json
import os
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.models.fingerprint import weight_files
from engine.runtime.ctranslate2.conversion import held, ready_folder
from engine.runtime.loader import load_weights
from engine.session.loaded_model import LoadedModel
from engine.settings import ModelSettings
from engine.untrusted.plain_files import folder_of

WEIGHTS = "model.safetensors"
PARTS = ["model-1.safetensors", "model-2.safetensors"]
NAME = "Helsinki-NLP/opus-mt-en-de"


@pytest.fixture(scope="module")
def done(originals, tmp_path_factory):
    """A model whose weights are in two files, converted."""
    folder = shutil.copytree(originals["marian"], tmp_path_factory.mktemp("done") / "marian")
    tensors = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    names = dict(zip(PARTS, ([*tensors][::2], [*tensors][1::2]), strict=True))
    for name, keys in names.items():
        save_file({key: tensors[key] for key in keys}, folder / name, {"format": "pt"})
    places = {key: name for name, keys in names.items() for key in keys}
    content = {"metadata": {}, "weight_map": places}
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps(content))
    ready_folder(folder, "int8")
    return folder


@pytest.fixture
def folder(done, tmp_path):
    """A copy of it as if it were converted just now, in a library of downloads."""
    copy = shutil.copytree(done, tmp_path / folder_of(NAME))
    _set_age(copy / "ctranslate2-int8" / "model.bin", 0)
    return copy


def _set_age(path, seconds):
    """Let a file be changed that long ago, by the clock of the files."""
    probe = path.parent / "probe"
    probe.touch()
    changed_ns = probe.stat().st_mtime_ns - seconds * 1_000_000_000
    probe.unlink()
    os.utime(path, ns=(changed_ns, changed_ns))


def settings(folder, *, is_download):
    return ModelSettings(directory=folder, device="cpu", is_download=is_download)


def weights(folder):
    return sorted(path.name for path in folder.glob("*.safetensors"))


def test_a_download_loses_what_was_converted_once_that_loads_and_nothing_else(folder):
    own = ["a.safetensors", "my-own-finetune.safetensors", "policy_head.safetensors"]
    (folder / own[0]).mkdir()
    (folder / own[1]).write_bytes(b"mine")
    (folder / own[2]).symlink_to(own[1])
    for _ in range(2):
        assert load_weights(settings(folder, is_download=True)).card.name == "marian"
        assert weights(folder) == own


def test_the_folder_of_a_person_loses_nothing(folder):
    load_weights(settings(folder, is_download=False))
    assert weights(folder) == PARTS


def test_a_model_that_a_session_fetches_by_its_name_is_a_download(folder):
    named = ModelSettings(directory=folder.parent, hub_name=NAME, device="cpu")
    assert LoadedModel(named, lambda _: None).weights.card.name == "marian"
    assert weights(folder) == []


def test_weights_that_were_put_there_after_the_conversion_stay(folder):
    _set_age(folder / "ctranslate2-int8" / "model.bin", 60)
    load_weights(settings(folder, is_download=True))
    assert weights(folder) == PARTS


def test_the_weights_of_another_model_stay_whatever_lies_beside_them(folder):
    (folder / "config.json").write_text('{"model_type": "qwen3"}')
    load_weights(settings(folder, is_download=True))
    assert weights(folder) == PARTS


def test_nothing_is_deleted_where_the_converted_model_does_not_load(folder):
    path = folder / "ctranslate2-int8" / "model.bin"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_weights(settings(folder, is_download=True))
    assert weights(folder) == PARTS


@pytest.mark.skipif(os.name != "posix", reason="Windows has no lock of a folder")
def test_nothing_is_deleted_while_another_process_converts(folder):
    with held(folder, lambda: True):
        load_weights(settings(folder, is_download=True))
    assert weights(folder) == PARTS


def test_a_model_is_loaded_though_its_original_cannot_be_deleted(folder, monkeypatch, caplog):
    def fails(_path):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "unlink", fails)
    load_weights(settings(folder, is_download=True))
    assert "was not deleted: Operation not permitted" in caplog.text
    caplog.clear()
    assert weights(folder) == PARTS


def test_of_one_file_and_an_index_the_file_is_the_model_as_transformers_takes_it(folder):
    assert weight_files(folder) == PARTS
    (folder / WEIGHTS).write_bytes(b"")
    assert weight_files(folder) == [WEIGHTS]
