"""Packed models through the slot engine, on every architecture and on every kind of processor."""

import importlib
import random
import sys

import pytest
import torch
from torch import nn

from benchmarks.random_models import pack_layer
from engine.errors import ModelError
from engine.runtime.loader import load_by_torch
from engine.runtime.torch import torch_loader
from engine.runtime.torch.linear_layers import (
    TorchAdaptedLayers,
    is_quantised,
    quantisation_config,
)
from engine.runtime.torch.torch_store import slot_model
from engine.runtime.weights import Factors
from engine.settings import ModelSettings
from tests.support.networks import ARCHITECTURES, save_network
from tests.support.rows import passes, rows_with_small_ids

bnb = pytest.importorskip("bitsandbytes")
pytest.importorskip("accelerate")


PACKED = [one for one in ARCHITECTURES if "falcon" not in one]


@pytest.fixture(scope="module", params=PACKED)
def folder(request, tmp_path_factory):
    return save_network(tmp_path_factory.mktemp("tiny"), request.param)


@pytest.fixture(autouse=True)
def float32(monkeypatch):
    """Unpack to float32 on every machine: what is compared must not depend on a stop-watch."""
    monkeypatch.setattr(torch_loader, "compute_dtype", lambda _device: torch.float32)


def load(folder, quantise):
    settings = ModelSettings(directory=folder, device="cpu", quantise=quantise)
    return load_by_torch(settings).network


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
    rows = rows_with_small_ids(0)
    ours, wanted = (slot_model(network, len(rows)) for network in (packed, reference))
    for fed in passes(rows):
        logits = wanted.feed(fed)
        assert (ours.feed(fed) - logits).norm() < tolerance * logits.norm()


# --- layers of 4 bits on processors of both kinds -------------------------------------------------


@pytest.fixture(params=[True, False], ids=["with bf16", "without bf16"])
def processor(request, monkeypatch):
    """A processor of which bitsandbytes believes that it has instructions for bfloat16, or not."""
    for module in (bnb.nn.modules, bnb.functional):
        monkeypatch.setattr(module, "has_avx512bf16", lambda: request.param)
    return request.param


def packed_layer(n_in, n_out, dtype=torch.float32):
    torch.manual_seed(n_in)
    whole = nn.Linear(n_in, n_out, dtype=dtype).requires_grad_(False)
    return pack_layer(whole, "nf4").to("cpu").eval()


def product(layer, rows):
    """What a layer's weights give, computed in float64."""
    weight = whole_weight(layer).double()
    return nn.functional.linear(rows.double(), weight, layer.bias.double())


def far(found, wanted):
    return float((found.double() - wanted).norm() / wanted.norm())


@pytest.mark.usefixtures("processor")
def test_a_layer_of_any_shape_computes_in_evaluation_what_its_codes_stand_for():
    rng = random.Random(0)
    shapes = [(rng.randint(1, 200), rng.randint(1, 200)) for _ in range(30)]
    for shape in [*shapes, (96, 288), (64, 64), (1, 1)]:
        layer, rows = packed_layer(*shape), torch.randn(3, shape[0])
        # odd ones fall back to a function that torch would compile, for seconds
        with torch.inference_mode(), torch.compiler.set_stance("force_eager"):
            assert far(layer(rows), product(layer, rows)) < 1e-5


@pytest.mark.usefixtures("processor")
def test_gradients_pass_through_a_layer_that_was_evaluated_before():
    layer, rows = packed_layer(128, 96), torch.randn(5, 128)
    weight = whole_weight(layer)
    with torch.inference_mode():
        layer(rows)
    layer.train()
    rows = rows.clone().requires_grad_()
    layer(rows).backward(torch.ones(5, 96))
    torch.testing.assert_close(rows.grad, torch.ones(5, 96) @ weight, rtol=1e-5, atol=1e-5)


def test_factors_run_beside_a_packed_layer_and_are_taken_off_again():
    network, rows = nn.Sequential(nn.Linear(64, 64), packed_layer(64, 32)), torch.randn(5, 64)
    bare, layers = network(rows), TorchAdaptedLayers(network, keep_base=True)
    for scale in (0.5, -2.0):
        down, up = torch.randn(2, 64), torch.randn(32, 2)
        layers.put({"1": Factors(down.numpy(), up.numpy(), scale)})
        beside = scale * network[0](rows) @ (up @ down).T
        torch.testing.assert_close(network(rows), bare + beside)
    layers.put({})
    assert torch.equal(network(rows), bare)


@pytest.mark.usefixtures("processor")
def test_a_model_as_it_is_loaded_multiplies_nothing_packed(folder):
    network = load(folder, "nf4")
    layers = [layer for layer in network.modules() if is_quantised(layer)]
    assert layers
    assert not any(layer.support_avx512bf16_for_cpu for layer in layers)


BNB = """
import logging
try:
    import kernels
except ImportError:
    logging.getLogger("bitsandbytes.backends.cpu.ops").warning("pip install kernels")
"""


@pytest.mark.parametrize("there", [True, False], ids=["kernels", "no kernels"])
def test_the_library_is_imported_without_code_of_a_hub_and_without_a_word(
    tmp_path, monkeypatch, caplog, there
):
    """As bitsandbytes does on a processor with bf16 instructions; ``kernels`` gets its code."""
    (tmp_path / "bitsandbytes.py").write_text(BNB)
    (tmp_path / "kernels.py").write_text("code = 'from a hub'")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bitsandbytes")
    monkeypatch.delitem(sys.modules, "kernels", raising=False)
    if there:
        monkeypatch.setitem(sys.modules, "kernels", importlib.import_module("kernels"))
    quantisation_config("nf4", torch.float32)
    assert not hasattr(sys.modules["bitsandbytes"], "kernels")
    assert ("kernels" in sys.modules) is there
    assert not caplog.records


@pytest.mark.parametrize("quantise", ["nf4", "int8"])
def test_a_large_model_is_packed_though_its_layers_are_built_anew_for_it(
    folder, quantise, monkeypatch
):
    """The room that a limit of growth leaves beside the weights is more than a tiny model."""
    monkeypatch.setattr(torch_loader, "_ROOM", 5_000)
    load(folder, quantise)


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


def test_a_model_whose_layers_are_of_its_own_kind_is_refused_in_4_bits(tmp_path):
    with pytest.raises(ModelError, match="a falcon cannot be packed: use --quantize none"):
        load(save_network(tmp_path, "falcon"), "nf4")
