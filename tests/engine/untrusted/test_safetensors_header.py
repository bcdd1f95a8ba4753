import json
import random
from functools import partial

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from engine.untrusted.file_headers import read_header
from tests.support.strangers import refused


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.safetensors"


def written(path, header, n_data=0):
    """A file with a header of our own."""
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(content).to_bytes(8, "little") + content + bytes(n_data))
    return path


def entry(start, end, shape=None, dtype="U8"):
    return {"dtype": dtype, "shape": [end - start] if shape is None else shape,
            "data_offsets": [start, end]}  # fmt: skip


refusal = partial(refused, ValueError, read_header)


def test_what_the_library_writes_is_read_as_the_library_reads_it(path):
    rng = random.Random(0)
    dtypes = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.bool]
    for _ in range(30):
        tensors = {
            f"layer.{number}": torch.zeros(
                [rng.randrange(4) for _ in range(rng.randrange(4))], dtype=rng.choice(dtypes)
            )
            for number in range(rng.randrange(6))
        }
        save_file(tensors, path, {"format": "pt"})
        header = read_header(path)
        assert header.n_bytes == path.stat().st_size
        assert header.tensors.keys() == tensors.keys()
        with safe_open(path, "pt") as file:
            for name, tensor in tensors.items():
                assert header.tensors[name].shape == tuple(file.get_slice(name).get_shape())
                assert header.tensors[name].dtype == file.get_slice(name).get_dtype()
                assert header.tensors[name].n_elements == tensor.numel()


def test_a_file_that_was_cut_anywhere_is_refused(path):
    save_file({"a": torch.zeros(3), "b": torch.zeros(2, 2)}, path)
    content = path.read_bytes()
    for n_bytes in range(len(content)):
        path.write_bytes(content[:n_bytes])
        assert "was cut" in refusal(path)


def test_bytes_behind_the_last_tensor_are_refused(path):
    assert "behind its last tensor (bytes: 3)" in refusal(written(path, {"a": entry(0, 4)}, 7))


def test_a_header_that_is_too_long_is_refused_and_not_read(path):
    with path.open("wb") as file:
        file.write((1 << 40).to_bytes(8, "little"))
        file.truncate(1 << 41)  # takes no room
    assert f"{1 << 40} bytes long, and {1 << 20} are the most" in refusal(path)
    assert "16 are the most" in refusal(written(path, {"a": entry(0, 4)}, 4), limit=16)


@pytest.mark.parametrize("n_header", [0x280, 0x380, 0x480, 0x580, 0x10280])
def test_a_header_whose_length_begins_as_a_pickle_does_is_no_pickle(path, n_header):
    header = json.dumps({"x": entry(0, 1)}).ljust(n_header).encode()
    written(path, header, 1)
    assert path.read_bytes()[:2] in {b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"}
    assert list(read_header(path).tensors) == ["x"]


@pytest.mark.parametrize("protocol", [2, 4, "zip"])
def test_a_pickle_with_another_name_is_refused(path, protocol):
    if protocol == "zip":
        torch.save({"a": torch.zeros(2)}, path)
    else:
        torch.save({"a": 1}, path, pickle_protocol=protocol, _use_new_zipfile_serialization=False)
    assert "is a pickle" in refusal(path)


@pytest.mark.parametrize(
    ("header", "n_data", "sentence"),
    [
        (b"[]", 0, "does not begin with an object"),
        (b'{"a":' + b"[" * 100_000, 0, "nested too deeply"),
        (b'{"a": {"dtype": "U8", "dtype": "I8"}}', 0, "names 'dtype' twice"),
        (json.dumps({"a": entry(0, 2)}).encode()[:-1] + b', "a": 3}', 2, "names 'a' twice"),
        ({"a": 3}, 0, "'a' should be an object"),
        ({"a": {"dtype": "U8", "shape": [1]}}, 1, "lacks 'data_offsets'"),
        ({"a": entry(0, 1, dtype="F7")}, 1, "unknown type 'F7'"),
        ({"a": entry(0, 4, [True], "F32")}, 4, "a whole number"),
        ({"a": entry(0, 4, [-1, -1], "F32")}, 4, "a whole number"),
        ({"a": entry(0, 8, [1], "F32")}, 8, "[1] of F32 needs: 8, not 4"),
        ({"a": entry(0, 1, [1] * 9)}, 1, "too many numbers"),
        ({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1, 1]}}, 1, "too many numbers"),
        ({"a": entry(0, 2), "b": entry(1, 3)}, 3, "'b' at byte 1 of the data, not at 2"),
        ({"a": entry(1, 2)}, 2, "'a' at byte 1 of the data, not at 0"),
        ({"__metadata__": {"format": 3}}, 0, "'format' should be text"),
        ({"a\x1b[2J" * 99: entry(0, 2)}, 0, "was cut"),
    ],
)  # fmt: skip
def test_a_header_that_contradicts_itself_is_refused(path, header, n_data, sentence):
    assert sentence in refusal(written(path, header, n_data))
