"""The live probabilities of a sampled translation are those of one masked pass over its rows."""

import random
from collections import deque

import numpy as np
import pytest
import torch

from engine.layout.rows import IGNORE
from engine.runtime.causal_model import CausalModel
from engine.runtime.torch.attention import Attention
from engine.settings import LayoutSettings, TranslationSettings
from engine.text.prompt import make_prompt
from engine.text.sentences import Sentence
from engine.translation.feed import feed_sentence
from engine.translation.slot_translator import Translator
from tests.support.fakes import random_word, tiny_weights
from training.research.seqpo import PolicyLoss, Request, Rollouts, RowScores, Sampler, frozen_copy
from training.trainer.loss import Markers
from training.trainer.stream import Example, pack, pad


def requests(n, rng, **changes):
    return [
        Request(
            source=" ".join(random_word(rng) for _ in range(rng.randint(1, 7))),
            language="de",
            policy=rng.choice(["read:1", "read:2", "read:3"]),
            seed=f"{number}",
            **changes,
        )
        for number in range(n)
    ]


@pytest.fixture
def noted(monkeypatch):
    """Log-probabilities of what was drawn, by lane and the row that it was drawn after."""
    live = {}
    ask_id = CausalModel.ask_id

    def note(model, rows, suppressed, **others):
        id_ = yield from ask_id(model, rows, suppressed, **others)
        logits = model._newest.logits.numpy() / model.choose.temperature
        live[model._lane, model.n_rows - 1] = logits[id_] - np.logaddexp.reduce(logits)
        return id_

    monkeypatch.setattr(CausalModel, "ask_id", note)
    return live


@pytest.mark.parametrize("layout", ["slots", "conversational"])
def test_the_sum_of_live_log_probabilities_is_that_of_one_masked_pass(layout, noted):
    weights, rng = tiny_weights(seed=6), random.Random(1)  # one that often ends a write at once
    markers = Markers.of(make_prompt(weights.tokenizer, weights.card, "de"))
    n_forced = n_empty = 0
    for temperature in (1.0, 4.0):  # at 4 most writes run away, and are ended
        scores = RowScores(
            markers=markers, attention=Attention.of(weights.network), temperature=temperature
        )
        settings = LayoutSettings(slot_length=4, name=layout)  # sentences overflow their slot
        rollouts = Rollouts(weights, settings, n_lanes=1, temperature=temperature)
        for request in requests(8, rng):
            noted.clear()
            (trajectory,) = rollouts.sample([request])
            asked = [n for n, row in enumerate(trajectory.rows) if row.label != IGNORE]
            batch = pad([Example(trajectory.rows, ends_writes=True)])
            with torch.no_grad():
                at_once = scores(weights.network, batch)
            live = torch.tensor([noted[0, n] for n in asked])
            torch.testing.assert_close(at_once, live, rtol=0, atol=1e-9)
            assert float(at_once.sum()) == pytest.approx(float(live.sum()), abs=1e-9)
            n_forced += len(noted) - len(asked)
            n_empty += trajectory.n_empty
    assert n_forced > 3
    assert n_empty > 3


def test_in_the_first_step_every_ratio_is_one_and_the_divergence_is_zero(noted):
    weights, rng = tiny_weights(seed=6), random.Random(4)
    wanted = requests(9, rng)
    rollouts = Rollouts(weights, LayoutSettings(slot_length=4), n_lanes=9, temperature=0.7)
    sampled = rollouts.sample(wanted)
    lanes = sorted(range(9), key=lambda number: -len(wanted[number].source))  # long ones first
    live = [
        noted[lane, n]
        for lane, number in enumerate(lanes)
        for n, row in enumerate(sampled[number].rows)
        if row.label != IGNORE
    ]
    examples = [
        Example(sampled[number].rows, ends_writes=True, advantage=number - 4.0) for number in lanes
    ]
    batch = pack([examples[:4], examples[4:]])  # with others in a line, as in a step
    scores = RowScores(
        markers=Markers.of(make_prompt(weights.tokenizer, weights.card, "de")),
        attention=Attention.of(weights.network),
        temperature=0.7,
    )
    with torch.no_grad():
        ratios = (scores(weights.network, batch) - torch.tensor(live)).exp()
    torch.testing.assert_close(ratios, torch.ones_like(ratios), rtol=0, atol=1e-9)
    loss = PolicyLoss(scores, 0.02, frozen_copy(weights.network))
    with torch.no_grad():
        loss(weights.network, batch)
    assert loss.divergence == 0.0
    assert loss.n_rows == len(live) > 50


def test_translations_sampled_side_by_side_are_those_sampled_alone():
    weights, rng = tiny_weights(), random.Random(2)
    layout = LayoutSettings(slot_length=5)
    wanted = requests(9, rng)
    together = Rollouts(weights, layout, n_lanes=4, temperature=0.7)
    for _ in range(2):  # the second time with the translators of the first
        sampled = together.sample(wanted)
    for request, trajectory in zip(wanted, sampled, strict=True):
        settings = TranslationSettings(
            policy=request.policy, layout=layout, cut_loops=False, constrained=False
        )
        translator = Translator(weights, settings)
        translator.model.choose = Sampler(0.7, random.Random(request.seed))
        utterance = translator.open()
        sentence = Sentence(tuple(request.source.split()), ended=True)
        for changes in feed_sentence(utterance, sentence):
            deque(changes, maxlen=0)
        assert tuple(utterance.fed_rows()) == trajectory.rows
        assert " ".join(utterance.caption.split()) == trajectory.translation.hypothesis
    assert len({trajectory.rows for trajectory in sampled}) == 9
