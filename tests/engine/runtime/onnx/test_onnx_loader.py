"""Which folders ONNX Runtime computes, what is refused, and that torch takes over."""

import importlib.util
import json
import sys
from unittest.mock import Mock

import numpy as np
import onnxruntime
import pytest
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.layout.rows import Row
from engine.models.model_card import read_card
from engine.runtime.loader import load_by_torch, load_weights
from engine.runtime.onnx.onnx_loader import (
    NotPlainError,
    OnnxWeights,
    load_onnx,
    verify_weights,
)
from engine.runtime.torch.torch_loader import TorchWeights
from engine.settings import ModelSettings
from tests.support.fakes import save_plain_model, save_tiny_model
from tests.support.programs.run import ran
from training.trainer.export import name_weights

ROWS = [Row(20 + n, n, 0) for n in range(9)]


@pytest.fixture
def folder(tmp_path):
    return save_plain_model(tmp_path / "model")


def loaded(folder, **changes):
    return load_weights(ModelSettings(directory=folder, **changes))


def change_json(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def notes(weights):
    return [str(note) for note in weights.report.notes]


def test_a_plain_folder_is_computed_without_torch_and_every_other_by_torch(folder, tmp_path):
    assert {path.name for path in folder.iterdir()} == {
        *("config.json", "generation_config.json", "model.safetensors", "surtitle.json"),
        *("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"),
    }, "as transformers saves it, and the card"
    assert isinstance(loaded(folder), OnnxWeights)
    assert notes(loaded(folder)) == []
    plain = loaded(save_tiny_model(tmp_path / "plain"), device="cpu")
    assert isinstance(plain, TorchWeights)
    assert notes(plain) == []


def test_what_only_torch_computes_is_computed_by_torch_and_nothing_is_noted(folder):
    weights = loaded(folder, device="cpu", quantise="nf4")
    assert isinstance(weights, TorchWeights)
    assert weights.report.quantise == "nf4"
    assert notes(weights) == []


@pytest.mark.parametrize("tied", [False, True])
def test_weights_of_8_bits_compute_nearly_what_whole_ones_do(tmp_path, tied):
    folder = save_plain_model(tmp_path, tied=tied)
    settings = ModelSettings(directory=folder, quantise="int8")
    try:
        packed = load_onnx(settings, read_card(folder))
    except NotPlainError as error:
        pytest.skip(f"this processor does not multiply 8 bits: {error}")
    assert packed.report.quantise == "int8"
    wanted, found = (weights.new_model(9).feed(ROWS) for weights in (loaded(folder), packed))
    assert not np.array_equal(wanted, found)
    assert np.corrcoef(wanted, found)[0, 1] > 0.99


def append(path, content):
    path.write_bytes(path.read_bytes() + content)


def other_weights(folder):
    path = folder / "model.safetensors"
    tensors = {name: tensor + 1 for name, tensor in load_file(path).items()}
    save_file(tensors, path, {"format": "pt"})


REFUSED = {
    "numbers of 64 bits": (
        lambda folder: change_json(folder / "config.json", dtype="float64"),
        "config.json sets 'dtype' to 'float64', which is not supported",
    ),
    "positions that are scaled": (
        lambda folder: change_json(
            folder / "config.json",
            rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0},
        ),
        "config.json sets 'rope_parameters' to 'linear', which is not supported",
    ),
    "another chat template": (
        lambda folder: append(folder / "chat_template.jinja", b" "),
        "its chat template is not one that is known without transformers",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.strangers
def test_a_folder_that_is_not_plain_is_computed_by_torch_alone(folder, name, monkeypatch):
    change, sentence = REFUSED[name]
    change(folder)
    weights = loaded(folder, device="cpu")
    assert isinstance(weights, TorchWeights)
    assert notes(weights) == []
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelError) as caught:
        loaded(folder)
    assert str(caught.value).startswith(f"the model in {folder} needs torch and transformers")
    assert "install them with pip install 'surtitle[torch]', or choose another" in str(caught.value)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("asked", ["auto", "nf4"])
def test_weights_that_are_not_those_of_the_card_are_refused_whoever_computes(folder, asked):
    name_weights(folder)
    other_weights(folder)
    with pytest.raises(ModelError) as caught:
        loaded(folder, device="cpu", quantise=asked)
    assert "its model.safetensors is not the one that its card names" in str(caught.value)
    assert "it is damaged; get it again" in str(caught.value)
    with pytest.raises(ModelError, match="is not the one that its card names"):
        load_by_torch(ModelSettings(directory=folder, device="cpu"))


def test_of_weights_that_are_none_no_hash_is_computed(folder, monkeypatch):
    name_weights(folder)
    monkeypatch.setattr("engine.runtime.onnx.onnx_loader.file_sha256", pytest.fail)
    with (folder / "model.safetensors").open("r+b") as file:
        file.write(bytes(64))
    with pytest.raises(ModelError, match="it is damaged; get it again"):
        verify_weights(folder)


def test_a_runtime_that_is_too_old_leaves_the_model_to_torch(folder, monkeypatch):
    monkeypatch.setattr(onnxruntime, "__version__", "1.21.1")
    silenced = Mock()
    monkeypatch.setattr(onnxruntime, "disable_telemetry_events", silenced)
    weights = loaded(folder, device="cpu")
    silenced.assert_called_once_with()
    assert isinstance(weights, TorchWeights)
    (note,) = notes(weights)
    assert note.startswith("the model is computed by torch, which starts later")
    assert "ONNX Runtime 1.21.1 is too old: 1.22 is the oldest" in note


def test_a_runtime_that_is_missing_leaves_the_model_to_torch(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert "ONNX Runtime 1.22 or newer is not installed" in notes(loaded(folder, device="cpu"))[0]


WHOLE = """
import sys, threading
from pathlib import Path
import app.controllers.application, app.cli.listen
from engine.session.session import Session
from engine.speech.listener import Listener
from engine.speech.vad import SileroDetector
from engine.speech.whisper import Whisper
import ctranslate2, faster_whisper
from engine.events import SetWords
from engine.events import CaptionChanged, Failed
from engine.settings import ModelSettings, TranslationSettings
from engine.events import untimed
seen = threading.Event()
def take(event):
    if isinstance(event, (CaptionChanged, Failed)):
        sys.stderr.write(type(event).__name__)
        seen.set()
settings = ModelSettings(directory=Path(sys.argv[1]))
session = Session(settings, TranslationSettings(), take)
session.start()
session.send(SetWords(untimed(("ab", "cd", "ef", "gh", "ab", "cd", "ef", "gh"))))
seen.wait(60)
session.stop()
heavy = [name for name in ("torch", "transformers") if name in sys.modules]
sys.stderr.write(f" heavy {heavy}")
"""


@pytest.mark.slow
def test_neither_window_nor_listening_imports_torch_or_transformers_for_such_a_model(folder):
    done = ran(sys.executable, "-c", WHOLE, str(folder))
    assert done.stderr.endswith("CaptionChanged heavy []"), done.stderr
