"""How policies and lanes are named, and what the desktop opens."""

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.look.widgets.desktop_links import open_folder, open_page
from app.look.widgets.lane_style import lane_colour, lane_name
from app.look.widgets.policy_names import policy_names, unoffered_policy


def test_timings_of_one_model_differ_by_half_a_word_and_come_in_order():
    plain = policy_names()
    lags = {"0.9": 4.5, "0.10": 2.0, "0.3": 2.4, "0.5": 2.5}
    added = policy_names(lags)[len(plain) :]
    assert [policy for policy, _, _ in added] == ["adaptive:0.10", "adaptive:0.5", "adaptive:0.9"]
    assert [name.partition("about ")[2] for _, name, _ in added] == [
        f"{lag} words behind)" for lag in ("2.0", "2.5", "4.5")
    ]


def test_the_same_policy_has_another_name_where_drafts_must_agree():
    names, of_drafts = (
        {policy: name for policy, name, _ in policy_names(makes_drafts=drafts)}
        for drafts in (False, True)
    )
    assert "3 words behind" in names["read:3"]
    assert "Every 3 words" in of_drafts["read:3"]
    assert "from word 5 on" in of_drafts["wait:5"]
    assert of_drafts.keys() - names.keys() == {"stable:2", "stable:3"}


def test_a_policy_that_is_not_on_offer_has_the_name_it_would_have():
    assert unoffered_policy("")[1].startswith("Automatic")
    assert unoffered_policy("read:3") == policy_names()[0]
    assert unoffered_policy("stable:2")[1] == "When two drafts agree (early)"
    policy, name, explanation = unoffered_policy("adaptive:0.7")
    assert (policy, name) == ("adaptive:0.7", "When it knows enough")
    assert "has read enough" in explanation
    assert unoffered_policy("read:17") == ("read:17", "read:17", "")


def test_a_lane_has_the_name_that_was_given_and_a_colour_beside_it(qapp):  # noqa: ARG001
    assert [lane_name(lane) for lane in ("me", "them", "", "x")] == ["Me", "Them", "", "x"]
    assert lane_name("me", {"me": "Grace"}) == "Grace"
    assert lane_name("me", {"them": "Grace"}) == "Me"
    assert [bool(lane_colour(lane)) for lane in ("", "x", "me", "them")] == [
        False,
        False,
        True,
        True,
    ]
    assert lane_colour("me") != lane_colour("them")


@pytest.mark.parametrize("opens", [True, False])
def test_what_the_desktop_cannot_open_is_told(qapp, tmp_path, monkeypatch, opens):  # noqa: ARG001
    asked = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: (asked.append(url), opens)[1])
    told = "" if opens else "Your desktop has no program that opens it; it is {}"
    assert open_folder(tmp_path) == told.format(tmp_path)
    assert open_page("https://x.example/") == told.format("https://x.example/")
    assert asked == [QUrl.fromLocalFile(str(tmp_path)), QUrl("https://x.example/")]
    assert open_folder(tmp_path / "no") == f"There is no folder {tmp_path / 'no'} yet"
