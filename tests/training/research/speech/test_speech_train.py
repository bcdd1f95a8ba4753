"""The stages of a translator that reads sound, run to their ends by their commands."""

import json

import pytest
from safetensors.numpy import load_file

from engine.models.model_card import ENCODER_FILE
from engine.runtime.loader import load_weights
from engine.runtime.onnx.onnx_loader import OnnxWeights
from engine.runtime.sound import load_speech_encoder
from engine.settings import ModelSettings
from tests.support.direct.corpora import write_tones
from tests.support.fakes import save_plain_model
from training.research.__main__ import main
from training.research.adaptive import HEAD_FILE

TINY = ["--width", "16", "--layers", "1", "--heads", "2", "--feed-forward", "16"]
QUICK = ["--batch", "8", "--epochs", "1", "--warm-up", "2", "--rate", "1e-2", "--device", "cpu"]
QUICK += ["--precision", "fp32"]  # else a stopwatch chooses, in each run

pytestmark = pytest.mark.slow


def train(recipe, data, out, *arguments):
    command = ["speech-train", "--recipe", recipe, "--data", f"de={data}", "--out", str(out)]
    return main([*command, *QUICK, *arguments])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_tones(tmp_path_factory.mktemp("corpus") / "train.tsv", 32)


@pytest.fixture(scope="module")
def stages(table, tmp_path_factory):
    """Run folders of the three stages."""
    out = tmp_path_factory.mktemp("stages")
    base = save_plain_model(out / "base")
    assert train("words", table, out / "words", "--base", str(base), *TINY) == 0
    words = str(out / "words" / "model")
    assert train("translate", table, out / "translate", "--base", words) == 0
    translate = str(out / "translate" / "model")
    assert train("joint", table, out / "joint", "--base", translate) == 0
    return out


def encoder_of(folder):
    return load_file(folder / "model" / ENCODER_FILE)


def records(folder):
    lines = (folder / "steps.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def changed(before, after):
    return {name for name in before if (before[name] != after[name]).any()}


def test_each_stage_writes_a_model_folder_that_is_loaded(stages):
    for name in ("words", "translate", "joint"):
        folder = stages / name / "model"
        weights = load_weights(ModelSettings(directory=folder, device="cpu"))
        encoder = load_speech_encoder(folder, weights.card, weights.width)
        assert encoder.card.width == 16
        assert encoder.card.vocabulary == len(weights.tokenizer) + 1
        assert (folder / HEAD_FILE).exists() == (name == "joint")
        assert isinstance(weights, OnnxWeights)
        translator = (folder / "model.safetensors").read_bytes()
        assert translator == (stages / "base" / "model.safetensors").read_bytes()


def test_a_stage_changes_its_parts_and_no_others(stages):
    words, translate, joint = (encoder_of(stages / n) for n in ("words", "translate", "joint"))
    kept = {"mean", "scale", "words.weight", "words.bias"}
    assert changed(words, translate) == set(words) - kept
    assert changed(translate, joint) == set(words) - kept


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not(stages, table, tmp_path):
    base = ["--base", str(stages / "translate" / "model")]
    assert train("joint", table, tmp_path / "joint", *base, "--stop-after", "2") == 0
    assert not (tmp_path / "joint" / "model").exists()
    assert train("joint", table, tmp_path / "joint", *base) == 0
    assert [one["loss"] for one in records(tmp_path / "joint")] == pytest.approx(
        [one["loss"] for one in records(stages / "joint")], rel=1e-5
    )
    after, whole = encoder_of(tmp_path / "joint"), encoder_of(stages / "joint")
    assert all(abs(after[name] - whole[name]).max() < 1e-4 for name in whole)
