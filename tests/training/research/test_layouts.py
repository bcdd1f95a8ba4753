"""Golden traces: words 1 2, targets 101 102, words 3 4, target 103, under every layout."""

import pytest

from engine.layout.planner import make_planner
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt
from training.research.methods import LAYOUTS, TARGET_SIDE

JOINED = (
    "900:0 910:1 911:2 1:3 2:4 920:5t 921:6t / 101:7t / 3:5 4:6 102:10t / 103:11t",
    7,
)
TRACES = {  # passes with encoded positions, t where the row is kept apart; and the extent
    "slots": (
        "900:0 910:1 911:2 1:3 2:4 920:6 921:7 / 101:8"
        " / 3:5 102:9 910:10 911:11 4:12 920:15 921:16 / 103:17",
        18,
    ),
    "source-apart": (
        "900:0 910:1 911:2 1:3 2:4 920:6t 921:7t / 101:8t"
        " / 3:5 102:9t 910:10 911:11 4:12 920:15t 921:16t / 103:17t",
        18,
    ),
    "conversational": (
        "900:0 910:1 911:2 1:3 2:4 920:5 921:6 / 101:7"
        " / 102:8 910:9 911:10 3:11 4:12 920:13 921:14 / 103:15",
        16,
    ),
    "interleaved": (
        "900:0 910:1 911:2 1:3 2:4 920:5 / 101:6 / 102:7 3:8 4:9 920:10 / 103:11",
        12,
    ),
    "gpe": (
        "900:0 910:1 911:2 1:3 2:4 920:0t 921:1t / 101:2t / 3:5 4:6 102:3t / 103:4t",
        7,
    ),
    "simulmask": JOINED,
    "cached": JOINED,
    "recomputed": (
        "900:0 910:1 911:2 1:3 2:4 920:5t 921:6t / 101:7t"
        " / 910:1 911:2 1:3 2:4 3:5 4:6 920:7t 921:8t 101:9t 102:10t / 103:11t",
        7,
    ),
}


def layout(name):
    return make_planner(
        bare_prompt(n_user=2, n_assistant=2).headers, LayoutSettings(name=name, slot_length=3)
    )


def drawn(rows):
    sides = ("", "t")
    return " ".join(
        f"{r.id}:{r.position + r.shift}{sides[r.position >= TARGET_SIDE]}" for r in rows
    )


@pytest.mark.parametrize("name", ["slots", *LAYOUTS])
def test_every_layout_places_the_same_words_as_it_is_described(name):
    plan, passes = layout(name), []
    for words, targets in (((1, 2), (101, 102)), ((3, 4), (103, 104))):
        for word in words:
            plan.read([word])
        n_again = plan.n_again
        for target in targets:
            passes.append(plan.write())
            assert plan.n_again == 0
            plan.choose(target)
        assert n_again == (7 if name == "recomputed" and words == (3, 4) else 0)
    assert (" / ".join(map(drawn, passes)), plan.extent) == TRACES[name]
    assert plan.recomputes == (name == "recomputed")


def test_a_look_between_pieces_feeds_the_source_alone_and_is_asked_by_its_last_row():
    plan = layout("interleaved")
    assert plan.end_of_read == 920
    plan.read([1])
    assert drawn(plan.look()) == "900:0 910:1 911:2 1:3"
    plan.read([2])
    assert drawn(plan.look()) == "2:4"
    assert drawn(plan.write()) == "920:5"
    plan.choose(101)
    assert [row.time for row in plan.rows] == [0, 0, 0, 0, 1, 2]
