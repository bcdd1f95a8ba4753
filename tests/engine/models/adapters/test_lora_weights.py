import random
from dataclasses import replace
from functools import partial

import pytest
import torch
from safetensors.torch import save_file

from engine.models.adapters.lora import Lora, fit_lora
from engine.models.fingerprint import linear_layers
from engine.untrusted.faults import Fault
from engine.untrusted.file_headers import read_header
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


def test_a_target_that_names_a_layer_of_one_block_is_refused(refusal):
    for target in ("model.layers.1.self_attn.q_proj", "1.self_attn.v_proj"):
        for base in (BASE, None):
            told = refusal(
                factors(), lora=replace(LORA, targets=LORA.targets | {target}), base=base
            )
            assert f"target '{target}', which is no layer" in told


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
