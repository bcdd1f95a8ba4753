import json

import pytest
import torch
from safetensors.torch import save_file

from engine.errors import ModelError
from engine.models.fingerprint import (
    Footprint,
    read_footprint,
    tensor_sizes,
    weight_files,
)

TENSORS = {
    "model.embed_tokens.weight": torch.zeros(10, 4),
    "model.layers.0.self_attn.q_proj.weight": torch.zeros(4, 4),
    "model.layers.0.mlp.down_proj.weight": torch.zeros(4, 6),
    "model.layers.0.norm.weight": torch.zeros(4),
    "model.norm.weight": torch.zeros(4),
}
ONE = "model.safetensors"
INDEX = "model.safetensors.index.json"


def write_index(folder, names):
    (folder / INDEX).write_text(json.dumps({"weight_map": names}))


@pytest.mark.parametrize(
    ("dtype", "n_bytes"), [(torch.float32, 4), (torch.bfloat16, 2), (torch.float64, 8)]
)
def test_matrices_of_blocks_are_counted_apart_from_all_else(tmp_path, dtype, n_bytes):
    save_file({name: one.to(dtype) for name, one in TENSORS.items()}, tmp_path / ONE)
    footprint = read_footprint(tmp_path)
    assert footprint == Footprint(
        n_linear=40, n_rows=8, n_other=48, n_cached=0, stored_bytes=n_bytes, n_tensors=5
    )
    assert footprint.n_parameters == 88
    assert tensor_sizes(tmp_path)["model.layers.0.mlp.down_proj.weight"] == 24


def test_weights_in_several_files_count_as_those_in_one(tmp_path):
    save_file(TENSORS, tmp_path / ONE)
    whole = read_footprint(tmp_path)
    (tmp_path / ONE).unlink()
    names = sorted(TENSORS)
    files = {name: f"part-{number % 2}.safetensors" for number, name in enumerate(names)}
    for file in set(files.values()):
        save_file({name: TENSORS[name] for name in names if files[name] == file}, tmp_path / file)
    write_index(tmp_path, files)
    assert weight_files(tmp_path) == ["part-0.safetensors", "part-1.safetensors"]
    assert read_footprint(tmp_path) == whole
    save_file(TENSORS, tmp_path / ONE)
    assert weight_files(tmp_path) == [ONE]


def test_memory_is_that_of_weights_and_cache_for_each_way_to_load():
    footprint = Footprint(n_linear=6400, n_rows=10, n_other=100, n_cached=8, stored_bytes=2)
    assert footprint.n_bytes("none", 2, 5) == 2 * (6400 + 100 + 40)
    assert footprint.n_bytes("int8", 2, 5) == 6400 + 40 + 2 * (100 + 40)
    assert footprint.n_bytes("nf4", 2, 0) == 3200 + 100 + 1 + 200  # codes, scales, their scales


@pytest.mark.parametrize(
    "content", ["[]", '{"weight_map": {"a": 5}}', '{"weight_map": {"a": "../b.safetensors"}}']
)
def test_an_index_that_is_damaged_or_leads_out_is_refused(tmp_path, content):
    (tmp_path / INDEX).write_text(content)
    with pytest.raises(ModelError, match=str(tmp_path)):
        read_footprint(tmp_path)


def test_weights_that_are_cut_off_are_refused_before_memory_is_taken(tmp_path):
    save_file(TENSORS, tmp_path / ONE)
    (tmp_path / ONE).write_bytes((tmp_path / ONE).read_bytes()[:-8])
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        read_footprint(tmp_path)
    with pytest.raises(ModelError):
        read_footprint(tmp_path / "none")
