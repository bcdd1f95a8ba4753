"""Test runs that train an adapter: what they give, how they go on and end, their faults."""

import functools
import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.models.adapters.adapter import Status, inspect_adapter
from engine.models.fingerprint import read_fingerprint
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings
from tests.support.fakes import save_tiny_model
from tests.support.networks import stock_network
from tests.support.training_runs import finetune, losses, told_fault, write_dev, write_pairs
from training.trainer.checkpoint import read_counters
from training.trainer.loss import ForwardLoss
from training.trainer.run import Run

pytestmark = pytest.mark.usefixtures("papers")  # other layouts and methods

WEIGHTS = "adapter_model.safetensors"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("data") / "en-de.tsv")


@pytest.fixture(scope="module")
def trained(data, tiny, tmp_path_factory):
    """The folder of an unbroken run with dropout."""
    out = tmp_path_factory.mktemp("trained") / "letters"
    assert finetune(data, tiny, out, "--dropout", "0.2") == 0
    return out


@pytest.fixture
def run(data, tiny, tmp_path):
    return functools.partial(finetune, data, tiny, tmp_path / "out")


def save_network(folder, architecture):
    """A tiny network of another architecture as a model folder."""
    save_tiny_model(folder)
    stock_network(architecture, torch.float32).save_pretrained(folder)
    return folder


def assert_same_adapter(one, other):
    tensors, others = load_file(one / "adapter" / WEIGHTS), load_file(other / "adapter" / WEIGHTS)
    assert tensors.keys() == others.keys()
    for name, tensor in tensors.items():
        assert torch.equal(tensor, others[name])


def test_the_loss_falls_on_a_few_repeated_pairs(tiny, tmp_path):
    data = write_pairs(tmp_path / "data.tsv", n_pairs=8)
    assert finetune(data, tiny, tmp_path / "out", "--epochs", "30") == 0
    found = losses(tmp_path / "out")
    assert len(found) == 30
    assert found[-1] < 0.5 * found[0]


def test_a_translator_with_the_adapter_says_what_was_trained(tiny, data, tmp_path, monkeypatch):
    """The logits of the network in training are those of the base with the adapter loaded."""
    runs = []
    train = Run.train
    monkeypatch.setattr(Run, "train", lambda self: (train(self), runs.append(self))[0])
    assert finetune(data, tiny, tmp_path / "out") == 0
    network = runs[0].network.eval()
    settings = ModelSettings(directory=tiny, adapter=tmp_path / "out" / "adapter", device="cpu")
    loaded = load_weights(settings).network
    bare = load_weights(ModelSettings(directory=tiny, device="cpu")).network
    ids = torch.tensor([[3, 40, 80, 300, 7, 21]])
    with torch.inference_mode():
        in_training, in_use, before = (one(ids).logits for one in (network, loaded, bare))
    torch.testing.assert_close(in_use, in_training, rtol=0, atol=1e-4)
    assert (in_use - before).abs().max() > 0.1


def test_the_adapter_is_sound_and_says_where_it_comes_from(trained, tiny):
    adapter = inspect_adapter(trained / "adapter", read_fingerprint(tiny))
    assert (adapter.status, adapter.reason) == (Status.OK, None)
    card = adapter.card
    assert (card.name, card.base_name, card.slot_lengths) == ("letters", "tiny", (16,))
    assert list(card.languages) == ["de"]
    assert {"read:3", "wait:5", "offline"} <= set(card.policies)
    assert [(one.name, one.pairs, one.licence) for one in card.data] == [
        ("letters", 24, "not stated")
    ]
    assert card.seeds == (1,)


@pytest.mark.parametrize(
    ("architecture", "quantise"),
    [("falcon-alibi", "none"), ("gemma2", "nf4"), ("gemma3", "none"), ("qwen3", "nf4")],
)
def test_every_architecture_trains_and_is_decoded(data, tmp_path, architecture, quantise):
    base = save_network(tmp_path / "base", architecture)
    method = "simulmask" if "alibi" in architecture else "exposst"
    rest = ["--method", method, "--quantise", quantise, "--dev", write_dev(tmp_path, n_pairs=1)]
    rest += ["--every", "1", "--gradient-checkpointing"]
    out = tmp_path / "out"
    assert finetune(data, base, out, *rest, "--stop-after", "1") == 0
    adapter = inspect_adapter(out / "adapter", read_fingerprint(base))
    assert adapter.card.layout == ("simulmask" if "alibi" in architecture else "slots")
    assert adapter.status is (Status.UNKNOWN if "alibi" in architecture else Status.OK)


def test_in_bfloat16_a_run_trains_decodes_and_goes_on(run, tmp_path):
    rest = ["--precision", "bf16", "--quantise", "nf4", "--dev", write_dev(tmp_path, n_pairs=1)]
    rest += ["--every", "1", "--epochs", "4"]
    assert run(*rest, "--stop-after", "2") == 0
    assert run(*rest) == 0
    found = losses(tmp_path / "out")
    assert len(found) == 12
    assert found[-1] < found[0]


def test_a_run_that_was_stopped_and_resumed_is_the_unbroken_run_to_the_bit(
    data, tiny, trained, tmp_path
):
    out, arguments = tmp_path / "letters", ["--dropout", "0.2"]
    assert finetune(data, tiny, out, *arguments, "--stop-after", "1") == 0
    assert not (out / "adapter").exists()
    assert finetune(data, tiny, out, *arguments) == 0
    assert_same_adapter(out, trained)
    assert losses(out) == losses(trained)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (["--rank", "8"], "another LoRA"),
        (["--seed", "2"], "another optimisation"),
        (["--slot", "8,16"], "another slot length"),
        (["--method", "gpe"], "another method"),
        (["--policies", "wait-k"], "another mixture"),
    ],
    ids=str,
)
def test_a_run_is_not_resumed_with_other_settings(data, tiny, trained, capsys, changed, words):
    assert finetune(data, tiny, trained, "--dropout", "0.2", *changed) == 2
    assert words in told_fault(capsys)


def test_a_run_is_not_resumed_on_another_base(data, trained, tmp_path, capsys):
    other = save_tiny_model(tmp_path)
    tensors = load_file(other / "model.safetensors")
    tensors["lm_head.weight"] += 1
    save_file(tensors, other / "model.safetensors", {"format": "pt"})
    assert finetune(data, other, trained, "--dropout", "0.2") == 2
    assert "made with another base" in told_fault(capsys)


@pytest.fixture(scope="module")
def watched(data, tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    dev = write_dev(folder)
    rest = ["--dev", dev, "--dev-policies", "read:2,wait:1", "--every", "1", "--max-laal", "9"]
    assert finetune(data, tiny, folder / "out", *rest) == 0
    return folder / "out"


def test_a_dev_set_is_decoded_in_time_and_its_scores_stand_on_the_card(watched, tiny):
    lines = [json.loads(line) for line in (watched / "dev.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert [one["policy"] for one in lines[0]["scores"]] == ["read:2", "wait:1"]
    card = inspect_adapter(watched / "adapter", read_fingerprint(tiny)).card
    best = max(lines, key=lambda line: max(one["bleu"] for one in line["scores"]))
    assert [round(one["bleu"], 2) for one in best["scores"]] == [one.bleu for one in card.scores]


def test_a_run_ends_when_no_new_best_comes(data, tiny, tmp_path):
    rest = ["--dev", write_dev(tmp_path), "--dev-policies", "read:2", "--every", "1"]
    rest += ["--max-laal", "0.01", "--patience", "2", "--epochs", "4"]
    out = tmp_path / "out"
    assert finetune(data, tiny, out, *rest) == 0  # nothing lags so little: the first stays best
    assert read_counters(out / "checkpoint").step == 3
    assert (out / "adapter" / WEIGHTS).exists()
    assert finetune(data, tiny, out, *rest) == 0
    assert read_counters(out / "checkpoint").step == 3


def test_a_loss_that_is_no_number_stops_before_the_step(data, tiny, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    assert finetune(data, tiny, out, "--stop-after", "1") == 0
    kept = (out / "checkpoint" / "state.safetensors").read_bytes()
    loss = ForwardLoss.__call__
    monkeypatch.setattr(ForwardLoss, "__call__", lambda *rest: loss(*rest) * torch.nan)
    assert finetune(data, tiny, out) == 1
    told = told_fault(capsys)
    assert "step 2 are no numbers (loss nan" in told
    assert "holds step 1" in told
    assert (out / "checkpoint" / "state.safetensors").read_bytes() == kept
    monkeypatch.undo()
    assert finetune(data, tiny, out) == 0
