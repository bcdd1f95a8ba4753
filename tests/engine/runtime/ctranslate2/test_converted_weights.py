"""Test that a folder of converted weights is judged before CTranslate2 reads it."""

import json
import os
import shutil

import pytest

from engine.errors import ModelError
from engine.models.encoder_decoder.record import read_record
from engine.runtime.ctranslate2.conversion import read_converted
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings
from tests.engine.runtime.ctranslate2.tiny_models import FAMILIES


@pytest.fixture
def folder(converted, tmp_path):
    return shutil.copytree(converted["m2m100"] / "ctranslate2-float16", tmp_path / "done")


def refused(folder, *words):
    with pytest.raises(ModelError) as caught:
        load_weights(ModelSettings(directory=folder, device="cpu"))
    said = str(caught.value)
    assert said.startswith("the converted model in ")
    assert "delete that folder, and it is converted again" in said
    for one in words:
        assert one in said


@pytest.mark.parametrize("family", FAMILIES)
def test_the_most_positions_are_those_of_the_weights(converted, family):
    folder = converted[family] / "ctranslate2-float16"
    positions = read_converted(folder, read_record(folder)).positions
    assert positions == (None if family == "madlad" else 128)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes under a file's name")
@pytest.mark.parametrize(
    "name", ["model.bin", "config.json", "shared_vocabulary.json", "sentencepiece.bpe.model"]
)
def test_what_is_no_plain_file_is_not_waited_for(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    refused(folder)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.write_text("a b\n")])
def test_a_map_of_words_is_refused_since_no_conversion_writes_one(folder, make):
    make(folder / "vmap.txt")
    refused(folder, "it has a vmap.txt, which no conversion writes")


def tokens_of(folder):
    return json.loads((folder / "shared_vocabulary.json").read_text())


def _two(_tokens):
    return ["</s>", "<unk>", "__en__", "__de__", "__fr__", "__pl__"]


def _twice(tokens):
    return [*tokens[:-1], tokens[5]]


def _nested(_tokens):
    return json.loads("[" * 900 + "]" * 900)


def _without_a_language(tokens):
    return [("another" if one == "__pl__" else one) for one in tokens]


def _long(tokens):
    return [*tokens[:-1], "x" * 1001]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_two, "it has 6 tokens, and its embeddings have "),
        (_twice, "names "),
        (_nested, "should hold a list of texts"),
        (_without_a_language, "lacks '__pl__'"),
        (_long, "has a token of 1001 characters, and 1000 are the most"),
    ],
)
def test_a_vocabulary_of_another_model_is_refused_when_it_is_loaded(folder, change, said):
    (folder / "shared_vocabulary.json").write_text(json.dumps(change(tokens_of(folder))))
    refused(folder, said)


@pytest.mark.parametrize(
    "change",
    [
        {"add_source_bos": 2**70},
        {"add_source_eos": "yes"},
        {"bos_token": 5},
        {"multi_query_attention": []},
        {"layer_norm_epsilon": "x"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_settings_of_another_type_are_refused_before_the_first_words(folder, change):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    refused(folder, "config.json ", next(iter(change)))


@pytest.mark.parametrize("place", [40, -200])
def test_weights_that_were_changed_since_are_refused(folder, place):
    content = bytearray((folder / "model.bin").read_bytes())
    content[place] ^= 1
    (folder / "model.bin").write_bytes(content)
    refused(folder, "model.bin ")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x06\0\0\0",
        b"\x07\0\0\0" + bytes(100),
        bytes.fromhex("060000000100000700000000f0ffff"),
    ],
    ids=["empty", "short", "another version", "many variables"],
)
def test_what_is_no_file_of_weights_is_refused(folder, content):
    (folder / "model.bin").write_bytes(content)
    refused(folder, "model.bin is no file of weights as CTranslate2 writes it")
