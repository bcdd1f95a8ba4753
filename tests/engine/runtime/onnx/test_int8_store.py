"""Model folders whose weights are kept in 8 bits, on both runtimes."""

import json
import random
import shutil
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from safetensors.numpy import load_file, save_file

from engine.errors import ModelError
from engine.layout.rows import Row
from engine.models.fingerprint import read_fingerprint, read_footprint
from engine.models.llama import parse_llama_weights, read_llama_file, read_llama_shape
from engine.runtime.loader import load_by_torch, load_weights
from engine.runtime.onnx.onnx_loader import OnnxWeights
from engine.runtime.onnx.onnx_store import slot_model
from engine.settings import ModelSettings
from tests.support.adapter_folders import CONFIG, factors, write_adapter
from tests.support.fakes import play, save_plain_model
from tests.support.training_runs import finetune, write_pairs
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
    for kind in (on_onnx, on_torch):
        found, wanted = (np.asarray(weights.new_model(9).feed(ROWS)) for weights in kind)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)  # sums in another order
    found, wanted = (dict(weights.network.named_parameters()) for weights in on_torch)
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


@pytest.fixture
def given(monkeypatch, tmp_path):
    """The weights that ONNX Runtime is given; it notes what each pass computes in ``tmp_path``."""
    make, options_of, arrays = (
        onnxruntime.OrtValue.ortvalue_from_numpy,
        onnxruntime.SessionOptions,
        list[np.ndarray](),
    )

    def noting():
        options = options_of()
        options.enable_profiling, options.profile_file_prefix = True, str(tmp_path / "noted")
        return options

    monkeypatch.setattr(onnxruntime, "SessionOptions", noting)
    monkeypatch.setattr(
        onnxruntime.OrtValue, "ortvalue_from_numpy", lambda it: arrays.append(it) or make(it)
    )
    return arrays


def test_onnx_is_given_the_8_bits_and_unpacks_in_a_pass_no_more_than_its_rows(pair, given):
    network = load_weights(settings(pair[0])).network
    whole = [it.size for it in given if it.dtype == np.float32 and it.ndim > 1]
    assert whole == []
    assert sum(it.size for it in given if it.dtype == np.int8) > 0.9 * network.shape.n_parameters
    n_passes = 3
    model = slot_model(network, 9)
    for row in ROWS[:n_passes]:
        model.feed([row])
    noted = json.loads(Path(network.session.end_profiling()).read_text("utf-8"))
    done = [one["args"]["op_name"] for one in noted if "op_name" in one.get("args", {})]
    assert done.count("SimplifiedLayerNormalization") == n_passes + 1  # a trial while it loads
    assert done.count("DequantizeLinear") == n_passes + 1


def test_onnx_computes_them_to_the_byte_as_the_numbers_that_they_stand_for(pair):
    found, wanted = (load_weights(settings(folder)).new_model(9).feed(ROWS) for folder in pair)
    assert np.array_equal(found, wanted)


def test_both_runtimes_compute_them_alike(pair):
    system = twin(both(pair[0]), policy="read:2")
    for seed in range(5):
        play(system, random.Random(seed), 2)
    assert system.model.compared > 40


@pytest.mark.parametrize("quantise", ["nf4", "int8"])
def test_they_can_be_packed_anew_in_memory(pair, quantise):
    found, wanted = (
        load_by_torch(settings(folder, quantise=quantise)).new_model(9).feed(ROWS)
        for folder in pair
    )
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)  # sums in another order


def test_they_become_bfloat16_where_that_is_asked_for(pair):
    from engine.runtime.torch.torch_loader import load_network  # noqa: PLC0415

    cpu = torch.device("cpu")
    network = load_network(pair[0], quantise="none", device=cpu, dtype=torch.bfloat16)
    assert network.dtype == torch.bfloat16


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


def test_an_adapter_trained_on_8_bits_is_that_of_their_float32(pair, tmp_path):
    data = write_pairs(tmp_path / "en-de.tsv")
    trained = []
    for folder in pair:
        out = tmp_path / folder.name
        assert finetune(data, folder, out) == 0
        trained.append(load_file(out / "adapter" / "adapter_model.safetensors"))
    assert trained[0].keys() == trained[1].keys()
    for name, factor in trained[0].items():
        assert np.array_equal(factor, trained[1][name]), name


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
DAMAGES = {
    "no scales": (lambda tensors: drop(tensors, SCALES), IN_PAIRS),
    "no codes": (lambda tensors: drop(tensors, CODES), f"lack {NAME!r}"),
    "codes of unsigned": (put(CODES, lambda codes: codes.view(np.uint8)), IN_PAIRS),
    "codes in a row": (put(CODES, lambda codes: codes.reshape(-1)), IN_PAIRS),
    "no row": (put(CODES, lambda codes: codes[:0]), IN_PAIRS),
    "too few scales": (put(SCALES, lambda scales: scales[1:]), IN_PAIRS),
    "scales as a column": (put(SCALES, lambda scales: scales[:, None]), IN_PAIRS),
    "scales of float64": (put(SCALES, lambda scales: scales.astype(np.float64)), IN_PAIRS),
    "other codes": (put(CODES, lambda codes: codes[:, 1:].copy()), f"have {NAME!r} in another"),
    "whole as well": (
        put(NAME, lambda _: np.zeros((2, 2), np.float32)),
        f"has {NAME!r} twice, whole and in 8 bits",
    ),
    "a matrix more": (
        lambda tensors: tensors.update({"x.codes": tensors[CODES], "x.scales": tensors[SCALES]}),
        "has no place for its weights 'x'",
    ),
    "a scale of 0": (put(SCALES, one(0)), BAD_SCALES),
    "a negative scale": (put(SCALES, one(-1)), BAD_SCALES),
    "an infinite scale": (put(SCALES, one(np.inf)), BAD_SCALES),
    "a scale that is none": (put(SCALES, one(np.nan)), BAD_SCALES),
    "a scale that overflows": (put(SCALES, one(3e38)), BAD_SCALES),
    "whole numbers without scales": (
        lambda tensors: tensors.update({NAME: tensors.pop(CODES), "y": tensors.pop(SCALES)}),
        "has no place for its weights 'y'",
    ),
    "norms in 8 bits": (
        put("model.norm.weight", lambda norm: np.ones(norm.shape, np.int8)),
        "gives the tensor 'model.norm.weight' the unknown type I8",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.strangers
def test_a_damaged_file_is_one_sentence_on_both_runtimes(packed, damage):
    change, sentence = DAMAGES[damage]
    tensors = load_file(packed / "model.safetensors")
    change(tensors)
    save_file(
        {name: np.ascontiguousarray(it) for name, it in tensors.items()},
        packed / "model.safetensors",
    )
    shape = read_llama_shape(packed)
    with pytest.raises(ValueError, match=r"get it again|its ") as caught:
        parse_llama_weights(read_llama_file(packed, shape), shape)
    assert sentence in str(caught.value)
    card = json.loads((packed / "surtitle.json").read_text())
    del card["weights_sha256"]  # so that the hash of the weights does not tell it first
    (packed / "surtitle.json").write_text(json.dumps(card))
    with pytest.raises(ModelError) as caught:
        load_by_torch(settings(packed))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_longer_than_any_of_its_shape_is_not_read(packed):
    with (packed / "model.safetensors").open("r+b") as file:
        file.truncate(1 << 31)  # no room is taken on disk
    shape = read_llama_shape(packed)
    with pytest.raises(
        ValueError, match=r"larger than can be read here.*detail: model.safetensors is longer than"
    ):
        read_llama_file(packed, shape)


def test_packed_weights_in_several_files_are_one_sentence(packed):
    (packed / "model.safetensors").rename(packed / "part.safetensors")
    names = dict.fromkeys(load_file(packed / "part.safetensors"), "part.safetensors")
    index = json.dumps({"metadata": {}, "weight_map": names})
    (packed / "model.safetensors.index.json").write_text(index)
    with pytest.raises(ModelError, match=r"it has no model.safetensors"):
        load_by_torch(settings(packed))
