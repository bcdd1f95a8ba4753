"""Which folders ONNX Runtime computes, what is refused, and that torch takes over."""

import hashlib
import importlib.util
import json
import struct
import sys
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import onnxruntime
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.layout.rows import Row
from engine.models.llama_shape import read_llama_shape
from engine.models.model_card import read_card
from engine.runtime.loader import load_by_torch, load_weights
from engine.runtime.onnx import onnx_loader
from engine.runtime.onnx.onnx_graph import graph_bytes
from engine.runtime.onnx.onnx_loader import (
    OnnxWeights,
    UnfitGraphError,
    load_onnx,
    verify_weights,
)
from engine.runtime.torch.torch_loader import TorchWeights
from engine.settings import ModelSettings
from tests.support.fakes import save_graph_model, save_tiny_model
from tests.support.programs.run import ran
from training.errors import TrainingError
from training.trainer.pretraining.export import export_graph

ROWS = [Row(20 + n, n, 0) for n in range(9)]


@pytest.fixture
def folder(tmp_path):
    return save_graph_model(tmp_path / "model")


def loaded(folder, **changes):
    return load_weights(ModelSettings(directory=folder, **changes))


def change_json(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def notes(weights):
    return [str(note) for note in weights.report.notes]


def test_a_folder_with_a_graph_is_computed_without_torch_and_one_without_by_torch(folder, tmp_path):
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
    folder = save_graph_model(tmp_path, tied=tied)
    settings = ModelSettings(directory=folder, quantise="int8")
    try:
        packed = load_onnx(settings, read_card(folder))
    except UnfitGraphError as error:
        pytest.skip(f"this processor does not multiply 8 bits: {error}")
    assert packed.report.quantise == "int8"
    wanted, found = (weights.new_model(9).feed(ROWS) for weights in (loaded(folder), packed))
    assert not np.array_equal(wanted, found)
    assert np.corrcoef(wanted, found)[0, 1] > 0.99


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def append(path, content):
    path.write_bytes(path.read_bytes() + content)


def other_weights(folder):
    path = folder / "model.safetensors"
    tensors = {name: tensor + 1 for name, tensor in load_file(path).items()}
    save_file(tensors, path, {"format": "pt"})


def other_shape(folder):
    """A graph and a card that belong together, of another shape than the config.json."""
    shape = read_llama_shape(folder)
    (folder / "graph.onnx").write_bytes(
        graph_bytes(shape).replace(struct.pack("<f", shape.epsilon), struct.pack("<f", 1e-3))
    )
    path = folder / "surtitle.json"
    graph = json.loads(path.read_text())["graph"]
    graph["sha256"] = hashlib.sha256((folder / "graph.onnx").read_bytes()).hexdigest()
    change_json(path, graph=graph)


REFUSED = {
    "a byte of the graph": (
        lambda folder: flip(folder / "graph.onnx", 700),
        "its graph.onnx is not what this program writes for its config.json",
    ),
    "a longer graph": (
        lambda folder: append(folder / "graph.onnx", b"\0"),
        "its graph.onnx is not what this program writes",
    ),
    "no graph": (
        lambda folder: (folder / "graph.onnx").unlink(),
        "it has no graph.onnx",
    ),
    "a graph of a stranger that its card names": (
        other_shape,
        "its graph.onnx is not what this program writes for its config.json",
    ),
    "the hash of another graph": (
        lambda folder: replace(
            read_card(folder), graph=replace(read_card(folder).graph, sha256="0" * 64)
        ).save(folder),
        "its graph.onnx is not the one that its card names",
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
def test_a_folder_that_does_not_fit_is_computed_by_torch_and_noted_in_one_sentence(folder, name):
    change, sentence = REFUSED[name]
    change(folder)
    weights = loaded(folder, device="cpu")
    assert isinstance(weights, TorchWeights)
    (note,) = notes(weights)
    assert note.startswith("the model is computed by torch, which starts later")
    assert sentence in note
    assert "\n" not in note


@pytest.mark.parametrize("asked", ["auto", "nf4"])
@pytest.mark.parametrize("graph", ["there", "missing"])
def test_weights_that_are_not_those_of_the_card_are_refused_whoever_computes(folder, asked, graph):
    other_weights(folder)
    if graph == "missing":
        (folder / "graph.onnx").unlink()
    with pytest.raises(ModelError) as caught:
        loaded(folder, device="cpu", quantise=asked)
    assert "its model.safetensors is not the one that its card names" in str(caught.value)
    assert "it is damaged; get it again" in str(caught.value)
    with pytest.raises(ModelError, match="is not the one that its card names"):
        load_by_torch(ModelSettings(directory=folder, device="cpu"))


def test_of_weights_that_are_none_no_hash_is_computed(folder, monkeypatch):
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
    assert "ONNX Runtime 1.21.1 is too old: 1.22 is the oldest" in notes(weights)[0]


def test_a_runtime_that_is_missing_leaves_the_model_to_torch(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert "ONNX Runtime 1.22 or newer is not installed" in notes(loaded(folder, device="cpu"))[0]


@pytest.mark.parametrize("broken", [False, True])
def test_without_torch_a_model_that_needs_it_is_one_sentence(folder, tmp_path, monkeypatch, broken):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert isinstance(loaded(folder), OnnxWeights)
    if broken:
        flip(folder / "graph.onnx", 700)
    else:
        folder = save_tiny_model(tmp_path / "plain")
    with pytest.raises(ModelError) as caught:
        loaded(folder)
    assert str(caught.value).startswith(f"the model in {folder} needs torch and transformers")
    assert "install them with pip install 'surtitle[torch]', or choose another" in str(caught.value)


def test_too_little_memory_leaves_the_model_to_torch(folder, monkeypatch):
    monkeypatch.setattr(onnx_loader, "free_memory_bytes", lambda: 1000)
    with pytest.raises(UnfitGraphError, match=r"needs .* whole on cpu, 1\.0 kB free"):
        load_onnx(ModelSettings(directory=folder), read_card(folder))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_weights_of_every_type_are_computed_in_float32(folder, dtype):
    path = folder / "model.safetensors"
    tensors = {name: tensor.to(dtype) for name, tensor in load_file(path).items()}
    save_file(tensors, path, {"format": "pt"})
    export_graph(folder)
    light = loaded(folder).new_model(20)
    wanted = {name: tensor.float() for name, tensor in tensors.items()}
    weights = onnx_loader._read_weights(folder, read_llama_shape(folder), read_card(folder).graph)
    for name, array in weights.items():
        assert np.array_equal(array, wanted[name].numpy())
    assert np.isfinite(light.feed(ROWS)).all()


def test_a_card_keeps_its_graph_and_loses_it_with_an_export_that_fails(folder, monkeypatch):
    card = read_card(folder)
    assert card.graph is not None
    card.save(folder)
    assert read_card(folder) == card
    monkeypatch.setattr(onnx_loader, "LEAST_RUNTIME", (99, 0))
    with pytest.raises(TrainingError, match=r"cannot be loaded: ONNX Runtime .* is too old"):
        export_graph(folder)
    assert read_card(folder).graph is None


def test_a_network_that_is_no_plain_llama_gets_no_graph(folder):
    change_json(folder / "config.json", attention_bias=True)
    with pytest.raises(TrainingError, match="'attention_bias' to True, which is not supported"):
        export_graph(folder)


LOOK = """
import sys
from app.__main__ import main
code = main({arguments!r})
heavy = [name for name in ("torch", "transformers") if name in sys.modules]
sys.stderr.write(f"code {{code}} heavy {{heavy}}")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["translate", "--model", "FOLDER", "--live", "--glossary", "GLOSSARY", "TEXT"],
        ["score", "--model", "FOLDER", "TEXT", "TEXT"],
        ["check", "--speed", "--model", "FOLDER"],
    ],
    ids=lambda arguments: " ".join(arguments[:3:2]),
)
def test_no_command_imports_torch_or_transformers_for_such_a_model(folder, tmp_path, arguments):
    (tmp_path / "text").write_text("ab cd.\nef gh.\n")
    (tmp_path / "glossary").write_text("ab\tcd\n")
    places = {
        "FOLDER": str(folder),
        "TEXT": str(tmp_path / "text"),
        "GLOSSARY": str(tmp_path / "glossary"),
    }
    program = LOOK.format(arguments=[places.get(argument, argument) for argument in arguments])
    done = ran(sys.executable, "-c", program)
    assert done.stderr.endswith("code 0 heavy []"), done.stderr


WHOLE = """
import sys, threading
from pathlib import Path
import app.controllers.application, app.cli.listen
from engine.session.session import Session
from engine.speech.listener import Listener
from engine.speech.vad import SileroDetector
from engine.speech.whisper import Whisper
import ctranslate2, faster_whisper
from engine.commands import SetWords
from engine.events import CaptionChanged, Failed
from engine.settings import ModelSettings, TranslationSettings
from engine.words import untimed
seen = threading.Event()
def take(event):
    if isinstance(event, (CaptionChanged, Failed)):
        sys.stderr.write(type(event).__name__)
        seen.set()
settings = ModelSettings(directory=Path(sys.argv[1]))
session = Session(settings, TranslationSettings(), take)
session.start()
session.send(SetWords(untimed(("ab", "cd", "ef"))))
seen.wait(60)
session.stop()
heavy = [name for name in ("torch", "transformers") if name in sys.modules]
sys.stderr.write(f" heavy {heavy}")
"""


@pytest.mark.slow
def test_neither_window_nor_listening_imports_torch_or_transformers_for_such_a_model(folder):
    done = ran(sys.executable, "-c", WHOLE, str(folder))
    assert done.stderr.endswith("CaptionChanged heavy []"), done.stderr
