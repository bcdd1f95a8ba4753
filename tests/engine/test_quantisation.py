"""Packed models through the slot engine, on every architecture."""

import sys

import pytest
import torch
from torch import nn

from engine import loading
from engine.device import compute_dtype
from engine.errors import ModelError
from engine.footprint import read_footprint
from engine.loading import load_weights
from engine.model import SlotModel
from engine.quantisation import is_quantised
from engine.settings import ModelSettings
from tests.networks import ARCHITECTURES, save_network
from tests.rows import passes, rows_with_small_ids

bnb = pytest.importorskip("bitsandbytes")
pytest.importorskip("accelerate")


@pytest.fixture(scope="module", params=ARCHITECTURES)
def folder(request, tmp_path_factory):
    return save_network(tmp_path_factory.mktemp("tiny"), request.param)


@pytest.fixture(autouse=True)
def float32(monkeypatch):
    """Unpack to float32 on every machine: what is compared must not depend on a stop-watch."""
    monkeypatch.setattr(loading, "compute_dtype", lambda _device: torch.float32)


def load(folder, quantise):
    settings = ModelSettings(directory=folder, device="cpu", quantise=quantise)
    return load_weights(settings).network


def whole_weight(layer):
    """What a packed layer's weights stand for."""
    if isinstance(layer, bnb.nn.Linear4bit):
        return bnb.functional.dequantize_4bit(layer.weight.data, layer.weight.quant_state)
    scale = layer.weight.SCB if layer.weight.SCB is not None else layer.state.SCB
    return layer.weight.data.float() * (scale / 127)[:, None]


def unpacked(folder, packed):
    """A whole network that computes with the numbers of a packed one."""
    network = load(folder, "none")
    for path, layer in packed.named_modules():
        if is_quantised(layer):
            network.get_submodule(path).weight.data.copy_(whole_weight(layer))
    return network


@pytest.mark.slow
@pytest.mark.parametrize(("quantise", "tolerance"), [("nf4", 1e-4), ("int8", 0.4)])
def test_a_packed_model_computes_with_the_numbers_its_codes_stand_for(folder, quantise, tolerance):
    """int8 rounds what goes into a layer, too, and attention of random weights is sharp: wide."""
    packed = load(folder, quantise)
    reference = unpacked(folder, packed)
    for seed in range(3):
        rows = rows_with_small_ids(seed)
        ours, wanted = (SlotModel(network, len(rows)) for network in (packed, reference))
        for fed in passes(rows):
            logits = wanted.feed(fed)
            assert (ours.feed(fed) - logits).norm() < tolerance * logits.norm()


@pytest.mark.parametrize("quantise", ["nf4", "int8"])
def test_all_linear_layers_of_the_blocks_are_packed_and_no_other(folder, quantise):
    network = load(folder, quantise)
    linear = {
        path: is_quantised(layer)
        for path, layer in network.named_modules()
        if isinstance(layer, nn.Linear)
    }
    assert not linear.pop("lm_head")
    assert len(linear) >= 4
    assert all(linear.values())


@pytest.mark.slow
def test_the_estimate_is_what_the_tensors_take(folder):
    for quantise in ("none", "nf4", "int8"):
        network = load(folder, quantise)
        taken = sum(parameter.numel() * parameter.element_size() for parameter in tensors(network))
        estimate = read_footprint(folder).n_bytes(quantise, 4, capacity=0)
        assert estimate == pytest.approx(taken, rel=0.02)


def tensors(network):
    """Parameters, each once, with the scales of packed ones."""
    for parameter in network.parameters():
        yield parameter
        state = getattr(parameter, "quant_state", None)
        if state is not None:
            yield from (state.absmax, state.state2.absmax)
        if getattr(parameter, "SCB", None) is not None:
            yield parameter.SCB


@pytest.mark.parametrize("quantise", ["nf4", "int8"])
def test_a_missing_library_is_told_before_anything_is_loaded(folder, monkeypatch, quantise):
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(ModelError, match=r"needs bitsandbytes: install it with pip install"):
        load(folder, quantise)


def test_a_processor_is_asked_what_it_multiplies_faster():
    assert compute_dtype(torch.device("cpu")) in (torch.float32, torch.bfloat16)
