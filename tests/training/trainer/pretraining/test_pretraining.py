"""Test runs that train a model from nothing: what they give, and that they go on to the bit."""

import json

import torch
from safetensors.torch import load_file

from engine.runtime.loader import load_weights
from engine.runtime.onnx.onnx_loader import OnnxWeights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.training_runs import pretrain


def assert_same_run(one, other):
    for name in ("model.safetensors", "tokenizer.json", "surtitle.json", "config.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    for name in ("state.safetensors", "counters.json"):
        assert (one / "checkpoint" / name).read_bytes() == (
            other / "checkpoint" / name
        ).read_bytes()


def test_a_run_that_was_stopped_and_resumed_is_the_unbroken_run_to_the_bit(
    words, trained, tmp_path
):
    out = tmp_path / "model"
    out.mkdir()  # an empty folder may be there
    assert pretrain(words, out, "--stop-after", "3") == 0
    assert not (out / "model.safetensors").exists()
    assert pretrain(words, out, "--stop-after", "1") == 0
    assert pretrain(words, out) == 0
    assert_same_run(out, trained)


def test_a_run_that_begins_with_another_has_its_tokenizer_and_goes_on_from_its_weights(
    words, trained, tmp_path
):
    other = tmp_path / "other.tsv"
    other.write_text("".join(words.read_text("utf-8").splitlines(keepends=True)[:20]), "utf-8")
    out = tmp_path / "model"
    arguments = ("--begin-with", str(trained), "--stop-after", "1", "--rate", "1e-9")
    assert pretrain(other, out, *arguments) == 0
    assert (out / "tokenizer.json").read_bytes() == (trained / "tokenizer.json").read_bytes()
    begun, ended = (
        load_file(folder / "checkpoint" / "state.safetensors") for folder in (out, trained)
    )
    name = "model.model.embed_tokens.weight"
    torch.testing.assert_close(begun[name], ended[name], rtol=0, atol=1e-6)
    steps = [key for key in ended if key.endswith(".step")]
    assert steps
    assert all(begun[key] == ended[key] + 1 for key in steps)
    assert json.loads((out / "checkpoint" / "counters.json").read_text())["step"] == 1


def test_the_folder_translates(trained):
    weights = load_weights(ModelSettings(directory=trained, device="cpu"))
    assert isinstance(weights, OnnxWeights)  # the run ended with an export
    assert list(weights.card.languages) == ["de"]
    for policy in ("read:3", "wait:2", "offline"):
        translator = Translator(weights, TranslationSettings(policy=policy))
        utterance = translator.open()
        translator.set_source(utterance, ["ab", "cd", "ef."], ended=True)
        for _ in changes(translator, utterance):
            pass
        assert utterance.finished
