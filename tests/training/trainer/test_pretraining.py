"""Test runs that train a model from nothing: what they give, and that they go on to the bit."""

import json

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from engine.runtime.loader import load_weights
from engine.runtime.onnx.onnx_loader import OnnxWeights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.commands import bare
from tests.support.training_runs import pretrain
from training.trainer.pretraining import Muon, orthogonalise


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
        utterance.set_source(bare(["ab", "cd", "ef."], ended=True))
        for _ in changes(utterance):
            pass
        assert utterance.finished


OPTIONS = {"rate": 0.01, "weight_decay": 0.1, "dtype": torch.float32}


def model(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 6))


def muon(network, **changes):
    parameters = list(network.parameters())
    return Muon(
        [one for one in parameters if one.dim() == 2],
        [one for one in parameters if one.dim() == 1],
        **(OPTIONS | changes),
    )


def gradients(network, step):
    generator = torch.Generator().manual_seed(step)
    network(torch.randn(4, 6, generator=generator)).square().mean().backward()


def steps(network, optimizer, first, n_steps):
    for step in range(first, first + n_steps):
        gradients(network, step)
        optimizer.step()
        optimizer.zero_grad()


def turned(singular_values, n_rows, n_columns, seed):
    """A matrix with these singular values."""
    torch.manual_seed(seed)
    left, _ = torch.linalg.qr(torch.randn(n_rows, len(singular_values)))
    right, _ = torch.linalg.qr(torch.randn(n_columns, len(singular_values)))
    return left @ torch.diag(torch.tensor(singular_values)) @ right.mT


@pytest.mark.parametrize("shape", [(5, 5), (5, 9), (9, 5)])
def test_every_direction_becomes_about_equally_long_and_stays_what_it_was(shape):
    matrix = turned([3.0, 2.0, 1.0, 0.7, 0.4], *shape, seed=1)
    result = orthogonalise(matrix[None], torch.float32)[0]
    values = torch.linalg.svdvals(result)
    assert values.shape == (5,)
    assert ((values > 0.6) & (values < 1.25)).all()
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    along = torch.diag(left.mT @ result @ right.mT)
    torch.testing.assert_close(along.sort().values, values.sort().values, rtol=0, atol=1e-4)


def test_a_step_goes_against_the_orthogonal_gradient_and_shrinks_the_weight():
    network = model()
    before = network[2].weight.detach().clone()
    gradients(network, 0)
    gradient = network[2].weight.grad.clone()
    muon(network).step()
    looked_ahead = gradient * 0.05 + gradient * 0.05 * 0.95  # Nesterov, from a momentum of 0
    direction = orthogonalise(looked_ahead[None], torch.float32)[0]
    rate = OPTIONS["rate"]  # the trainer, not the optimizer, scales it
    wanted = before * (1 - rate * 0.1) - rate * 0.2 * 8**0.5 * direction
    torch.testing.assert_close(network[2].weight.detach(), wanted)


def test_what_is_no_matrix_moves_as_under_adamw():
    ours, theirs = model(), model()
    biases = [one for one in theirs.parameters() if one.dim() == 1]
    adamw = torch.optim.AdamW(biases, lr=0.01, betas=(0.9, 0.98), weight_decay=0.1)
    optimizer = muon(ours)
    for step in range(3):
        for mine, its in zip(ours.parameters(), theirs.parameters(), strict=True):
            if mine.dim() == 2:
                its.data.copy_(mine.data)
        for network, one in ((ours, optimizer), (theirs, adamw)):
            network.zero_grad()
            gradients(network, step)
            one.step()
    for mine, its in zip(ours.parameters(), theirs.parameters(), strict=True):
        if mine.dim() == 1:
            torch.testing.assert_close(mine, its)
