"""The shape of a plain Llama and its weights, whole or in 8 bits, without a runtime."""

import json

import numpy as np
import pytest
from safetensors.numpy import save

from engine.models.llama import parse_llama_weights, read_llama_file, read_llama_shape

CONFIG = {
    "hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2,
    "intermediate_size": 12, "vocab_size": 10, "rms_norm_eps": 1e-5, "rope_theta": 500.0,
    "max_position_embeddings": 64, "model_type": "llama",
}  # fmt: skip
UP = "model.layers.1.mlp.up_proj.weight"


def shape_of(folder, **changes):
    (folder / "config.json").write_text(json.dumps(CONFIG | changes))
    return read_llama_shape(folder)


def weights_of(shape, seed=0):
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(size=sizes).astype(np.float32) for name, sizes in shape.tensors.items()
    }


def test_a_shape_is_read_and_promises_each_tensor_once(tmp_path):
    shape = shape_of(tmp_path)
    assert (shape.heads, shape.kv_heads, shape.head_size, shape.tied) == (4, 2, 2, False)
    assert (shape.epsilon, shape.theta, shape.max_positions) == (1e-5, 500.0, 64)
    block = 8 * 8 + 4 * 8 + 4 * 8 + 8 * 8 + 3 * 8 * 12 + 2 * 8
    assert shape.n_parameters == 2 * block + 2 * 10 * 8 + 8
    assert len(shape.tensors) == 2 * 9 + 3
    assert shape.tensors["model.layers.0.self_attn.k_proj.weight"] == (4, 8)
    tied = shape_of(tmp_path, tie_word_embeddings=True, head_dim=4, num_key_value_heads=None)
    assert (tied.tied, tied.head_size, tied.kv_heads) == (True, 4, 4)
    assert "lm_head.weight" not in tied.tensors
    assert tied.tensors["model.layers.0.self_attn.o_proj.weight"] == (8, 16)


@pytest.mark.parametrize("key", ["rope_parameters", "rope_scaling"])
def test_the_base_of_the_angles_may_stand_in_a_part_of_its_own(tmp_path, key):
    assert shape_of(tmp_path, **{key: {"rope_theta": 7.0}}).theta == 7.0
    assert shape_of(tmp_path, **{key: {"rope_type": "default"}}).theta == 500.0


def test_the_older_of_the_two_parts_wins_as_in_transformers(tmp_path):
    both = {"rope_scaling": {"rope_theta": 7.0}, "rope_parameters": {"rope_theta": 9.0}}
    assert shape_of(tmp_path, **both).theta == 7.0
    assert shape_of(tmp_path, **(both | {"rope_scaling": {}})).theta == 9.0
    assert shape_of(tmp_path, **(both | {"rope_scaling": {"type": "default"}})).theta == 500.0


@pytest.mark.parametrize(
    "changes",
    [
        {"model_type": "mistral"},
        {"hidden_act": "gelu"},
        {"attention_bias": True},
        {"mlp_bias": True},
        {"quantization_config": {}},
        {"head_dim": 3},
        {"num_key_value_heads": 3},
        {"rope_scaling": {"rope_type": "linear", "factor": 2}},
        {"rope_scaling": {"type": "linear", "factor": 2.0}},  # as it was written before 2024
        {"rope_parameters": {"type": "dynamic", "rope_theta": 7.0}},
        {"rope_parameters": {"rope_theta": 7.0}, "rope_scaling": {"type": "yarn"}},
        {"rope_parameters": {"rope_type": "llama3"}, "rope_scaling": {"rope_theta": 7.0}},
        {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}},
    ],
    ids=str,
)
def test_what_is_no_plain_llama_is_refused(tmp_path, changes):
    with pytest.raises(ValueError, match="which is not supported"):
        shape_of(tmp_path, **changes)


@pytest.mark.parametrize("key", [*(key for key in CONFIG if type(CONFIG[key]) is int), "head_dim"])
def test_a_size_that_no_network_has_is_refused(tmp_path, key):
    with pytest.raises(ValueError, match=f"'{key}' should be a whole number"):
        shape_of(tmp_path, **{key: (1 << 24) + 1})


def in_8_bits(weights, **changes):
    """The weights with one matrix in 8 bits."""
    codes = np.arange(96, dtype=np.int8).reshape(12, 8) - 48
    scales = np.linspace(0.5, 2, 12, dtype=np.float32)
    rest = {name: one for name, one in weights.items() if name != UP}
    packed = rest | {UP + ".codes": codes, UP + ".scales": scales} | changes
    return {name: one for name, one in packed.items() if one is not None}, codes * scales[:, None]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_whole_weights_are_read_as_float32_and_packed_ones_unpacked(tmp_path, dtype):
    shape = shape_of(tmp_path)
    weights = {name: one.astype(dtype) for name, one in weights_of(shape).items()}
    found = parse_llama_weights(save(weights), shape)
    assert {one.dtype for one in found.values()} == {np.dtype(np.float32)}
    assert all(np.array_equal(found[name], weights[name].astype(np.float32)) for name in weights)
    packed, matrix = in_8_bits(weights)
    np.testing.assert_array_equal(parse_llama_weights(save(packed), shape)[UP], matrix)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"more": np.zeros(1, np.float32)}, "no place for its weights 'more'"),
        ({"model.norm.weight": None}, "its weights lack 'model.norm.weight'"),
        ({"model.norm.weight": np.zeros(9, np.float32)}, "'model.norm.weight' in another shape"),
        ({UP + ".scales": np.ones(11, np.float32)}, "one scale of type F32 for each row"),
        ({UP + ".scales": np.ones(12, np.float16)}, "one scale of type F32 for each row"),
        ({UP + ".scales": None}, "one scale of type F32 for each row"),
        ({UP + ".codes": np.ones(12, np.int8)}, "codes of type I8"),
        ({UP + ".codes": np.ones((12, 8), np.int16)}, "codes of type I8"),
        ({UP: np.ones((12, 8), np.float32)}, "twice, whole and in 8 bits"),
        ({UP + ".scales": np.zeros(12, np.float32)}, "not all finite and more than 0"),
        ({"model.norm.weight": np.zeros(8, np.int32)}, "the unknown type I32"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_weights_of_another_network_are_refused(tmp_path, changes, said):
    shape = shape_of(tmp_path)
    packed, _ = in_8_bits(weights_of(shape), **changes)
    with pytest.raises(ValueError, match=said):
        parse_llama_weights(save(packed), shape)


def test_a_file_longer_than_any_of_its_shape_is_not_read(tmp_path):
    shape, path = shape_of(tmp_path), tmp_path / "model.safetensors"
    path.write_bytes(b"x" * ((1 << 20) + 8 * shape.n_parameters))
    assert len(read_llama_file(tmp_path, shape)) == path.stat().st_size
    with path.open("ab") as file:
        file.write(b"x")
    with pytest.raises(ValueError, match="longer"):
        read_llama_file(tmp_path, shape)
