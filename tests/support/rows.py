"""Random samples as rows that the tiny model can be fed."""

import random

from engine.layout.planner import SlotPlanner
from engine.layout.rows import IGNORE
from engine.policy import Offline, ReadN, WaitK
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt, random_pair
from tests.support.networks import N_IDS
from training.trainer.samples import build_samples
from training.trainer.stream import Example


def rows_with_small_ids(seed):
    """A random sample whose ids the tiny model knows."""
    rng = random.Random(seed)
    policy = rng.choice([ReadN(2), WaitK(2)])
    layout = LayoutSettings(slot_length=rng.randint(3, 16))
    rows = build_rows(
        random_pair(rng, n_ids=370), policy, bare_prompt(), layout, marker_alone=False
    )
    return [row._replace(id=row.id % 380) for row in rows]


def passes(rows):
    """Rows grouped as they are fed."""
    times = sorted({row.time for row in rows})
    return [[row for row in rows if row.time == time] for time in times]


def random_examples(seed, n_examples, *, layout="slots"):
    """Examples for the tiny networks."""
    rng = random.Random(seed)
    examples = []
    for _ in range(n_examples):
        policy = rng.choice([ReadN(2), WaitK(2)])
        pair = random_pair(rng, n_ids=370)
        settings = LayoutSettings(slot_length=5, name=layout)
        rows = build_rows(pair, policy, bare_prompt(), settings, marker_alone=False)
        rows = [row._replace(id=row.id % N_IDS, label=small(row.label)) for row in rows]
        examples.append(Example(rows, policy.ends_writes))
    return examples


def small(label):
    return label if label == IGNORE else label % N_IDS


def build_rows(pair, policy, prompt, layout, *, marker_alone):
    """All rows of a pair under a policy; where the layout recomputes, those of its last pass."""
    return build_samples(pair, policy, prompt, layout, marker_alone=marker_alone)[-1]


def sample(layout, rng):
    """Rows as training has them, with ids the tiny networks know."""
    policy = rng.choice([ReadN(rng.randint(1, 4)), WaitK(rng.randint(1, 4)), Offline()])
    settings = LayoutSettings(slot_length=rng.randint(3, 16), name=layout)
    headers = {name: rng.randint(1, 3) for name in ("n_system", "n_user", "n_assistant")}
    headers["n_first"] = rng.choice([0, None])
    pair, alone = random_pair(rng, n_ids=370), rng.random() < 0.5
    rows = build_rows(pair, policy, bare_prompt(**headers), settings, marker_alone=alone)
    return [row._replace(id=row.id % N_IDS) for row in rows]


def play(planner, rng, n_turns):
    """Random reads and writes; yields the rows of every forward pass."""
    for _ in range(n_turns):
        for _ in range(rng.randint(1, 3)):
            planner.read([rng.randrange(N_IDS) for _ in range(rng.randint(1, 3))])
        for _ in range(rng.randint(1, 3)):
            yield planner.write()
            planner.choose(rng.randrange(N_IDS))


def new_planner(rng):
    headers = {name: rng.randint(1, 3) for name in ("n_system", "n_user", "n_assistant")}
    return SlotPlanner(
        bare_prompt(**headers).headers, LayoutSettings(slot_length=rng.randint(3, 9))
    )


def ghost(rows, number):
    """Return rows that were taken back, where no real row sees them, and no other ghost.

    Real rows stand before them; those of a later look (number from 1) stand before those of an
    earlier one, which are not of their time.
    """
    first = (1 << 40) - 64 * number
    return [
        row._replace(position=first + index, shift=row.position + row.shift - first - index)
        for index, row in enumerate(rows)
    ]
