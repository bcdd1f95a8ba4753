import json
import random

import pytest
import torch
from safetensors.torch import load_file

from engine.runtime.loader import load_weights
from engine.runtime.onnx.onnx_loader import OnnxWeights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.fakes import random_word
from training.__main__ import main

SMALL = [
    "--hidden", "64", "--layers", "1", "--heads", "2", "--feed-forward", "64",
    "--vocabulary", "320",
    "--batch-tokens", "400", "--epochs", "1", "--device", "cpu", "--precision", "fp32",
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Sixty aligned pairs; every third without a trusted alignment."""
    rng = random.Random(0)
    lines = []
    for index in range(60):
        words = [random_word(rng) for _ in range(rng.randint(2, 7))]
        needs = " ".join(map(str, range(1, len(words) + 1))) if index % 3 else ""
        target = " ".join(word.upper() for word in words)
        lines.append("\t".join((" ".join(words), target, "even" if index % 2 else "odd", needs)))
    path = tmp_path_factory.mktemp("data") / "en-de.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def train(data, out, *arguments):
    return main(["pretrain", "--data", f"de={data}", "--out", str(out), *SMALL, *arguments])


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """The folder of an unbroken run."""
    out = tmp_path_factory.mktemp("trained") / "model"
    assert train(data, out) == 0
    return out


def assert_same_run(one, other):
    for name in ("model.safetensors", "tokenizer.json", "surtitle.json", "config.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    for name in ("state.safetensors", "counters.json"):
        assert (one / "checkpoint" / name).read_bytes() == (
            other / "checkpoint" / name
        ).read_bytes()


def refusal(capsys, *arguments):
    """The one sentence of a wrong usage."""
    try:
        assert main(["pretrain", *arguments]) == 2
    except SystemExit as stop:  # argparse's own way
        assert stop.code == 2  # noqa: PT017
    message = capsys.readouterr().err.strip()
    assert message
    assert "Traceback" not in message
    return message


def test_a_run_that_was_stopped_and_resumed_is_the_unbroken_run_to_the_bit(data, trained, tmp_path):
    out = tmp_path / "model"
    assert train(data, out, "--stop-after", "3") == 0
    assert not (out / "model.safetensors").exists()
    assert train(data, out, "--stop-after", "1") == 0
    assert train(data, out) == 0
    assert_same_run(out, trained)


def test_a_run_that_an_earlier_version_stopped_goes_on_to_the_bit(data, trained, tmp_path):
    """Its checkpoint holds one digest, of everything."""
    out = tmp_path / "model"
    assert train(data, out, "--stop-after", "3") == 0
    path = out / "checkpoint" / "counters.json"
    counters = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(counters | {"fingerprint": "d9041fd4fca8e839"}) + "\n", "utf-8")
    assert train(data, out) == 0
    assert_same_run(out, trained)


def test_a_recipe_holds_data_weights_size_and_schedule(data, tmp_path):
    recipe, by_recipe = tmp_path / "mine.toml", tmp_path / "by_recipe"
    recipe.write_text(
        'base = "new"\nname = "small"\nslot_lengths = [8]\ndevice = "cpu"\nprecision = "fp32"\n'
        f"[data]\nde = {json.dumps(str(data))}\n[weights]\nodd = 0.5\n"
        "[shape]\nvocabulary = 320\nhidden = 64\nlayers = 1\nheads = 2\nfeed_forward = 64\n"
        "[mixture]\nwaits = 0.0\n"
        '[optimisation]\noptimizer = "adamw"\nfall = "linear"\nbatch_tokens = 400\nepochs = 1\n',
        "utf-8",
    )
    arguments = ["pretrain", "--recipe", str(recipe), "--out", str(by_recipe)]
    assert main([*arguments, "--stop-after", "1"]) == 0
    assert main(arguments) == 0
    card = json.loads((by_recipe / "surtitle.json").read_text("utf-8"))
    assert (card["name"], card["slot_length"]) == ("small", 8)
    assert not any(policy.startswith("wait") for policy in card["policies"])
    steps = (by_recipe / "steps.jsonl").read_text("utf-8").splitlines()
    rates = [json.loads(line)["rate"] for line in steps]
    assert rates[-1] < max(rates)


def test_a_run_that_begins_with_another_has_its_tokenizer_and_goes_on_from_its_weights(
    data, trained, tmp_path
):
    other = tmp_path / "other.tsv"
    other.write_text("".join(data.read_text("utf-8").splitlines(keepends=True)[:20]), "utf-8")
    out = tmp_path / "model"
    arguments = ("--begin-with", str(trained), "--stop-after", "1", "--rate", "1e-9")
    assert train(other, out, *arguments) == 0
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


def test_the_loss_falls(data, tmp_path, capsys):
    assert train(data, tmp_path / "model", "--epochs", "3") == 0
    progress = capsys.readouterr().err
    losses = [float(part.split()[0].rstrip(",")) for part in progress.split("loss ")[1:]]
    assert losses
    assert losses[-1] <= losses[0]


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


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        (["--hidden", "128"], "shape"),
        (["--layers", "2"], "shape"),
        (["--vocabulary", "384"], "shape"),
        (["--batch-tokens", "500"], "step"),
        (["--seed", "7"], "step"),
        (["--slot", "8"], "slot length"),
        (["--weight", "odd=2"], "weighting"),
    ],
    ids=str,
)
def test_a_run_cannot_be_resumed_with_other_settings(data, trained, capsys, changed, name):
    arguments = ["--data", f"de={data}", "--out", str(trained), *SMALL, *changed]
    assert f"was made with another {name}:" in refusal(capsys, *arguments)
