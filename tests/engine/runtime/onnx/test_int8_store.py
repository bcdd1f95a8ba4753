"""Model folders whose weights are kept in 8 bits, on both runtimes."""

import json
import random
import shutil

import numpy as np
import onnxruntime
import pytest
import torch
from safetensors.numpy import load_file, save_file

from engine.errors import ModelError
from engine.layout.rows import Row
from engine.models.fingerprint import read_fingerprint, read_footprint
from engine.runtime.loader import load_by_torch, load_weights
from engine.runtime.onnx.onnx_loader import OnnxWeights
from engine.settings import ModelSettings
from tests.support.adapter_folders import CONFIG, factors, write_adapter
from tests.support.fakes import play, save_plain_model
from tests.support.twins import both, twin
from training.trainer.export import export_folder, name_weights

ROWS = [Row(20 + n, n, 0) for n in range(9)]
NAME = "model.layers.0.mlp.up_proj.weight"
CODES, SCALES = f"{NAME}.codes", f"{NAME}.scales"


@pytest.fixture(scope="module", params=[False, True], ids=["untied", "tied"])
def pair(request, tmp_path_factory):
    """A folder of 8 bits, and one with the numbers that these stand for in float32."""
    place = tmp_path_factory.mktemp("models")
    source = save_plain_model(place / "source", tied=request.param)
    packed, whole = place / "packed", place / "whole"
    export_folder(source, packed, bits=8)
    shutil.copytree(packed, whole)
    tensors = load_file(packed / "model.safetensors")
    for name in [name for name in tensors if name.endswith(".codes")]:
        matrix = name.removesuffix(".codes")
        scales = tensors.pop(f"{matrix}.scales")
        tensors[matrix] = tensors.pop(name).astype(np.float32) * scales[:, None]
    save_file(tensors, whole / "model.safetensors")
    name_weights(whole)
    return packed, whole


@pytest.fixture
def packed(pair, tmp_path):
    """A folder of 8 bits to change."""
    return shutil.copytree(pair[0], tmp_path / "model")


def settings(folder, **changes):
    return ModelSettings(directory=folder, device="cpu", **changes)


def test_both_runtimes_compute_the_numbers_that_the_8_bits_stand_for(pair):
    on_onnx = [load_weights(settings(folder)) for folder in pair]
    assert all(isinstance(weights, OnnxWeights) for weights in on_onnx)
    assert [weights.report.notes for weights in on_onnx] == [(), ()]
    on_torch = [load_by_torch(settings(folder)) for folder in pair]
    assert on_torch[0].network.dtype == torch.float32
    found, wanted = (weights.new_model(9).feed(ROWS) for weights in on_onnx)
    assert np.array_equal(found, wanted)
    found, wanted = (dict(weights.network.named_parameters()) for weights in on_torch)
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


def test_onnx_is_given_the_8_bits_and_no_matrix_that_is_unpacked(pair, monkeypatch):
    make, arrays = onnxruntime.OrtValue.ortvalue_from_numpy, []
    monkeypatch.setattr(
        onnxruntime.OrtValue, "ortvalue_from_numpy", lambda it: arrays.append(it) or make(it)
    )
    network = load_weights(settings(pair[0])).network
    assert not [it for it in arrays if it.dtype == np.float32 and it.ndim > 1]
    assert sum(it.size for it in arrays if it.dtype == np.int8) > 0.9 * network.shape.n_parameters


def test_both_runtimes_compute_them_alike(pair):
    system = twin(both(pair[0]), policy="read:2")
    for seed in range(5):
        play(system, random.Random(seed), 2)
    assert system.model.compared > 40


def test_memory_is_estimated_as_that_of_float32(pair):
    assert len({read_footprint(folder).n_bytes("none", 4, 100) for folder in pair}) == 1
    found, wanted = map(read_footprint, pair)
    assert (found.n_parameters, found.stored_bytes) == (wanted.n_parameters, 4)
    assert found.n_tensors == wanted.n_tensors


def test_an_adapter_on_8_bits_is_computed_alike(pair, tmp_path):
    base = read_fingerprint(pair[0])
    write_adapter(tmp_path / "a", base, tensors=factors(base, CONFIG, scale=0.3))
    system = twin(both(pair[0], adapter=tmp_path / "a"), policy="read:2")
    for seed in range(3):
        play(system, random.Random(seed), 2)
    adapted, wanted = (
        load_weights(settings(folder, adapter=tmp_path / "a")).new_model(9).feed(ROWS)
        for folder in pair
    )
    assert np.array_equal(adapted, wanted)


def drop(tensors, name):
    del tensors[name]


def put(name, value):
    return lambda tensors: tensors.update({name: value(tensors.get(name))})


def one(value):
    def change(scales):
        changed = scales.copy()
        changed[1] = value
        return changed

    return change


IN_PAIRS = f"keeps {NAME!r} in 8 bits, and codes of type I8 with one scale of type F32 for each row"
BAD_SCALES = f"has scales of {NAME!r} that are not all finite and more than 0"
DAMAGES = {  # more: models/test_llama_weights.py
    "no scales": (lambda tensors: drop(tensors, SCALES), IN_PAIRS),
    "no codes": (lambda tensors: drop(tensors, CODES), f"lack {NAME!r}"),
    "other codes": (put(CODES, lambda codes: codes[:, 1:].copy()), f"have {NAME!r} in another"),
    "a scale of 0": (put(SCALES, one(0)), BAD_SCALES),
    "whole numbers without scales": (
        lambda tensors: tensors.update({NAME: tensors.pop(CODES), "y": tensors.pop(SCALES)}),
        "has no place for its weights 'y'",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.strangers
def test_a_damaged_file_is_one_sentence_on_torch(packed, damage):
    change, sentence = DAMAGES[damage]
    tensors = load_file(packed / "model.safetensors")
    change(tensors)
    save_file(
        {name: np.ascontiguousarray(it) for name, it in tensors.items()},
        packed / "model.safetensors",
    )
    card = json.loads((packed / "surtitle.json").read_text())
    del card["weights_sha256"]  # so that the hash of the weights does not tell it first
    (packed / "surtitle.json").write_text(json.dumps(card))
    with pytest.raises(ModelError) as caught:
        load_by_torch(settings(packed))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_packed_weights_in_several_files_are_one_sentence(packed):
    (packed / "model.safetensors").rename(packed / "part.safetensors")
    names = dict.fromkeys(load_file(packed / "part.safetensors"), "part.safetensors")
    index = json.dumps({"metadata": {}, "weight_map": names})
    (packed / "model.safetensors.index.json").write_text(index)
    with pytest.raises(ModelError, match=r"it has no model.safetensors"):
        load_by_torch(settings(packed))
