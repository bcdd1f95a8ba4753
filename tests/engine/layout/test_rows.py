import random

import torch

from engine.layout.rows import NEVER, visible
from engine.policy import WaitK
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt, numbered_pair
from tests.support.rows import build_rows
from training.trainer.samples import source_words

CASES = 200


def drawn(picture):
    """A mask from a drawing: a row per query, its name first, then 1 where a key is seen."""
    lines = [line.split()[1:] for line in picture.strip().splitlines()]
    return [[mark == "1" for mark in line] for line in lines]


def sight(places):
    """The mask of rows that are given as position:time."""
    position, time = (
        torch.tensor(column)
        for column in zip(*(map(int, place.split(":")) for place in places.split()), strict=True)
    )
    return visible(position, time, position, time).tolist()


def test_the_rule_draws_wait_2_over_two_slots_of_three():
    """In the order of positions, so that every hole below the diagonal is a word that came late."""
    places = "0:0 1:0 2:0 3:0 4:1 5:0 6:1 7:2 8:2 9:2 10:3 11:4 12:2 13:3 14:4 15:5 16:6"
    assert sight(places) == drawn("""
        sys  1 . . . . . . . . . . . . . . . .
        usr  1 1 . . . . . . . . . . . . . . .
        s1   1 1 1 . . . . . . . . . . . . . .
        s2   1 1 1 1 . . . . . . . . . . . . .
        s3   1 1 1 1 1 . . . . . . . . . . . .
        asst 1 1 1 1 . 1 . . . . . . . . . . .
        t1   1 1 1 1 1 1 1 . . . . . . . . . .
        t2   1 1 1 1 1 1 1 1 . . . . . . . . .
        usr  1 1 1 1 1 1 1 1 1 . . . . . . . .
        s4   1 1 1 1 1 1 1 1 1 1 . . . . . . .
        s5   1 1 1 1 1 1 1 1 1 1 1 . . . . . .
        s6   1 1 1 1 1 1 1 1 1 1 1 1 . . . . .
        asst 1 1 1 1 1 1 1 1 1 1 . . 1 . . . .
        t3   1 1 1 1 1 1 1 1 1 1 1 . 1 1 . . .
        t4   1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 . .
        t5   1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 .
        t6   1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
    """)


def test_the_rule_draws_read_3_with_a_chunk_that_overflows_its_slot():
    """In the order of arrival: s4 completes slot 1 and comes after the targets it stands before."""
    places = (
        "0:0 1:0 2:0 3:0 4:0 6:0 7:1 8:2 5:3 9:3 10:3 11:3 12:3 15:3 16:4 17:5 13:6 18:6 19:7 20:8"
    )
    assert sight(places) == drawn("""
        sys  1 . . . . . . . . . . . . . . . . . . .
        usr  1 1 . . . . . . . . . . . . . . . . . .
        s1   1 1 1 . . . . . . . . . . . . . . . . .
        s2   1 1 1 1 . . . . . . . . . . . . . . . .
        s3   1 1 1 1 1 . . . . . . . . . . . . . . .
        asst 1 1 1 1 1 1 . . . . . . . . . . . . . .
        t1   1 1 1 1 1 1 1 . . . . . . . . . . . . .
        t2   1 1 1 1 1 1 1 1 . . . . . . . . . . . .
        s4   1 1 1 1 1 . . . 1 . . . . . . . . . . .
        eow  1 1 1 1 1 1 1 1 1 1 . . . . . . . . . .
        usr  1 1 1 1 1 1 1 1 1 1 1 . . . . . . . . .
        s5   1 1 1 1 1 1 1 1 1 1 1 1 . . . . . . . .
        s6   1 1 1 1 1 1 1 1 1 1 1 1 1 . . . . . . .
        asst 1 1 1 1 1 1 1 1 1 1 1 1 1 1 . . . . . .
        t3   1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 . . . . .
        t4   1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 . . . .
        s7   1 1 1 1 1 1 1 1 1 1 1 1 1 . . . 1 . . .
        eow  1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 . .
        t5   1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 .
        t6   1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
    """)


def test_a_row_that_never_comes_is_seen_by_nobody():
    generator = torch.Generator().manual_seed(0)
    position_q, position_k = torch.randint(0, 50, (2, 8, 30), generator=generator)
    time_q = torch.randint(0, 50, (8, 30), generator=generator)
    never = torch.full((8, 30), NEVER)
    assert not visible(position_q, time_q, position_k, never).any()


def test_every_sample_of_a_batch_has_its_own_mask():
    generator = torch.Generator().manual_seed(0)
    position, time = torch.randint(0, 20, (2, 5, 12), generator=generator)
    together = visible(position, time, position, time)
    for index in range(5):
        one = (position[index], time[index])
        assert torch.equal(together[index], visible(*one, *one))


def test_every_row_sees_itself():
    generator = torch.Generator().manual_seed(0)
    position, time = torch.randint(0, 20, (2, 40), generator=generator)
    assert visible(position, time, position, time).diagonal().all()


# --- the paper's wording, computed without positions or times -------------------------------------


def paper_mask(rows, k, pair, prompt, marker_alone):
    """SimulMask's wording over the slots: causal, but a row that predicts a token of target word j
    sees no source word behind g(j) = min(k + j - 1, |S|); assistant headers are target rows.

    ``rows`` stand in the order of positions; of each only the id is looked at.
    """
    units = source_words(pair.source, prompt, marker_alone=marker_alone)
    unit_of = {id_: number for number, unit in enumerate(units, start=1) for id_ in unit}
    word_of = {id_: number for number, word in enumerate(pair.target, start=1) for id_ in word}
    last_of_word = {word[-1] for word in pair.target}
    n_predicted = 1  # target word that the next row with a label predicts
    mask = []
    for index, row in enumerate(rows):
        is_target = row.id in word_of or row.id in prompt.headers.assistant
        if row.id in word_of:
            n_predicted = word_of[row.id] + (row.id in last_of_word)
        read = min(k + n_predicted - 1, len(units))
        if n_predicted > len(pair.target):
            read = len(units)  # the end of the target is predicted from all
        line = [other <= index for other in range(len(rows))]
        if is_target:
            line = [
                seen and unit_of.get(key.id, 0) <= read
                for seen, key in zip(line, rows, strict=True)
            ]
        mask.append(line)
    return mask


def random_wait_k(seed):
    rng = random.Random(seed)
    k, marker_alone = rng.randint(1, 6), rng.random() < 0.5
    pair = numbered_pair(rng, aligned=False)
    prompt = bare_prompt(n_user=rng.randint(1, 3), n_assistant=rng.randint(1, 3))
    layout = LayoutSettings(slot_length=rng.randint(3, 16))
    rows = build_rows(pair, WaitK(k), prompt, layout, marker_alone=marker_alone)
    in_order = sorted(rows, key=lambda row: row.position)
    return in_order, paper_mask(in_order, k, pair, prompt, marker_alone), prompt


def test_the_rule_equals_the_papers_wording_cell_by_cell():
    for seed in range(CASES):
        rows, expected, _ = random_wait_k(seed)
        position = torch.tensor([row.position for row in rows])
        time = torch.tensor([row.time for row in rows])
        assert visible(position, time, position, time).tolist() == expected


def test_assistant_headers_do_not_see_source_that_comes_after_them():
    """Left plain causal they would: then the cache would hold what training never saw."""
    hidden = 0
    for seed in range(CASES):
        rows, _, prompt = random_wait_k(seed)
        for header in (row for row in rows if row.id in prompt.headers.assistant):
            for key in (row for row in rows if 1000 <= row.id < 2000):
                place = [torch.tensor([n]) for n in (*header[1:3], *key[1:3])]
                late = key.time > header.time
                assert visible(*place).item() == (key.position < header.position and not late)
                hidden += late and key.position < header.position
    assert hidden > CASES
