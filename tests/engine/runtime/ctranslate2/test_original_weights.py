"""Test that of an original what was converted is deleted, and nothing else."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.models.encoder_decoder.record import read_record
from engine.models.memory_footprint import weight_files
from engine.runtime.ctranslate2.conversion import ready_folder
from engine.runtime.ctranslate2.original_weights import delete_original, original_bytes
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def done(originals, tmp_path_factory):
    """A model whose weights are in two files, converted."""
    folder = shutil.copytree(originals["marian"], tmp_path_factory.mktemp("done") / "marian")
    tensors = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    names = {"model-1.safetensors": [*tensors][::2], "model-2.safetensors": [*tensors][1::2]}
    for name, keys in names.items():
        save_file({key: tensors[key] for key in keys}, folder / name, {"format": "pt"})
    places = {key: name for name, keys in names.items() for key in keys}
    content = {"metadata": {}, "weight_map": places}
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps(content))
    ready_folder(folder, "int8")
    return folder


@pytest.fixture
def folder(done, tmp_path):
    return shutil.copytree(done, tmp_path / "marian")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refused(folder, words):
    before = contents(folder)
    with pytest.raises(ModelError, match=words):
        delete_original(folder)
    assert contents(folder) == before


def test_weights_that_were_not_converted_stay(folder):
    (folder / "my-own-finetune.safetensors").write_bytes(b"mine")
    (folder / "policy_head.safetensors").symlink_to("my-own-finetune.safetensors")
    (folder / "a.safetensors").mkdir()
    sizes = [(folder / f"model-{n}.safetensors").stat().st_size for n in (1, 2)]
    assert original_bytes(folder) == sum(sizes)
    assert delete_original(folder) == sum(sizes)
    assert [path.name for path in sorted(folder.glob("*.safetensors"))] == [
        "a.safetensors",
        "my-own-finetune.safetensors",
        "policy_head.safetensors",
    ]
    assert not (folder / ".original.old").exists()
    assert load_weights(ModelSettings(directory=folder, device="cpu")).card.name == "marian"
    assert (original_bytes(folder), delete_original(folder)) == (0, 0)


def test_weights_that_were_changed_since_stay_and_all_others_with_them(folder):
    with (folder / "model-2.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"x")
    refused(folder, r"the model-2.safetensors in .* is not the one that was converted")


def test_the_weights_of_another_model_stay_whatever_lies_beside_them(folder):
    (folder / "config.json").write_text('{"model_type": "qwen3"}')
    assert original_bytes(folder) == 0
    refused(folder, "holds no original")


def test_where_a_conversion_does_not_say_what_it_was_made_from_nothing_is_deleted(folder):
    converted = folder / "ctranslate2-int8"
    replace(read_record(converted), originals={}).save(converted)
    assert original_bytes(folder) == 0
    refused(folder, "holds no original")


def test_where_one_file_cannot_be_deleted_none_is(folder, monkeypatch):
    move = Path.rename

    def fails(path, target):
        if path.parent == folder and path.name == "model-2.safetensors":
            raise PermissionError(1, "Operation not permitted")
        return move(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    refused(folder, "cannot be deleted .Operation not permitted")
    assert not (folder / ".original.old").exists()


def test_of_one_file_and_an_index_the_file_is_the_model_as_transformers_takes_it(folder):
    assert weight_files(folder) == ["model-1.safetensors", "model-2.safetensors"]
    (folder / WEIGHTS).write_bytes(b"")
    assert weight_files(folder) == [WEIGHTS]
