"""The gradient of the policy loss on two tokens, by hand."""

import itertools
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from engine.layout.rows import Row
from engine.runtime.torch.attention import Attention
from training.research.seqpo import PolicyLoss, RowScores, frozen_copy
from training.trainer.loss import Markers
from training.trainer.stream import Example, pack

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
