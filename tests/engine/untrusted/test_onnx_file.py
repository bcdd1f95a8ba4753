"""Files of ONNX are looked through before a library opens them."""

import os

import pytest

from engine.runtime.onnx.onnx_graph import FLOAT, constant, graph_output, model, node, weight
from engine.untrusted.file_headers import onnx_metadata

MOST = 1 << 20
PLAIN = [constant("one", [1]), node("Identity", ["one"], ["out"]), graph_output("out", 7, [1])]


def field(number, data):
    assert len(data) < 1 << 14
    sizes = bytes([len(data) & 127 | 128, len(data) >> 7])
    return bytes([(number << 3 | 2) & 127 | 128, (number << 3 | 2) >> 7]) + sizes + data


def told(path, content):
    path.write_bytes(content)
    return onnx_metadata(path, MOST)


def refused(path, content):
    with pytest.raises(ValueError, match=r".") as caught:
        told(path, content)
    return str(caught.value)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


def test_what_a_file_tells_about_itself_is_returned(path):
    entries = [field(1, name) + field(2, value) for name, value in ((b"T", b"45"), (b"x", b"1,2"))]
    content = model(PLAIN, "tests") + b"".join(field(14, entry) for entry in entries)
    assert told(path, content) == {"T": "45", "x": "1,2"}


def test_weights_in_other_files_are_refused_wherever_they_are_named(path):
    outside = weight("w", [2], FLOAT, "../../secret")
    assert (
        refused(path, model([*PLAIN, outside], "tests"))
        == "keeps weights in other files, which are not read"
    )
    inner_graph = field(6, outside)  # the graph of an attribute
    hidden = field(1, field(5, inner_graph))
    assert (
        refused(path, model([*PLAIN, hidden], "tests"))
        == "keeps weights in other files, which are not read"
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"not at all", b"ORTM" * 10, b"\x0b\x0b", b"\xff" * 40, field(14, b""), field(1, b"")],
)
def test_what_is_no_onnx_is_refused(path, content):
    assert refused(path, content) == "is no ONNX file, or is cut"


def test_every_cut_of_a_file_is_refused_or_looked_through(path):
    whole = model(PLAIN, "tests")
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        try:
            assert onnx_metadata(path, MOST) == {}
        except ValueError as error:
            assert "no ONNX file" in str(error)  # noqa: PT017  either is right


def test_what_is_too_long_too_deep_or_no_file_is_refused(path):
    deep = b""
    for _ in range(20):
        deep = field(1, field(5, field(6, deep)))
    assert "more than any model" in refused(path, model([*PLAIN, deep], "tests"))
    assert (
        refused(path, model([b"\x50\x00" * 500_001], "tests"))
        == "describes more than any model in use"
    )
    assert refused(path, b"\0" * (MOST + 1)) == f"is longer than {MOST} bytes"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"model\.onnx"):
        onnx_metadata(path, MOST)
