"""Several adapters on one base, switched while nothing else is loaded anew."""

import random

import pytest
import torch

from engine.errors import AdapterError
from engine.models.fingerprint import read_fingerprint
from engine.runtime.loader import load_by_torch, load_weights
from engine.runtime.torch.linear_layers import TorchAdaptedLayers
from engine.runtime.torch.torch_store import slot_model
from engine.session.loaded_model import AdapterSwitcher
from engine.settings import ModelSettings
from tests.support.adapter_folders import CONFIG, factors, tiny_card, write_adapter
from tests.support.fakes import save_tiny_model
from tests.support.networks import save_network
from tests.support.rows import rows_with_small_ids

_FALCON = {"target_modules": ["query_key_value", "dense_4h_to_h"]}
_OTHERS = {"target_modules": ["q_proj", "down_proj"], "lora_alpha": 3}


def settings_of(folder, **changes):
    return ModelSettings(directory=folder, device="cpu", **changes)


def add_adapter(folder, base, name, *, config=None, scale=0.05, **changes):
    """An adapter that changes what is said without breaking it."""
    config = CONFIG | (config or {})
    tensors = {key: value * scale for key, value in factors(base, config).items()}
    card = tiny_card(base, name=name, **changes)
    return write_adapter(folder / name, base, config=config, tensors=tensors, card=card)


def heard(weights):
    """What the model answers to some rows, in one tensor."""
    found = []
    for seed in range(3):
        rows = rows_with_small_ids(seed)
        found.append(slot_model(weights.network, len(rows)).feed(rows))
    return torch.stack(found)


@pytest.fixture
def saved(tmp_path):
    return save_tiny_model(tmp_path / "base")


@pytest.fixture
def base(saved):
    return read_fingerprint(saved)


@pytest.fixture
def switcher(saved):
    return AdapterSwitcher(load_weights(settings_of(saved)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("architecture", "quantise"),
    [("llama", "none"), ("gemma3", "none"), ("falcon-alibi", "none"), ("llama", "nf4")],
)
def test_switching_computes_what_a_fresh_load_computes_bit_for_bit(
    tmp_path, architecture, quantise
):
    if quantise == "nf4":
        pytest.importorskip("bitsandbytes")
    saved = save_network(tmp_path / "base", architecture)
    base = read_fingerprint(saved)
    changed = _FALCON if base.architecture == "falcon" else _OTHERS
    first = changed | {"target_modules": changed["target_modules"][:1]}
    folders = {
        "first": add_adapter(tmp_path, base, "first", config=first),
        "second": add_adapter(tmp_path, base, "second", config=changed, scale=0.1),
        None: None,
    }
    fresh = {
        name: heard(load_by_torch(settings_of(saved, adapter=folder, quantise=quantise)))
        for name, folder in folders.items()
    }
    assert not torch.equal(fresh["first"], fresh[None])
    assert not torch.equal(fresh["first"], fresh["second"])
    switcher = AdapterSwitcher(load_by_torch(settings_of(saved, quantise=quantise)))
    for name in ("first", "second"):
        assert switcher.load(folders[name]) == name
    order = [*folders, *folders, "second", "first"]
    random.Random(architecture).shuffle(order)
    for name in order:
        assert torch.equal(heard(switcher.use(name)), fresh[name])


def test_an_adapter_brings_its_card_and_takes_it_along(switcher, base, tmp_path):
    name = switcher.load(add_adapter(tmp_path, base, "mine", slot_length=8))
    bare = switcher.use(None)
    assert switcher.used is None
    adapted = switcher.use(name)
    assert (switcher.names, switcher.used) == (("mine",), "mine")
    assert adapted.card.slot_length == 8
    assert adapted.network is bare.network
    assert switcher.use(None).card == bare.card


@pytest.mark.parametrize("scale", [torch.nan, 3e38])
def test_factors_that_make_no_numbers_are_refused_and_the_old_one_runs_on(
    switcher, base, tmp_path, scale
):
    switcher.load(add_adapter(tmp_path, base, "mine"))
    before = heard(switcher.use("mine"))
    with pytest.raises(AdapterError):
        switcher.load(add_adapter(tmp_path, base, "broken", scale=scale))
    assert switcher.names == ("mine",)
    rows = rows_with_small_ids(0)
    network = switcher.use("mine").network
    assert torch.equal(slot_model(network, len(rows)).feed(rows), before[0])


def test_memory_that_runs_out_in_a_switch_leaves_the_old_one_running(
    switcher, base, tmp_path, monkeypatch
):
    for name, scale in (("mine", 0.05), ("other", 0.1)):
        switcher.load(add_adapter(tmp_path, base, name, scale=scale))
    weights = switcher.use("mine")
    before = heard(weights)
    merge, calls = TorchAdaptedLayers._merge, []

    def fail_once(layers, path, pair):
        calls.append(path)
        if len(calls) == 3:
            msg = "CUDA out of memory."
            raise torch.OutOfMemoryError(msg)
        merge(layers, path, pair)

    monkeypatch.setattr(TorchAdaptedLayers, "_merge", fail_once)
    with pytest.raises(AdapterError, match="mine stays in use"):
        switcher.use("other")
    assert switcher.used == "mine"
    assert torch.equal(heard(weights), before)


def test_a_base_into_which_an_adapter_is_merged_takes_no_other(saved, base, tmp_path):
    weights = load_weights(settings_of(saved, adapter=add_adapter(tmp_path, base, "mine")))
    with pytest.raises(AdapterError, match="load the base without an adapter"):
        AdapterSwitcher(weights)
