"""Tokenizers of strangers: what they may cost, and that they cannot bring the program down."""

import base64
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn
from transformers import PreTrainedModel

from engine.errors import ModelError
from engine.hub.catalogue import bundled_models
from engine.runtime.loader import load_by_torch
from engine.runtime.torch import torch_loader
from engine.runtime.torch.torch_loader import TooLargeError, growth_limit, load_tokenizer
from engine.settings import ModelSettings
from engine.untrusted import limited_process
from engine.untrusted.limited_child import tried
from engine.untrusted.limited_process import _OURS
from engine.untrusted.plain_files import file_sha256
from tests.support.fakes import save_tiny_model

OURS = _OURS  # before a fixture replaces it
WORDS = ["abc", "é🙂"]


def replacing(old, new, times=1):
    """A normalizer that replaces text by text."""
    one = {"type": "Replace", "pattern": old, "content": new}
    return {"normalizer": {"type": "Sequence", "normalizers": [one] * times}}


def rules(text):
    """The rules of a sentencepiece model as a tokenizer.json has them: no tree, and one text."""
    return base64.b64encode(bytes(4) + text + b"\0").decode()


@pytest.fixture
def folder(tmp_path):
    return save_tiny_model(tmp_path)


def change(folder, values):
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))
    return str(path)


@pytest.mark.parametrize(
    "values",
    [
        {"normalizer": {"type": 7}},
        {"model": None},
        {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[UNK]"}},
        {"model": {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": None}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated",
                           "invert": False}},
    ],
)  # fmt: skip
def test_a_tokenizer_that_cannot_read_every_word_is_a_failure(folder, values):
    assert tried(change(folder, values), WORDS)["failure"] == "Exception"


@pytest.mark.parametrize(
    "values",
    [
        replacing({"String": "ß"}, "ßß", 14),
        replacing({"Regex": "."}, "xxx", 7),
        replacing({"String": ""}, "x" * 10_000),
        {"normalizer": {"type": "Prepend", "prepend": "x" * 10_000}},
        {"decoder": {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 101}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": rules(b"x" * 101)}},
    ],
)
def test_a_tokenizer_that_makes_texts_much_longer_is_a_failure(folder, values):
    """Whether the words that are tried have the text that it replaces, or not."""
    assert "times as long" in tried(change(folder, values), WORDS)["words"]


def test_what_real_tokenizers_replace_is_let_through(folder):
    change(folder, replacing({"String": " "}, "▁", 20))
    path = change(folder, replacing({"Regex": " {2,}"}, "▁", 3))
    assert tried(path, WORDS) == {}


def test_a_word_of_very_many_tokens_is_a_failure(folder):
    path = change(folder, replacing({"String": "é"}, "q" * 100))
    assert "2001 tokens of one word" in tried(path, ["é" * 20])["words"]


def test_a_pattern_that_would_search_for_ever_is_ended_by_the_library(folder):
    """Oniguruma gives up after ten million steps of a match: part of a second."""
    pattern = {"type": "Split", "pattern": {"Regex": "(a+)+b"}, "behavior": "Isolated"}
    path = change(folder, {"pre_tokenizer": pattern | {"invert": False}})
    assert tried(path, ["a" * 60 + "!"])["failure"] == "PanicException"


@pytest.mark.strangers
def test_a_panic_of_the_library_is_one_sentence_and_no_noise(folder, capfd):
    broken = {"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    change(folder, {"normalizer": broken})
    with pytest.raises(ModelError, match=r"its tokenizer\.json cannot be used \(PanicException: "):
        load_tokenizer(folder)
    assert capfd.readouterr() == ("", "")


@pytest.mark.strangers
def test_another_file_under_the_same_name_is_tried_anew(folder):
    load_tokenizer(folder)
    change(folder, {"model": None})
    with pytest.raises(ModelError, match="cannot be used"):
        load_tokenizer(folder)


@pytest.mark.strangers
def test_the_tokenizers_that_come_with_the_program_need_no_process(monkeypatch):
    monkeypatch.setattr(limited_process, "_answer", None)
    for model in bundled_models():
        assert file_sha256(model / "tokenizer.json") in OURS
        load_tokenizer(model)


def test_two_networks_are_not_read_at_once(folder, monkeypatch):
    """transformers would leave ``tie_weights`` out of use: later models had heads of nothing."""
    ties, both = PreTrainedModel.tie_weights, threading.Barrier(2)
    read, overlapped = torch_loader.AutoModelForCausalLM.from_pretrained, []

    def slowly(**given):
        try:
            both.wait(0.5)
            overlapped.append(given)
        except threading.BrokenBarrierError:
            pass
        return read(**given)

    monkeypatch.setattr(torch_loader.AutoModelForCausalLM, "from_pretrained", slowly)
    settings = ModelSettings(directory=folder, device="cpu")
    loaders = [threading.Thread(target=load_by_torch, args=(settings,)) for _ in range(2)]
    for one in loaders:
        one.start()
    for one in loaders:
        one.join()
    assert overlapped == []
    assert PreTrainedModel.tie_weights is ties


def test_a_network_may_be_built_to_twice_its_weights_and_no_further():
    room = 1 << 26
    with growth_limit(1, 500), torch.device("meta"):
        nn.Linear(room // 1000 + 1, 1000, bias=False)
        with pytest.raises(TooLargeError):
            nn.Linear(room // 1000 + 2, 1000, bias=False)
        with ThreadPoolExecutor() as other:  # what another thread builds is not counted
            other.submit(nn.Linear, room, 1000, device="meta").result()
    nn.Linear(2, 2)
    with torch.device("meta"):
        nn.Linear(room, 1000)
