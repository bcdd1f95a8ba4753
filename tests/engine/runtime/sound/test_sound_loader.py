import re
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.models.model_card import ENCODER_FILE, read_card
from engine.runtime.loader import load_weights
from engine.runtime.sound import BlockStream, load_speech_encoder
from engine.settings import ModelSettings
from engine.untrusted.plain_files import file_sha256
from tests.support.direct.encoders import (
    WIDTH,
    noise,
    save_speech_encoder,
    say_speech,
    tiny_encoder,
)
from tests.support.fakes import save_tiny_model


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("model"))
    save_speech_encoder(folder, tiny_encoder(torch.float32))
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "direct")


def load(folder):
    return load_speech_encoder(folder, read_card(folder), WIDTH)


def test_an_encoder_is_read_as_it_was_saved(folder):
    sound = noise(np.random.default_rng(0), 1)
    for one, other in zip(
        BlockStream(load(folder)).feed(sound),
        BlockStream(tiny_encoder(torch.float32)).feed(sound),
        strict=True,
    ):
        np.testing.assert_array_equal(one.vectors, other.vectors)


def test_the_translator_beside_an_encoder_loads_as_without(folder):
    weights = load_weights(ModelSettings(directory=folder, device="cpu"))
    assert weights.width == WIDTH
    assert weights.card.speech == read_card(folder).speech


def test_a_folder_without_an_encoder_is_told_so(tmp_path):
    with pytest.raises(ModelError, match="reads text alone; choose one that was trained for"):
        load(save_tiny_model(tmp_path))


def changed(folder, change):
    """Change the tensors of the encoder; the card names the file that comes of it."""
    tensors = load_file(folder / ENCODER_FILE)
    change(tensors)
    save_file(tensors, folder / ENCODER_FILE)
    speech = read_card(folder).speech
    say_speech(folder, speech, encoder_sha256=file_sha256(folder / ENCODER_FILE))


def swapped(name, value):
    def change(tensors):
        tensors[name] = value(tensors[name])

    return change


FAULTS = [
    (lambda tensors: tensors.pop("norm.bias"), "lacks the tensor norm.bias"),
    (swapped("scale", lambda it: it * torch.nan), "numbers that are none (NaN)"),
    (swapped("scale", lambda it: it / 0), "or infinite"),
]


@pytest.mark.parametrize(("change", "fault"), FAULTS)
def test_a_file_that_does_not_fit_its_card_is_refused(folder, change, fault):
    changed(folder, change)
    with pytest.raises(ModelError, match=re.escape(fault)):
        load(folder)


def test_a_file_that_is_not_the_one_of_the_card_is_refused(folder):
    path = folder / ENCODER_FILE
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"damaged; .*was changed or damaged after its card"):
        load(folder)


def test_an_encoder_of_another_translator_is_refused(folder):
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"] *= 2
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="belongs to other weights than those beside it"):
        load(folder)


def test_a_huge_file_is_refused_before_it_is_read(folder):
    with (folder / ENCODER_FILE).open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(ModelError, match=r"larger than can be read here.*is longer than"):
        load(folder)


@pytest.mark.parametrize("place", [3, 20, -5])
def test_what_a_file_is_not_is_told_before_it_is_in_memory(folder, monkeypatch, place):
    monkeypatch.setattr("engine.runtime.sound.read_tensor_file", pytest.fail)
    path = folder / ENCODER_FILE
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"damaged|larger"):
        load(folder)


def test_where_memory_runs_out_that_is_told(folder, monkeypatch):
    def fail(*_asked):
        raise MemoryError

    monkeypatch.setattr("engine.runtime.sound.read_tensor_file", fail)
    with pytest.raises(ModelError, match="memory ran out"):
        load(folder)
