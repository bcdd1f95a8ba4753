import random
import sys
import tracemalloc
from dataclasses import replace
from functools import partial

import pytest
import torch
from safetensors.torch import save_file

from engine.models.adapters.lora import Lora, fit_lora
from engine.models.fingerprint import linear_layers
from engine.untrusted.faults import Fault
from engine.untrusted.file_headers import SafetensorsHeader, TensorEntry, read_header
from tests.support.adapter_folders import BASE, CONFIG, factors
from tests.support.strangers import refused

LORA = Lora(rank=2, alpha=4.0, targets=frozenset({"q_proj", "v_proj"}))
NAME = "base_model.model.model.layers.{}.self_attn.{}.lora_{}.weight"


@pytest.fixture
def fitted(tmp_path):
    """Holds tensors against settings and base."""

    def fit(tensors, lora=LORA, base=BASE):
        path = tmp_path / "x.safetensors"
        save_file(tensors, path)
        return fit_lora(lora, read_header(path), base)

    return fit


@pytest.fixture
def refusal(fitted):
    return partial(refused, ValueError, fitted)


def random_base(rng):
    architecture = rng.choice(
        ["llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3_text", "falcon"]
    )
    kv_heads = rng.choice([1, 2])
    return replace(
        BASE, architecture=architecture, layers=rng.randint(1, 3),
        hidden_size=8 * rng.randint(1, 4), heads=kv_heads * rng.randint(1, 3), kv_heads=kv_heads,
        head_size=rng.choice([4, 8]), feed_forward=rng.choice([12, 20]),
    )  # fmt: skip


def random_case(rng):
    """Base, settings and the factors that fit both."""
    base = random_base(rng)
    names = [name.split(".")[-1] for name in linear_layers(base).shapes]
    targets = rng.sample(names, rng.randint(1, len(names)))
    layers = rng.sample(range(base.layers), rng.randint(1, base.layers))
    config = CONFIG | {"r": rng.randint(1, 8), "target_modules": targets}
    some = rng.random() < 0.3
    if some:
        config["layers_to_transform"] = sorted(layers)
    lora = Lora(
        rank=config["r"], alpha=1.0, targets=frozenset(targets),
        layers=frozenset(layers) if some else None,
    )  # fmt: skip
    return base, lora, factors(base, config)


def test_factors_that_fit_are_accepted_with_and_without_a_base(fitted):
    rng = random.Random(0)
    for _ in range(60):
        base, lora, tensors = random_case(rng)
        found = fitted(tensors, lora, base)
        assert found == fitted(tensors, lora, None)
        assert found.n_parameters == sum(tensor.numel() for tensor in tensors.values())
        assert found.layers == tuple(sorted(lora.layers or range(base.layers)))
        assert found.dtypes == ("F32",)
        assert len(found.modules) * len(found.layers) * 2 == len(tensors)


def test_a_factor_that_is_missing_is_named(refusal):
    rng = random.Random(1)
    for _ in range(40):
        base, lora, tensors = random_case(rng)
        lost = rng.choice(sorted(tensors))
        del tensors[lost]
        if tensors:
            told = refusal(tensors, lora=lora, base=base)
            assert lost in told or "another number of layers" in told  # a whole layer was lost


def test_a_factor_of_another_shape_is_named(refusal):
    rng = random.Random(2)
    for _ in range(40):
        base, lora, tensors = random_case(rng)
        name = rng.choice(sorted(tensors))
        height, width = tensors[name].shape
        shape = rng.choice([(height + 1, width), (height, width + 1), (height, width, 1), (width,)])
        tensors[name] = torch.zeros(shape)
        assert f"has '{name}' in the shape {list(shape)}" in refusal(tensors, lora=lora, base=base)


def test_the_rank_of_the_factors_must_be_that_of_the_settings(refusal):
    told = refusal(factors(), lora=replace(LORA, rank=3))
    assert "in the shape [2, 64], and [3, 64] was expected" in told
    assert "[3, ?] was expected" in refusal(factors(), lora=replace(LORA, rank=3), base=None)


def test_a_rank_wider_than_the_base_is_refused(refusal):
    assert "has the rank 65, and the base is 64 wide" in refusal(
        factors(config=CONFIG | {"r": 65}), lora=replace(LORA, rank=65)
    )


@pytest.mark.parametrize("n_layers", [1, 3])
def test_a_base_of_more_or_fewer_layers_is_told_in_words(refusal, n_layers):
    told = refusal(factors(), base=replace(BASE, layers=n_layers))
    assert told == str(
        Fault.UNFIT(detail=f"fits a base with another number of layers: 2, not {n_layers}")
    )


def test_chosen_layers_must_be_layers_of_the_base(refusal):
    config = CONFIG | {"layers_to_transform": [1]}
    lora = replace(LORA, layers=frozenset({1}))
    assert "for layer 1, and the base ends with layer 0" in refusal(
        factors(config=config), lora=lora, base=replace(BASE, layers=1)
    )


def test_shared_key_heads_have_narrower_factors(refusal):
    told = refusal(factors(), base=replace(BASE, kv_heads=4))
    assert "v_proj.lora_B.weight' in the shape [32, 2], and [64, 2] was expected" in told


def test_targets_may_be_whole_paths(fitted, refusal):
    paths = frozenset({"model.layers.1.self_attn.q_proj", "1.self_attn.v_proj"})
    tensors = factors(config=CONFIG | {"layers_to_transform": [1]})
    for base in (BASE, None):
        found = fitted(tensors, replace(LORA, targets=paths), base)
        assert found.layers == (1,)
        other = replace(LORA, targets=paths | {"model.layers.0.self_attn.q_proj"})
        assert "lacks the tensor 'base_model.model.model.layers.0.self_attn" in refusal(
            tensors, lora=other, base=base
        )
        nowhere = replace(LORA, targets=paths | {"model.layers.2.self_attn.q_proj"})
        assert "which is no layer of it" in refusal(tensors, lora=nowhere, base=base)


def test_a_target_that_the_base_does_not_have_is_refused(refusal):
    lora = replace(LORA, targets=LORA.targets | {"lm_head"})
    for base in (BASE, None):
        assert "target 'lm_head', which is no layer" in refusal(factors(), lora=lora, base=base)


def test_a_factor_that_no_target_names_is_refused(refusal):
    lora = replace(LORA, targets=frozenset({"q_proj"}))
    for base in (BASE, None):
        assert "self_attn.v_proj', which is no target" in refusal(factors(), lora=lora, base=base)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("model.embed_tokens.lora_embedding_A", "model.embed_tokens"),
        ("model.embed_tokens.base_layer.weight", "model.embed_tokens"),
        ("model.embed_tokens.weight", "model.embed_tokens"),
        ("lm_head.weight", "lm_head"),
        ("lm_head.lora_B.weight", "lm_head"),
        ("model.layers.0.self_attn.q_proj.weight", "model.layers.0.self_attn.q_proj"),
        ("model.layers.0.self_attn.q_proj.bias", "model.layers.0.self_attn.q_proj"),
    ],
)
def test_what_changes_more_than_linear_layers_of_blocks_is_sound_and_not_supported(
    refusal, name, path
):
    tensors = factors() | {f"base_model.model.{name}": torch.zeros(2, 64)}
    detail = f"changes '{path}', and only factors of the linear layers of blocks are supported"
    for base in (BASE, None):
        assert refusal(tensors, base=base) == str(Fault.UNSUPPORTED(detail=detail))


@pytest.mark.parametrize(
    "name",
    [
        "x",
        "../../etc/passwd",
        NAME.format(0, "q_proj", "A") + "\x1b[2J",
        NAME.format(0, "q_proj", "C"),
        NAME.format("00", "q_proj", "A"),
        NAME.format("٣", "q_proj", "A"),
        NAME.format(0, "../q_proj", "A"),
        NAME.format(12345, "q_proj", "A"),
        NAME.format(0, "q_proj" * 60, "A"),
        "base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector",
        "model.layers.0.self_attn.q_proj.lora_A.weight",
        "a." * 100_000,
    ],
)
def test_a_name_that_is_no_factor_is_refused(refusal, name):
    assert "which is no factor of a layer" in refusal(factors() | {name: torch.zeros(2, 64)})


def test_factors_are_floats(refusal):
    whole = {name: tensor.to(torch.int8) for name, tensor in factors().items()}
    assert "of type I8" in refusal(whole)


def test_factors_lie_in_one_list_of_layers(refusal):
    other = {name.replace("model.layers", "model.blocks"): tensor
             for name, tensor in factors().items()}  # fmt: skip
    assert "'model.blocks', and the base has them at model.layers" in refusal(other)
    assert "factors in 2 lists" in refusal(factors() | other)
    assert "no factor" in refusal({})


def test_an_architecture_that_is_not_known_is_held_against_itself(fitted, refusal):
    base = replace(BASE, architecture="gpt9")
    assert fitted(factors(), base=base).modules == ("self_attn.q_proj", "self_attn.v_proj")
    tensors = factors()
    del tensors[NAME.format(1, "q_proj", "B")]
    assert "lacks the tensor" in refusal(tensors, base=base)
    assert "2, not 5" in refusal(factors(), base=replace(base, layers=5))


# --- a header as long as is read ------------------------------------------------------------------


def header_of(places, rank=2):
    """What a file would say that has both factors of these layers."""
    entry = {"A": TensorEntry("F32", (rank, 64), 0, 0), "B": TensorEntry("F32", (64, rank), 0, 0)}
    tensors = {
        f"base_model.model.m.h.{layer}.{module}.lora_{factor}.weight": entry[factor]
        for layer, module in places
        for factor in "AB"
    }
    return SafetensorsHeader(tensors=tensors, n_bytes=0)


def run_in_steps(most, call):
    """Call, and fail as soon as more lines of our code than this were run."""
    count = 0

    def trace(frame, event, _argument):
        nonlocal count
        if "engine" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        assert count <= most
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)


def lora_of(targets, layers=None):
    return Lora(rank=2, alpha=4.0, targets=frozenset(targets), layers=layers)


GPT9 = replace(BASE, architecture="gpt9", layers=1024)
MODULES = [f"m{number}" for number in range(1000)]
LAST = [(9999, module) for module in MODULES]
LONG = [(9999, "a." * 100 + module) for module in MODULES]
FEW_IN_ALL = [(0, module) for module in MODULES] + [(layer, "m0") for layer in range(1, 1024)]
BOMBS = {
    "every module in ten thousand layers": (lora_of(MODULES), LAST, None),
    "every module in the layers of a card": (lora_of(MODULES), FEW_IN_ALL, GPT9),
    "one module in ten thousand layers": (lora_of(["m1"]), LAST, None),
    "every layer by its own name": (lora_of(f"9999.{module}" for module in MODULES), LAST, None),
    "long paths": (lora_of(["m0", "x"]), LONG, None),
    "long targets": (lora_of("1." * 120 + module for module in MODULES), LAST[:1], None),
    "all layers chosen": (lora_of(MODULES, frozenset(range(10_000))), LAST, None),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_judging_takes_steps_for_what_is_there_and_not_for_what_could_be_named(bomb):
    lora, places, base = bomb
    header = header_of(places)
    told = []

    def judge():
        try:
            fit_lora(lora, header, base)
        except ValueError as error:
            told.append(str(error))

    n_letters = sum(map(len, [*header.tensors, *lora.targets]))
    tracemalloc.start()
    try:
        run_in_steps(n_letters + 4 * 10_000, judge)  # 10,000 layers at most
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 32 << 20
    assert all(len(sentence) < 300 for sentence in told)


def test_ten_thousand_layers_that_are_all_there_are_accepted():
    header = header_of([(layer, "m0") for layer in range(10_000)])
    found = fit_lora(Lora(rank=2, alpha=4.0, targets=frozenset({"m0"})), header, None)
    assert (found.modules, found.layers) == (("m0",), tuple(range(10_000)))
