"""Test the command that trains an adapter: its options, its recipes, and what it needs."""

import functools
import json
import sys

import pytest

from engine.models.adapters.adapter import inspect_adapter
from engine.models.fingerprint import read_fingerprint
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings
from tests.support.fakes import save_tiny_model, tiny_tokenizer
from tests.support.training_runs import finetune, losses, told_fault, write_pairs
from training.trainer.checkpoint import read_counters

pytestmark = pytest.mark.usefixtures("papers")  # other layouts and methods


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("data") / "en-de.tsv")


@pytest.fixture
def run(data, tiny, tmp_path):
    return functools.partial(finetune, data, tiny, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["--gradient-checkpointing"],
        ["--pass-tokens", "40"],
    ],
    ids=" ".join,
)
def test_what_saves_memory_changes_no_loss(data, tiny, tmp_path, arguments):
    out = tmp_path / "out"
    assert finetune(data, tiny, tmp_path / "plain") == 0
    assert finetune(data, tiny, out, *arguments) == 0
    assert losses(out) == pytest.approx(losses(tmp_path / "plain"), rel=1e-5)


def test_other_methods_train(data, tiny, tmp_path):
    for method in ("without-mask", "prefix", "easist"):  # samples of all: research/test_methods.py
        out = tmp_path / method
        assert finetune(data, tiny, out, "--method", method, "--stop-after", "1") == 0
        assert read_counters(out / "checkpoint").step == 1


def test_a_chat_template_of_the_recipe_serves_a_base_that_has_none(data, tmp_path):
    base = save_tiny_model(tmp_path / "base")
    (base / "chat_template.jinja").unlink()
    recipe = tmp_path / "mine.toml"
    template = tiny_tokenizer().chat_template
    recipe.write_text(f"[prompt]\nchat_template = {json.dumps(template)}\n")
    rest = ["--recipe", str(recipe), "--stop-after", "1"]
    assert finetune(data, base, tmp_path / "out", *rest) == 0


def test_a_base_needs_no_card_where_the_recipe_tells_how_to_speak_to_it(data, tmp_path):
    base = save_tiny_model(tmp_path / "base")
    (base / "surtitle.json").unlink()
    recipe = tmp_path / "mine.toml"
    recipe.write_text(
        '[prompt]\nsystem = "<|{code}|>"\nend_of_source = "<|end_of_source|>"\n'
        'end_of_write = "<|end_of_write|>"\n'
    )
    out = tmp_path / "out"
    assert finetune(data, base, out, "--recipe", str(recipe)) == 0
    card = inspect_adapter(out / "adapter", read_fingerprint(base)).card
    assert card.languages["de"].system == "<|de|>"
    assert (card.end_of_write, card.end_of_target) == ("<|end_of_write|>", "<|end|>")
    settings = ModelSettings(directory=base, adapter=out / "adapter", device="cpu")
    assert load_weights(settings).card.slot_length == 16


@pytest.mark.parametrize(
    ("module", "arguments", "words"),
    [
        ("peft", [], "adapters need peft"),
        ("bitsandbytes", ["--quantise", "nf4"], "in 4 bits needs bitsandbytes"),
    ],
)
def test_a_library_that_is_missing_is_one_sentence(
    run, capsys, monkeypatch, module, arguments, words
):
    monkeypatch.setitem(sys.modules, module, None)
    assert run(*arguments) == 1
    assert words in told_fault(capsys)
