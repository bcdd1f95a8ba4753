"""ONNX Runtime computes what torch computes, whatever is fed: guards graph, cache and loader.

Both networks get the same rows, in lockstep, and torch's choice is written: so one near tie cannot
part the two, and every pass of every utterance is compared.
"""

import random

import numpy as np
import onnxruntime
import pytest

from engine.layout.rows import Row
from engine.models.fingerprint import read_fingerprint
from engine.runtime.causal_model import Ask
from engine.runtime.loader import load_weights
from engine.session.loaded_model import AdapterSwitcher
from engine.settings import LayoutSettings, ModelSettings
from engine.translation.retranslator import Retranslator
from tests.support.adapter_folders import CONFIG, factors, write_adapter
from tests.support.fakes import bare_prompt, play, save_plain_model
from tests.support.networks import N_IDS, save_network
from tests.support.rows import passes, sample
from tests.support.twins import Twins, both, twin
from training.research.adaptive import AdaptiveTranslator, PolicyHead
from training.research.methods import LAYOUTS
from training.trainer.export import export_folder

CASES = 24


@pytest.mark.slow
def test_random_utterances_with_edits_and_overflow_are_computed_alike(plain_model):
    weights = both(plain_model)
    compared = truncated = 0
    for seed in range(CASES):
        rng = random.Random(seed)
        policy = rng.choice(["read:1", "read:2", "read:3", "wait:1", "wait:3"])
        layout = LayoutSettings(slot_length=rng.randint(3, 16))
        system = twin(weights, policy=policy, layout=layout)
        play(system, rng, rng.randint(1, 2))
        compared += system.model.compared
        truncated += system.model.truncated
    assert compared > 90
    assert truncated > 6


@pytest.mark.parametrize(
    ("policy", "n_turns", "capacity"),
    [("read:2", 16, 112), ("wait:2", 16, 90)],
)
def test_an_utterance_longer_than_the_cache_is_computed_alike_after_evictions(
    plain_model, policy, n_turns, capacity
):
    layout = LayoutSettings(slot_length=8)
    system = twin(both(plain_model), policy=policy, layout=layout, capacity=capacity)
    play(system, random.Random(1), n_turns)
    assert system.model.evicted > 3


@pytest.fixture(scope="module")
def gemma(tmp_path_factory):
    """Local layers see 8 positions, and turn by other angles than the others."""
    return save_network(tmp_path_factory.mktemp("gemma"), "gemma3")


def test_gemma_3_is_computed_alike_with_edits_overflow_and_evictions(gemma):
    weights = both(gemma)
    compared = 0
    for seed in range(8):
        rng = random.Random(seed)
        layout = LayoutSettings(slot_length=rng.randint(3, 16))
        system = twin(weights, policy=rng.choice(["read:2", "wait:2"]), layout=layout)
        play(system, rng, 2)
        compared += system.model.compared
    assert compared > 60
    system = twin(weights, policy="read:2", layout=LayoutSettings(slot_length=8), capacity=90)
    play(system, random.Random(1), 16)
    assert system.model.evicted > 3


def test_gemma_3_kept_in_8_bits_is_the_same_network_for_both(gemma, tmp_path):
    export_folder(gemma, tmp_path / "small", bits=8)
    system = twin(both(tmp_path / "small"), policy="read:2")
    for seed in range(4):
        play(system, random.Random(seed), 2)
    assert system.model.compared > 30


def test_gemma_3_in_4_bits_is_computed_to_the_tolerance_of_rows_that_are_rounded_to_8(
    gemma, tmp_path
):
    """Torch computes the numbers that the codes stand for, ONNX Runtime by rows of 8 bits."""
    small = tmp_path / "small"
    export_folder(gemma, small, bits=4)
    light, heavy = both(small)
    rng = random.Random(3)
    furthest = 0.0
    for _ in range(6):
        mine, its, single = light.new_model(300), heavy.new_model(300), light.new_model(300)
        for rows in passes(sample("slots", rng)):
            found, wanted = mine.feed(rows), its.feed(rows).numpy()
            assert np.abs(found - wanted).max() < 0.05 * np.abs(wanted).max()
            for row in rows:
                alone = single.feed([row])
            furthest = max(furthest, np.abs(found - alone).max() / np.abs(wanted).max())
    assert furthest < 0.02  # together and one by one


def test_the_runtime_is_given_the_4_bits_and_the_table_in_8(gemma, tmp_path, monkeypatch):
    export_folder(gemma, tmp_path / "small", bits=4)
    arrays, make = list[np.ndarray](), onnxruntime.OrtValue.ortvalue_from_numpy
    monkeypatch.setattr(
        onnxruntime.OrtValue, "ortvalue_from_numpy", lambda it: arrays.append(it) or make(it)
    )
    shape = load_weights(ModelSettings(directory=tmp_path / "small")).network.shape
    assert not [it for it in arrays if it.dtype == np.float32 and it.ndim > 1]
    n_table = shape.vocabulary * shape.hidden
    n_layers = sum(np.prod(one) for one in shape.linear_layers.values()) * shape.layers
    n_codes = {kind: sum(it.size for it in arrays if it.dtype == kind) for kind in "bB"}
    assert n_codes["b"] == n_table
    assert n_codes["B"] >= n_table + n_layers / 2


def test_gemma_3_says_the_same_of_lanes_together_as_of_each_alone(gemma):
    light, heavy = both(gemma)
    rng = random.Random(5)
    stores = [weights.new_store(3, 200) for weights in (light, heavy)]
    alone = [light.new_model(200) for _ in range(3)]
    waiting = [passes(sample("slots", rng)) for _ in alone]
    while all(waiting):
        fed = [(lane, waiting[lane].pop(0)) for lane in range(3)]
        here, there = (
            [one.logits for one in store.feed([Ask(*each) for each in fed])] for store in stores
        )
        for (lane, rows), mine, its in zip(fed, here, there, strict=True):
            assert np.abs(mine - its.numpy()).max() < 1e-3
            assert np.abs(mine - alone[lane].feed(rows)).max() < 1e-4


@pytest.mark.usefixtures("papers")
def test_the_states_that_a_head_reads_are_computed_alike(plain_model):
    layout = LayoutSettings(slot_length=4)
    system = twin(both(plain_model), AdaptiveTranslator, policy="adaptive:0.5", layout=layout)
    system.head = PolicyHead(np.random.default_rng(3).normal(size=(2, 64)) * 0.3)
    for seed in range(6):
        play(system, random.Random(seed), 2)
    assert system.model.states_compared > 20


def test_translating_again_at_each_word_is_computed_alike(plain_model):
    system = twin(both(plain_model), Retranslator, policy="wait:2")
    for seed in range(8):
        play(system, random.Random(seed), 2)
    assert system.model.compared > 100


def test_tied_weights_are_computed_alike(tmp_path):
    system = twin(both(save_plain_model(tmp_path, tied=True)), policy="read:2")
    for seed in range(5):
        play(system, random.Random(seed), 2)
    assert system.model.compared > 40


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"use_rslora": True},
        {"target_modules": ["q_proj", "k_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]},
    ],
)
def test_an_adapter_is_computed_alike(plain_model, tmp_path, config):
    base = read_fingerprint(plain_model)
    tensors = factors(base, CONFIG | config, scale=0.3)
    write_adapter(tmp_path / "a", base, config=config, tensors=tensors)
    system = twin(both(plain_model, adapter=tmp_path / "a"), policy="read:2")
    for seed in range(5):
        play(system, random.Random(seed), 2)
    bare = load_weights(ModelSettings(directory=plain_model, device="cpu"))
    rows = [Row(5 + n, n, 0) for n in range(9)]
    adapted = system.weights.new_model(9)
    assert np.abs(adapted.feed(rows) - bare.new_model(9).feed(rows)).max() > 0.1


def test_switching_adapters_leaves_no_trace_of_the_ones_before(plain_model, tmp_path):
    """To the bit: after a switch the network computes what it computes after a fresh load."""
    base = read_fingerprint(plain_model)
    fresh = {None: load_weights(ModelSettings(directory=plain_model))}
    for number, name in enumerate(("one", "two")):
        config = {"target_modules": [["q_proj", "v_proj"], ["o_proj"]][number]}
        tensors = factors(base, CONFIG | config, scale=0.3)
        write_adapter(tmp_path / name, base, config=config, tensors=tensors, card=False)
        fresh[name] = load_weights(ModelSettings(directory=plain_model, adapter=tmp_path / name))
    rows = [Row(5 + n, n, 0) for n in range(9)]
    wanted = {name: weights.new_model(9).feed(rows) for name, weights in fresh.items()}
    switcher = AdapterSwitcher(load_weights(ModelSettings(directory=plain_model)))
    model = switcher.use(None).new_model(9)
    for name in ("one", "two"):
        switcher.load(tmp_path / name)
        model.truncate(0)
        assert np.array_equal(model.feed(rows), wanted[None])  # the probe left no trace
    for name in ("one", "two", None, "two", "one", None):
        switcher.use(name)
        model.truncate(0)
        assert np.array_equal(model.feed(rows), wanted[name])


@pytest.mark.parametrize("layout", ["slots", *(name for name in LAYOUTS if name != "simulmask")])
def test_every_layout_without_alibi_is_computed_alike(plain_model, layout):
    light, heavy = both(plain_model)
    for seed in range(8):
        twins = Twins(heavy.new_model(300), light.new_model(300))
        for rows in passes(sample(layout, random.Random(seed))):
            twins.feed([row._replace(id=row.id % N_IDS) for row in rows])


def test_rows_of_many_passes_are_computed_alike_when_they_are_fed_again_at_once(plain_model):
    """As for an earlier utterance that is edited: its rows come back in one pass."""
    light, heavy = both(plain_model)
    for seed in range(8):
        twins = Twins(heavy.new_model(300), light.new_model(300))
        twins.feed(sample("slots", random.Random(seed)))
    assert bare_prompt().markers
