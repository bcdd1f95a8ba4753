import hashlib
import json
from dataclasses import fields, replace
from functools import partial

import pytest

from engine.errors import ModelError
from engine.models.fingerprint import Fingerprint, read_fingerprint
from tests.support.strangers import refused

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 384,
}
FALCON = {
    "model_type": "falcon",
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "vocab_size": 384,
}
TOKENIZER = b'{"model": "\xc3\xa9"}\n'


def folder(path, config, tokenizer=TOKENIZER):
    (path / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    (path / "tokenizer.json").write_bytes(tokenizer)
    return path


def fingerprint(path, config):
    return read_fingerprint(folder(path, config))


refusal = partial(refused, ModelError, read_fingerprint)


def test_shape_and_tokenizer_are_read(tmp_path):
    assert fingerprint(tmp_path, LLAMA) == Fingerprint(
        architecture="llama",
        layers=3,
        hidden_size=64,
        heads=4,
        kv_heads=2,
        head_size=16,
        feed_forward=96,
        vocabulary=384,
        tokenizer_sha256=hashlib.sha256(TOKENIZER).hexdigest(),
    )


def test_one_changed_byte_of_the_tokenizer_is_another_tokenizer(tmp_path):
    one = fingerprint(tmp_path, LLAMA)
    other = read_fingerprint(folder(tmp_path, LLAMA, TOKENIZER + b" "))
    assert str(one.difference(other)) == (
        f"tokenizer sha256 {one.tokenizer_sha256[:12]}... there "
        f"and {other.tokenizer_sha256[:12]}... here"
    )


def test_what_a_llama_leaves_out_has_its_defaults(tmp_path):
    bare = {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}
    for config in (bare, bare | {"num_key_value_heads": None, "head_dim": None}):
        found = fingerprint(tmp_path, config)
        assert (found.kv_heads, found.head_size) == (4, 16)
    assert fingerprint(tmp_path, bare | {"head_dim": 20}).head_size == 20


@pytest.mark.parametrize("architecture", ["gemma2", "gemma3_text", "qwen3"])
def test_a_default_that_the_library_chooses_by_itself_is_not_guessed(tmp_path, architecture):
    config = LLAMA | {"model_type": architecture}
    assert "lacks 'head_dim'" in refusal(folder(tmp_path, config))
    config |= {"head_dim": 32}
    assert fingerprint(tmp_path, config).head_size == 32
    del config["num_key_value_heads"]
    assert "lacks 'num_key_value_heads'" in refusal(folder(tmp_path, config))


@pytest.mark.parametrize(
    ("settings", "kv_heads", "feed_forward"),
    [
        ({}, 1, 256),
        ({"multi_query": False}, 4, 256),
        ({"multi_query": True, "num_kv_heads": 2}, 1, 256),
        ({"new_decoder_architecture": True}, 4, 256),
        ({"new_decoder_architecture": True, "num_kv_heads": 2}, 2, 256),
        ({"multi_query": None, "ffn_hidden_size": 100, "num_kv_heads": None}, 1, 100),
    ],
)
def test_the_heads_of_a_falcon_follow_its_flags(tmp_path, settings, kv_heads, feed_forward):
    found = fingerprint(tmp_path, FALCON | settings)
    assert (found.kv_heads, found.feed_forward, found.head_size) == (kv_heads, feed_forward, 16)


@pytest.mark.parametrize("key", ["model_type", "hidden_size", "num_hidden_layers", "vocab_size"])
def test_a_configuration_that_lacks_a_field_is_refused(tmp_path, key):
    config = {name: value for name, value in LLAMA.items() if name != key}
    assert f"lacks '{key}'" in refusal(folder(tmp_path, config))


def test_every_field_makes_a_difference_and_is_named(tmp_path):
    one = fingerprint(tmp_path, LLAMA)
    assert one.difference(one) is None
    for field in fields(one):
        value = getattr(one, field.name)
        other = value[::-1] if isinstance(value, str) else value + 1
        told = str(one.difference(replace(one, **{field.name: other})))
        assert told.startswith(field.name.replace("_", " "))
