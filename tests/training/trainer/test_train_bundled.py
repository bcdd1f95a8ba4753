"""The whole run of the bundled model by one script, with a few lines of data and a tiny network."""

import json

import pytest

from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import translate_lines
from engine.translation.slot_translator import Translator
from tests.support.programs.run import ROOT, ran
from tests.training.trainer.corpora import write_data

RECIPE = """
base = "new"
name = "tiny"
slot_lengths = [8]
device = "cpu"
precision = "fp32"

[weights]
phrases = 0.5

[shape]
vocabulary = 512
hidden = 64
layers = 1
heads = 2
feed_forward = 64

[optimisation]
optimizer = "muon"
warm_up_steps = 1
fall = "late"
decay = 0
batch_tokens = 400
epochs = 0.2
"""


def run(*arguments):
    return ran(ROOT / "scripts/train-bundled", *map(str, arguments), timeout=500)


@pytest.mark.slow
def test_one_command_trains_from_corpora_to_a_model_that_translates(tmp_path):
    data, out = tmp_path / "data", tmp_path / "out"
    held_out = write_data(data)
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(RECIPE)
    annealing = tmp_path / "annealing.toml"
    annealing.write_text(RECIPE.replace("decay = 0", "decay = 1"))
    options = ["--recipe", recipe, "--phrases", 1, "--anneal", annealing, "--limit", 3]
    options += ["--", "--batch-tokens", 1024, "--workers", 2]
    done = run(data, out, *options)
    assert done.returncode == 0, done.stderr
    trained_on = (out / "all.aligned.tsv").read_text("utf-8")
    assert "we see" in trained_on
    assert "\tphrases\t" in trained_on
    for pair in held_out:
        assert pair.split("\t")[0].casefold() not in trained_on.casefold()
    rates = [
        json.loads(line)["rate"] for line in (out / "annealed/steps.jsonl").read_text().splitlines()
    ]
    assert rates[-1] < rates[0]
    weights = load_weights(ModelSettings(directory=out / "surtitle-en-de", device="cpu"))
    settings = TranslationSettings(policy="read:3")
    lines = [(0, "we see a dog today")]
    (translated,) = translate_lines(lambda log: Translator(weights, settings, log=log), lines)
    assert translated.hypothesis
    before = {path: path.stat().st_mtime_ns for path in out.glob("*")}
    again = run(data, out, *options)
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in out.glob("*")} == before
