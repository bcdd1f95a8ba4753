"""Folders of models that hear speech as it comes: what is damaged or foreign is refused."""

import os
import shutil

import pytest

from engine.errors import ModelError
from engine.speech.sherpa import checked_files, is_streaming, tried
from tests.support.spoken import TINY_STREAMING, TINY_TRANSDUCER, needs_sherpa
from tests.support.strangers import refused

pytestmark = needs_sherpa


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(TINY_STREAMING, tmp_path / "model")


def refusal(folder):
    said = refused(ModelError, lambda: tried(checked_files(folder), folder))
    assert str(folder) in said
    return said


def lines(folder):
    return (folder / "tokens.txt").read_text(encoding="utf-8").splitlines()


def write(folder, told):
    (folder / "tokens.txt").write_text("\n".join(told) + "\n", encoding="utf-8")


def test_a_whole_folder_is_taken():
    assert is_streaming(TINY_STREAMING)
    files = checked_files(TINY_STREAMING)
    assert files.paths == {
        "tokens": str(TINY_STREAMING / "tokens.txt"),
        "ctc": str(TINY_STREAMING / "ctc.onnx"),
    }
    assert len(files.tokens) == len(lines(TINY_STREAMING))
    assert files.is_in_capitals
    assert not files.marks_sentences


def test_a_transducer_is_taken_with_all_its_parts():
    files = checked_files(TINY_TRANSDUCER)
    tried(files, TINY_TRANSDUCER)
    assert sorted(files.paths) == ["decoder", "encoder", "joiner", "tokens"]
    assert files.prefers_words


@pytest.mark.parametrize(
    ("name", "told", "instead"),
    [
        ("encoder.int8.onnx", b"decode_chunk_len", b"decode_chunk_lon"),
        ("decoder.onnx", b"context_size", b"context_sise"),
        ("joiner.onnx", b"Tanh", b"Tanj"),
    ],
)
def test_a_transducer_with_a_damaged_part_is_refused(tmp_path, name, told, instead):
    folder = shutil.copytree(TINY_TRANSDUCER, tmp_path / "model")
    content = (folder / name).read_bytes()
    assert told in content
    (folder / name).write_bytes(content.replace(told, instead))
    assert "cannot be used" in refusal(folder)


def test_files_in_eight_bits_are_taken_first_and_the_newest_by_name(folder):
    (folder / "ctc.int8.onnx").write_bytes((folder / "ctc.onnx").read_bytes())
    assert checked_files(folder).paths["ctc"].endswith("ctc.int8.onnx")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda told: ["no number", *told[1:]], "line 1"),
        (lambda told: [*told[:-1], "\x1b[2J 75"], "line 76"),
        (lambda told: [*told, "X 99"], "without a gap"),
        (lambda told: [*told[:-1], "▁WIN 75"], "each once"),
        (lambda told: ["<nothing> 0", *told[1:]], "<blk>"),
        (lambda told: told[:40], "tells 76 tokens of 40"),
    ],
)
def test_tokens_that_are_garbled_are_refused(folder, changed, said):
    write(folder, changed(lines(folder)))
    assert said in refusal(folder)


def test_tokens_that_are_no_text_too_many_or_no_file_are_refused(folder):
    tokens = folder / "tokens.txt"
    tokens.write_bytes(b"\xff\xfe 0\n")
    assert "is no UTF-8 text" in refusal(folder)
    tokens.write_bytes(b"x" * (1 << 21))
    assert "is longer than" in refusal(folder)
    tokens.unlink()
    os.mkfifo(tokens)
    assert "no plain file" in refusal(folder)


def test_a_network_that_is_cut_foreign_or_missing_is_refused(folder):
    network = folder / "ctc.onnx"
    whole = network.read_bytes()
    network.write_bytes(whole[: len(whole) // 2])
    assert "ctc.onnx" in refusal(folder)
    network.write_bytes(whole.replace(b"encoder_dims", b"encoder_dimz"))
    assert "of a kind that is not known here" in refusal(folder)
    network.unlink()
    assert "has no *.onnx" in refusal(folder)


@pytest.mark.parametrize(
    ("told", "instead"), [(b"\x01T\x12\x018", b"\x01T\x12\x010"), (b"Concat", b"Flatte")]
)
def test_what_would_end_the_program_is_refused_by_a_process_of_its_own(folder, told, instead):
    network = folder / "ctc.onnx"
    content = network.read_bytes()
    assert told in content
    network.write_bytes(content.replace(told, instead))
    assert "cannot be used" in refusal(folder)
