"""The graph of the network as a file: what it declares, read by the runtime."""

import pytest

from engine.runtime.loader import load_weights
from engine.runtime.onnx.onnx_graph import (
    CARRIES,
    KEYS,
    NEWEST,
    QUERIES,
    STATES,
    VECTORS,
    cache_names,
    new_name,
)
from engine.settings import ModelSettings
from tests.support.fakes import save_plain_model


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    folder = save_plain_model(tmp_path_factory.mktemp("graph"))
    return load_weights(ModelSettings(directory=folder, device="cpu")).network


def test_the_graph_declares_the_inputs_and_outputs_that_it_describes(network):
    shape = network.shape
    cache = ["B", shape.kv_heads, "C", shape.head_size]
    names = [name for layer in range(shape.layers) for name in cache_names(layer)]
    inputs = {one.name: one.shape for one in network.session.get_inputs()}
    outputs = {one.name: one.shape for one in network.session.get_outputs()}
    assert inputs == {
        "ids": ["N"],
        "positions": ["B", "Q"],
        "cos": ["P", shape.head_size // 2],
        "sin": ["P", shape.head_size // 2],
        "mask": ["B", 1, "Q", "K"],
        "last": ["B"],
        "length": [],
        NEWEST: ["B"],
        QUERIES: [3],
        KEYS: [3],
        CARRIES: ["N", 1],
        VECTORS: ["N", shape.hidden],
        **dict.fromkeys(names, cache),
    }
    assert outputs == {
        "logits": ["B", shape.vocabulary],
        **{new_name(name): cache for name in names},
        STATES: ["N", shape.hidden],
    }
