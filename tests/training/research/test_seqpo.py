"""Learning by reward: rewards and gradients by hand, when a run ends, and the command."""

import itertools
import json
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from engine.layout.rows import Row
from engine.metrics.event_log import Translation
from engine.models.adapters.adapter import Status, inspect_adapter
from engine.models.fingerprint import read_fingerprint
from engine.runtime.loader import load_by_torch
from engine.runtime.torch.attention import Attention
from engine.settings import ModelSettings
from tests.support.fakes import play
from tests.support.training_runs import pair_lines, write_pairs
from tests.support.twins import both, twin
from training.research.__main__ import main
from training.research.seqpo import (
    PolicyLoss,
    RewardSettings,
    RowScores,
    SeqpoSettings,
    StringQuality,
    advantages,
    frozen_copy,
    lagging,
    open_reward_watch,
    rewards,
    standardised,
)
from training.settings import DevSettings
from training.trainer.checkpoint import Counters, save_checkpoint
from training.trainer.loss import Markers
from training.trainer.processes import OneProcess
from training.trainer.run import Run
from training.trainer.stream import Example, pack

QUICK = [
    "--rank", "4", "--sources", "2", "--group", "3", "--lanes", "6", "--policies", "read:1,read:2",
    "--rate", "1e-3", "--device", "cpu",
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("data") / "pairs.tsv", 5, aligned=False)


def seqpo(data, base, out, *arguments):
    given = ["seqpo", "--data", f"de={data}", "--base", str(base), "--out", str(out), *QUICK]
    return main([*given, *arguments])


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def without_seconds(lines):
    return [{name: value for name, value in line.items() if name != "sample_s"} for line in lines]


def factors(out):
    return load_file(out / "adapter" / "adapter_model.safetensors")


def test_a_run_that_was_stopped_ends_as_an_unbroken_one(tmp_path, plain_model, data):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert seqpo(data, plain_model, whole, "--steps", "4") == 0
    assert (
        seqpo(data, plain_model, broken, "--steps", "4", "--stop-after", "2", "--lanes", "3") == 0
    )
    assert not (broken / "adapter").exists()
    assert seqpo(data, plain_model, broken, "--steps", "4") == 0
    first, *_, last = lines = lines_of(whole / "steps.jsonl")
    assert without_seconds(lines_of(broken / "steps.jsonl")) == without_seconds(lines)
    assert [line["step"] for line in lines] == [1, 2, 3, 4]
    assert first["divergence"] == 0.0  # at the start, exactly
    assert last["divergence"] != 0.0
    assert all(torch.equal(factors(whole)[name], one) for name, one in factors(broken).items())


def test_the_adapter_is_sound_and_loads_on_torch_and_onnx_runtime_as_it_was_trained(
    tmp_path, plain_model, data, monkeypatch
):
    runs = []
    train = Run.train
    monkeypatch.setattr(Run, "train", lambda self: (train(self), runs.append(self))[0])
    assert seqpo(data, plain_model, tmp_path / "learnt", "--steps", "4", "--rate", "1e-2") == 0
    folder = tmp_path / "learnt" / "adapter"
    adapter = inspect_adapter(folder, read_fingerprint(plain_model))
    assert (adapter.status, adapter.reason) == (Status.OK, None)
    assert adapter.card.policies == ("read:1", "read:2")
    assert (adapter.card.name, adapter.card.layout) == ("learnt", "slots")
    assert [(one.name, one.pairs) for one in adapter.card.data] == [("letters", 5)]
    light, heavy = both(plain_model, adapter=folder)  # as the window loads it, and by torch
    translator = twin((light, heavy), policy="read:2")
    play(translator, random.Random(0), 5)
    assert translator.model.compared > 20  # every logit of one is that of the other
    ids = torch.tensor([[3, 40, 80, 300, 7, 21]])
    bare = load_by_torch(ModelSettings(directory=plain_model, device="cpu")).network
    with torch.inference_mode():
        trained, used, before = (one(ids).logits for one in (runs[0].network, heavy.network, bare))
    torch.testing.assert_close(used, trained, rtol=0, atol=1e-4)
    assert (used - before).abs().max() > 0.1


USUAL = SeqpoSettings()
Q, LAG = [0.2, 0.4, 0.6], [1.0, 2.0, 6.0]


def test_quality_and_lagging_are_standardised_and_fused():
    # quality: mean 0.4, sample std 0.2; lagging: mean 3, std sqrt((4 + 1 + 9) / 2) = sqrt(7)
    root = 7**0.5
    expected = [2 * -1 + 2 / root, 2 * 0 + 1 / root, 2 * 1 - 3 / root]
    assert rewards(Q, LAG, USUAL) == pytest.approx(expected)
    assert sum(expected) == pytest.approx(0)
    assert advantages([1.0, 2.0, 6.0]) == [-2.0, -1.0, 3.0]


def test_a_group_of_equals_has_no_advantage_and_near_equals_do_not_shout():
    assert advantages(rewards([0.5] * 4, [2.0] * 4, USUAL)) == pytest.approx([0.0] * 4)
    near = rewards([0.5, 0.501], [2.0, 2.01], USUAL)
    assert max(map(abs, near)) < 0.15
    assert standardised([1.0, 1.001], 0.01) == pytest.approx([-0.05, 0.05])


def test_the_weight_of_lagging_may_be_nothing():
    assert rewards(Q, LAG, replace(USUAL, lag_weight=0.0)) == pytest.approx([-2.0, 0.0, 2.0])


def test_the_hinge_credits_low_lagging_only_where_the_quality_is_the_median_or_more():
    hinge = replace(USUAL, reward="hinge")
    # credits: 0 (too bad, though it lags least), 6 - 2 = 4, 0: mean 4/3, std sqrt(16/3)
    root = (16 / 3) ** 0.5
    expected = [-1 - 0.5 * 4 / 3 / root, 0.5 * 8 / 3 / root, 1 - 0.5 * 4 / 3 / root]
    assert rewards(Q, LAG, hinge) == pytest.approx(expected)


SOURCE, RIGHT = "one two three four", "eins zwei drei vier"


def test_an_empty_translation_is_the_worst_of_its_group():
    quality = StringQuality("de")
    qualities = [quality(one, RIGHT) for one in ("", RIGHT, RIGHT)]
    lags = [lagging(d, SOURCE, RIGHT, "de") for d in ((), (1, 2, 3, 4), (2, 3, 4, 4))]
    assert qualities == pytest.approx([0.0, 1.0, 1.0])
    assert lags == [4.0, 1.0, 2.0]
    # quality: mean 2/3, variance 1/3; lagging: mean 7/3, variance 7/3
    quality_std, lag_std = (1 / 3) ** 0.5, (7 / 3) ** 0.5
    expected = [
        2 * -2 / 3 / quality_std - 5 / 3 / lag_std,
        2 * 1 / 3 / quality_std + 4 / 3 / lag_std,
        2 * 1 / 3 / quality_std + 1 / 3 / lag_std,
    ]
    assert rewards(qualities, lags, USUAL) == pytest.approx(expected)


def test_lagging_is_that_of_the_metrics():
    assert lagging((4, 4), SOURCE, RIGHT, "de") == 4.0
    assert lagging((1, 2, 3, 4), SOURCE, RIGHT, "de") == 1.0
    assert lagging((1, 2), SOURCE, RIGHT, "de") == 1.0  # the ideal has the reference's length
    # eight words, one source word for two: ideal delays grow by 1/2
    doubled = (1, 1, 2, 2, 3, 3, 4, 4)
    assert lagging(doubled, SOURCE, RIGHT, "de") == pytest.approx((4 * 1 + 3 * 0.5) / 7)


ALONE = OneProcess(torch.device("cpu"))


class Said:
    """Says the references, or the reversed ones, so many words late."""

    def __init__(self, references):
        self.references = references
        self.late = 2
        self.wrong = False

    def __call__(self, sources, _language, _policy):
        return [self._say(number, source) for number, source in sources.items()]

    def _say(self, index, source):
        words = source.split()
        said = self.references[source].split()
        delays = tuple(min(n + self.late, len(words)) for n in range(len(said)))
        hypothesis = " ".join(said)[:: -1 if self.wrong else 1]
        return translation(index, words, hypothesis, delays)


def translation(index, words, hypothesis, delays):
    counts = dict.fromkeys(
        ("tokens_fed", "tokens_recomputed", "forwards", "probes", "flops", "n_erased",
         "n_cut", "peak_memory_bytes"), 0,
    )  # fmt: skip
    return Translation(
        index=index, source=tuple(words), hypothesis=hypothesis, delays=delays,
        ms=(0.0,) * len(words), emitted_ms=(0.0,) * len(delays), token_ms=(), **counts,
    )  # fmt: skip


@pytest.fixture
def settings(tmp_path):
    columns = [line.split("\t") for line in pair_lines(8, seed=9)]
    paths = (tmp_path / "dev.en", tmp_path / "dev.de")
    for number, path in enumerate(paths):
        path.write_text("".join(line[number] + "\n" for line in columns), encoding="utf-8")
    (tmp_path / "data.tsv").touch()
    return RewardSettings(
        data={"de": tmp_path / "data.tsv"},
        out=tmp_path / "out",
        base="any",
        dev=DevSettings(sets={"de": paths}, policies=("read:2",), every_steps=5),
        seqpo=SeqpoSettings(steps=20, max_fall=1.0, max_empty=0.6, lag_price=2.0),
    )


@pytest.fixture
def said(settings):
    source, reference = (
        path.read_text(encoding="utf-8").splitlines() for path in settings.dev.sets["de"]
    )
    return Said(dict(zip(source, reference, strict=True)))


def opened(settings, step):
    """The watch of a run that goes on from a step."""
    network = torch.nn.Linear(1, 1)
    counters = Counters(step=step)
    save_checkpoint(
        settings.out / "checkpoint", network, torch.optim.SGD(network.parameters()), counters
    )
    return open_reward_watch(settings, "")


def look(watch, step, said):
    return watch.look(step, said, ALONE)[1]


def test_a_run_ends_when_the_dev_score_falls_and_not_before(settings, said):
    watch = opened(settings, 0)
    look(watch, 0, said)
    assert not look(watch, 5, said)
    assert not watch.reason
    said.wrong = True
    assert not look(watch, 10, said)
    assert watch.reason.startswith("chrF fell from 100.0 at the start to ")
    later = opened(replace(settings, seqpo=replace(settings.seqpo, max_fall=99.9)), 10)
    assert not later.reason  # as far as it may


def test_the_best_step_has_most_chrf_less_the_price_of_lagging(settings, said):
    watch = opened(settings, 0)
    said.late = 3
    assert not look(watch, 0, said)  # the start is no step of the run
    said.late = 2
    assert look(watch, 5, said)
    assert watch.is_better
    assert watch.scores[0].laal < 3
    said.late = 3
    assert not look(watch, 10, said)
    said.late = 1
    assert look(watch, 15, said)
    dear = opened(replace(settings, seqpo=replace(settings.seqpo, lag_price=-2.0)), 15)
    assert not dear.is_better  # were lagging worth something, the start would be best


BETA = 0.3
START = [0.2, -0.5]
NOW = torch.tensor([0.9, 0.4], dtype=torch.float64)


class TwoTokens(nn.Module):
    """A network that says the same two tokens everywhere; its weights are its logits."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.tensor(START, dtype=torch.float64))

    def forward(self, input_ids, logits_to_keep, **_):
        return SimpleNamespace(logits=self.table.expand(len(input_ids), len(logits_to_keep), 2))


@pytest.fixture
def moved():
    """A network that has moved away from its start, and its loss."""
    network = TwoTokens()
    scores = RowScores(markers=Markers((), ()), attention=Attention(dtype=torch.float64))
    loss = PolicyLoss(scores, BETA, frozen_copy(network))
    with torch.no_grad():
        network.table.copy_(NOW)
    return network, loss


def trajectory(tokens, advantage):
    """A source row, then a row for each token, the last one without a label."""
    rows = [Row(0, 0, time=1, label=tokens[0])]
    rows += [Row(token, n + 1, time=1, label=after) for n, (token, after) in enumerate(
        zip(tokens, (*tokens[1:], -100), strict=True)
    )]  # fmt: skip
    return Example(rows, ends_writes=True, advantage=advantage)


def gradient(network, loss, batch):
    network.zero_grad()
    loss(network, batch).backward()
    return network.table.grad.clone()


def test_the_gradient_of_one_step_is_the_analytic_one(moved):
    network, loss = moved
    sampled = [trajectory((0, 1), 1.5), trajectory((1,), -0.5)]
    found = gradient(network, loss, pack([[sampled[0]], [sampled[1]]]))
    chosen, start = NOW.softmax(0), torch.tensor(START, dtype=torch.float64).log_softmax(0)
    expected = torch.zeros(2, dtype=torch.float64)
    for token, advantage in ((0, 1.5), (1, 1.5), (1, -0.5)):
        weight = advantage - BETA * (NOW.log_softmax(0)[token] - start[token])
        one_hot = torch.eye(2, dtype=torch.float64)[token]
        expected -= weight * (one_hot - chosen) / 3  # the mean over the three chosen tokens
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-7)
    packed = gradient(network, loss, pack([sampled]))  # both in one line
    torch.testing.assert_close(packed, expected, rtol=0, atol=1e-7)
    apart = sum(float(NOW.log_softmax(0)[token] - start[token]) for token in (0, 1, 1))
    assert loss.divergence == pytest.approx(2 * apart)  # of both passes
    assert loss.n_rows == 6


def test_the_expected_gradient_is_that_of_reward_less_the_divergence_from_the_start(moved):
    """Every translation of two tokens, by its probability: the exact objective, without noise."""
    network, loss = moved
    rewards = {(0, 0): 1.0, (0, 1): -2.0, (1, 0): 0.5, (1, 1): 3.0}
    found = torch.zeros(2, dtype=torch.float64)
    for tokens in itertools.product((0, 1), repeat=2):
        probability = float(NOW.softmax(0)[list(tokens)].prod())
        batch = pack([[trajectory(tokens, rewards[tokens])]])
        found += probability * gradient(network, loss, batch)
    table = NOW.clone().requires_grad_()
    own, start = table.log_softmax(0), torch.tensor(START, dtype=torch.float64).log_softmax(0)
    expected_reward = sum(
        own[list(tokens)].sum().exp() * reward for tokens, reward in rewards.items()
    )
    divergence = 2 * (own.exp() * (own - start)).sum()  # of each of the two tokens
    (expected_reward - BETA * divergence).backward()
    # the loss is a mean over the two tokens; the divergence of a token does not blame others
    torch.testing.assert_close(found, -table.grad / 2, rtol=0, atol=1e-7)
