import pytest

from engine.layout.planner import SlotPlanner
from engine.layout.rows import IGNORE, UNFED
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt

SYS, USER, ASST = 900, 910, 920
EOW = 931


def planner(slot_length, **headers):
    return SlotPlanner(bare_prompt(**headers).headers, LayoutSettings(slot_length=slot_length))


def places(rows):
    return [(row.id, row.position) for row in rows]


def test_golden_trace_of_wait_2_with_slots_of_3():
    plan = planner(3)
    s = [None, 1, 2, 3, 4, 5, 6]
    t = [None, 101, 102, 103, 104, 105, 106]
    plan.read([s[1]])
    plan.read([s[2]])
    assert places(plan.write()) == [(SYS, 0), (USER, 1), (s[1], 2), (s[2], 3), (ASST, 5)]
    plan.choose(t[1])
    plan.read([s[3]])
    assert places(plan.write()) == [(s[3], 4), (t[1], 6)]
    plan.choose(t[2])
    plan.read([s[4]])
    assert places(plan.write()) == [(t[2], 7), (USER, 8), (s[4], 9), (ASST, 12)]
    plan.choose(t[3])
    plan.read([s[5]])
    assert places(plan.write()) == [(s[5], 10), (t[3], 13)]
    plan.choose(t[4])
    plan.read([s[6]])
    assert places(plan.write()) == [(s[6], 11), (t[4], 14)]
    plan.choose(t[5])
    assert places(plan.write()) == [(t[5], 15)]
    plan.choose(t[6])
    assert places(plan.write()) == [(t[6], 16)]
    plan.choose(932)
    assert [tuple(row[:4]) for row in plan.rows] == [
        (SYS, 0, 0, IGNORE),
        (USER, 1, 0, IGNORE),
        (s[1], 2, 0, IGNORE),
        (s[2], 3, 0, IGNORE),
        (ASST, 5, 0, t[1]),
        (s[3], 4, 1, IGNORE),
        (t[1], 6, 1, t[2]),
        (t[2], 7, 2, IGNORE),  # the policy closes the phase: the header is asked instead
        (USER, 8, 2, IGNORE),
        (s[4], 9, 2, IGNORE),
        (ASST, 12, 2, t[3]),
        (s[5], 10, 3, IGNORE),
        (t[3], 13, 3, t[4]),
        (s[6], 11, 4, IGNORE),
        (t[4], 14, 4, t[5]),
        (t[5], 15, 5, t[6]),
        (t[6], 16, 6, 932),
    ]


def test_golden_trace_of_read_3_with_slots_of_4():
    plan = planner(4)
    for word in (1, 2, 3):
        plan.read([word])
    assert places(plan.write()) == [(SYS, 0), (USER, 1), (1, 2), (2, 3), (3, 4), (ASST, 6)]
    plan.choose(101)
    assert places(plan.write()) == [(101, 7)]
    plan.choose(102)
    assert places(plan.write()) == [(102, 8)]
    plan.choose(EOW)
    for word in (4, 5, 6):  # the chunk straddles: 4 completes slot 1
        plan.read([word])
    assert places(plan.write()) == [(4, 5), (EOW, 9), (USER, 10), (5, 11), (6, 12), (ASST, 15)]
    plan.choose(103)
    assert places(plan.write()) == [(103, 16)]
    plan.choose(104)
    assert places(plan.write()) == [(104, 17)]
    plan.choose(EOW)
    plan.read([7])
    assert places(plan.write()) == [(7, 13), (EOW, 18)]
    plan.choose(105)
    assert places(plan.write()) == [(105, 19)]
    plan.choose(106)
    assert places(plan.write()) == [(106, 20)]
    plan.choose(EOW)
    labels = {row.position: row.label for row in plan.rows if row.label != IGNORE}
    assert labels == {
        6: 101, 7: 102, 8: EOW, 15: 103, 16: 104, 17: EOW, 18: 105, 19: 106, 20: EOW,
    }  # fmt: skip
    times = {row.position: row.time for row in plan.rows}
    assert [times[p] for p in (5, 9, 10, 11, 12, 15)] == [3] * 6
    assert (times[13], times[18]) == (6, 6)


def test_a_slot_that_overflows_before_anything_was_written_is_extended_without_roles():
    plan = planner(3)
    plan.read([1, 2, 3, 4])
    assert places(plan.write()) == [(SYS, 0), (USER, 1), (1, 2), (2, 3), (3, 4), (4, 5), (ASST, 8)]


def test_a_word_may_straddle_two_slots():
    plan = planner(3)
    plan.read([1, 2])
    plan.write()
    plan.choose(101)
    plan.read([3, 4])
    assert places(plan.write()) == [(3, 4), (101, 6), (USER, 7), (4, 8), (ASST, 11)]


def test_headers_may_have_any_length():
    plan = planner(4, n_system=5, n_user=3, n_assistant=4)
    plan.read([1])
    fed = places(plan.write())
    assert [position for _, position in fed] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15]


def test_taking_a_probe_back_leaves_no_trace():
    plan, twin = planner(3), planner(3)
    for each in (plan, twin):
        each.read([1])
        each.write()
        each.choose(101)
    plan.write()
    assert plan.take_back() == plan.n_fed
    for each in (plan, twin):
        each.read([2])
        each.write()
        each.choose(102)
    assert plan.rows == twin.rows


def test_no_two_words_share_a_time_where_it_is_kept():
    plan, twin = planner(3), planner(3)
    for word in (1, 2, 3, 4):
        plan.read([word])
        plan.write()
        plan.take_back(keeps_time=True)
        twin.read([word])
    assert [row[:2] for row in plan.write()] == [(ASST, 8)]
    twin.write()
    assert [row.time for row in plan.rows] == [0, 0, 0, 1, 2, 3, 4]
    assert places(plan.rows) == places(twin.rows)


def test_rewinding_keeps_exactly_the_rows_that_did_not_depend_on_the_word():
    plan = planner(3)
    for word in (1, 2):
        plan.read([word])
    plan.write()
    plan.choose(101)
    plan.read([3])
    plan.write()
    plan.choose(102)
    assert plan.rewind(2) == 5  # <sys> <user> 1 2 <asst>; 101 saw word 3 when it was fed
    assert [row.id for row in plan.rows] == [SYS, USER, 1, 2, ASST]
    plan.read([33])
    assert places(plan.write()) == [(33, 4), (101, 6)]


def test_rewinding_into_a_chunk_keeps_its_first_words():
    plan = planner(4)
    for word in (1, 2, 3):
        plan.read([word])
    plan.write()
    plan.choose(101)
    assert plan.rewind(1) == 3  # <sys> <user> 1
    plan.read([22])
    assert places(plan.write()) == [(22, 3), (ASST, 6)]


def test_rows_not_yet_fed_are_not_counted_as_cached():
    plan = planner(4)
    plan.read([1])
    plan.read([2])
    assert plan.rows[-1].time == UNFED
    assert plan.rewind(1) == 0


def test_system_rows_that_are_cached_are_not_fed_again():
    plan = planner(4, n_system=2)
    plan.skip(2)
    plan.read([1])
    assert places(plan.write()) == [(USER, 2), (1, 3), (ASST, 7)]
    assert [row.time for row in plan.rows] == [0] * 5


def test_wrong_order_of_verbs_is_refused():
    plan = planner(4)
    with pytest.raises(ValueError, match="at least one token"):
        plan.read([])
    with pytest.raises(ValueError, match="right after a write"):
        plan.choose(1)
    plan.read([1])
    plan.write()
    with pytest.raises(ValueError, match="not chosen"):
        plan.write()
    plan.choose(101)
    with pytest.raises(ValueError, match="taken back"):
        plan.take_back()
    with pytest.raises(ValueError, match="skipped"):
        plan.skip(1)
