import random

import pytest
import torch

from engine.layout.rows import IGNORE
from engine.layout.slots import make_planner
from engine.policy import Action
from engine.runtime.torch.torch_store import slot_model
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt, numbered_pair
from tests.support.networks import N_IDS, masked_output, tiny_network
from training.research.methods import LEVELS, nested_boundaries
from training.research.when_to_write import build_decisions
from training.trainer.samples import AlignedReads, TokenizedPair, build_samples, play


def test_each_word_but_the_last_is_asked_at_its_last_row():
    n_overflows = 0
    for seed in range(60):
        rng = random.Random(seed)
        pair, layout = numbered_pair(rng), LayoutSettings(slot_length=rng.randint(3, 16))
        prompt, level = bare_prompt(), rng.randrange(len(LEVELS))
        decisions = build_decisions(pair, prompt, layout, level=level)
        asked = [decisions.rows[index].id for index in decisions.asked]
        assert asked == [word[-1] for word in pair.source[:-1]]
        assert len(decisions.labels) == len(asked)
        policy = AlignedReads(nested_boundaries(pair.needs, LEVELS[level]))
        (rows,) = build_samples(pair, policy, prompt, layout, marker_alone=False)
        assert list(decisions.rows) == list(rows), "the head is trained on what the model was"
        assert sum(row.label != IGNORE for row in rows) > 0
        n_overflows += sum(row.id in prompt.headers.user for row in rows) > 1
    assert n_overflows > 5


def test_the_answer_at_a_word_is_the_share_of_levels_that_write_after_it():
    words = tuple((10 + n,) for n in range(8))
    pair = TokenizedPair(words, words[:6], (1, 2, 3, 5, 6, 8))
    levels = [nested_boundaries(pair.needs, apart) for apart in LEVELS]
    assert levels == [(1, 2, 3, 5, 6, 8), (2, 5, 8), (5, 8), (5,), (8,)]
    decisions = build_decisions(pair, bare_prompt(), LayoutSettings(), level=0)
    assert decisions.labels == (0.2, 0.4, 0.2, 0.0, 0.8, 0.2, 0.0)


def test_levels_are_nested():
    for seed in range(50):
        rng = random.Random(seed)
        needs = tuple(sorted(rng.randint(1, 20) for _ in range(12)))
        levels = {apart: set(nested_boundaries(needs, apart)) for apart in LEVELS}
        assert levels[1] >= levels[2] >= levels[3] >= levels[6]
        assert levels[2] >= levels[4]


def small(rows):
    return [row._replace(id=row.id % N_IDS) for row in rows]


@pytest.mark.parametrize("layout_name", ["slots", "conversational", "gpe"])
def test_a_target_row_that_is_asked_is_computed_as_live_and_changes_no_other_row(layout_name):
    """After each word the row is fed, asked and taken back; in training it is a ghost."""
    network, n_asked = tiny_network("llama"), 0
    for seed in range(12):
        rng = random.Random(seed)
        pair = numbered_pair(rng)
        layout = LayoutSettings(slot_length=rng.randint(3, 16), name=layout_name)
        prompt = bare_prompt(*(rng.randint(1, 3) for _ in range(3)))
        level = rng.randrange(len(LEVELS))
        decisions = build_decisions(pair, prompt, layout, level=level, reads_target=True)
        plain = build_decisions(pair, prompt, layout, level=level)
        assert decisions.labels == plain.labels
        found = masked_output(network, small(decisions.rows), ranked=False).logits[0]
        alone = masked_output(network, small(plain.rows), ranked=False).logits[0]
        torch.testing.assert_close(found[: len(alone)], alone, rtol=0, atol=1e-9)
        expected = live_answers(network, pair, prompt, layout, level)[: len(decisions.asked)]
        torch.testing.assert_close(found[list(decisions.asked)], expected, rtol=0, atol=1e-9)
        n_asked += len(decisions.asked)
    assert n_asked > 40


def live_answers(network, pair, prompt, layout, level):
    """Logits of the row that is asked for a token after each word, fed and taken back."""
    planner, model = make_planner(prompt.headers, layout), slot_model(network, 600)
    model.use(layout)
    answers, before = [], None
    policy = AlignedReads(nested_boundaries(pair.needs, LEVELS[level]))
    for action in play(pair, policy, prompt, planner, marker_alone=False):
        if written := planner.rows[model.n_rows : planner.n_fed]:
            model.feed(small(written))
        if before is Action.READ:
            answers.append(model.feed(small(planner.write())))
            model.truncate(planner.take_back(keeps_time=True))
        before = action
    return torch.stack(answers)
