"""How policies and lanes are named, and what the desktop opens."""

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.look.widgets.desktop import open_folder, open_page
from app.look.widgets.names import lane_colour, lane_name, policy_names, unoffered_policy
from engine.hub.catalogue import MOONSHINE, STANDARD_WHISPER
from engine.models.resolve import check_policy


def test_there_are_three_timings_and_two_where_drafts_must_agree():
    names = [name for _, name, _ in policy_names()]
    assert names == ["Early", "Balanced (recommended)", "Sure"]
    assert policy_names(makes_drafts=True) == policy_names()[1:]


def test_every_timing_on_offer_is_a_policy_that_runs():
    for policy, _, explanation in policy_names():
        assert policy == "" or check_policy(policy) == policy
        assert explanation


@pytest.mark.parametrize(
    ("recognizer", "step_s", "heard", "told"),
    [
        (MOONSHINE, 0.28, None, ["About 1.5", "About 1.9", "About 2.7"]),
        (STANDARD_WHISPER, 0.28, None, ["About 2.5", "About 3.0", "About 3.6"]),
        (MOONSHINE, 0.28, ("", 2.6), ["About 2.2", "Measured here: 2.6", "About 3.4"]),
        (MOONSHINE, 0.28, ("offline", 1.0), ["About 0.0", "About 0.2", "Measured here: 1.0"]),
        (MOONSHINE, 0.28, ("read:9", 9.0), ["About 1.5", "About 1.9", "About 2.7"]),
        ("of somebody", 0.28, None, ["", "", ""]),
        ("of somebody", 0.28, ("offline", 4.0), ["", "", "Measured here: 4.0"]),
    ],
)
def test_a_timing_tells_seconds_as_measured_and_the_others_by_what_the_table_has_between_them(
    recognizer, step_s, heard, told
):
    bare = [tip for _, _, tip in policy_names()]
    tips = [tip for _, _, tip in policy_names(recognizer, step_s, heard)]
    assert tips == [
        f"{before} {now} seconds from a word to its caption." if now else before
        for before, now in zip(bare, told, strict=True)
    ]


def test_of_drafts_only_what_was_measured_is_told():
    tips = [policy_names(MOONSHINE, 0.28, heard, makes_drafts=True) for heard in (None, ("", 1.5))]
    assert tips[0] == policy_names(makes_drafts=True)
    assert ["Measured here: 1.5" in tip for _, _, tip in tips[1]] == [True, False]


def test_a_policy_that_is_not_on_offer_is_shown_as_it_is_written():
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
