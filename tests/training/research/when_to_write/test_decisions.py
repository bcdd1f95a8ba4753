import random

from engine.layout.rows import IGNORE
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt, numbered_pair
from training.research.methods import LEVELS, nested_boundaries
from training.research.when_to_write import build_decisions
from training.trainer.samples import AlignedReads, TokenizedPair, build_samples


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
