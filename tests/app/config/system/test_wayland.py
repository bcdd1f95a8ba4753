import itertools

import pytest

from app.config.system.wayland import can_use_xwayland, platform_wanted

BESIDE = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}


def test_xwayland_is_used_where_it_is_chosen_and_there_and_nothing_else_was_said():
    for chosen, wayland, x11, said in itertools.product([False, True], repeat=4):
        environment = (
            ({"WAYLAND_DISPLAY": "wayland-0"} if wayland else {})
            | ({"DISPLAY": ":0"} if x11 else {})
            | ({"QT_QPA_PLATFORM": "wayland"} if said else {})
        )
        wanted = platform_wanted(environment, through_xwayland=chosen)
        assert (wanted is not None) == (chosen and wayland and x11 and not said)


def test_qt_may_still_take_wayland_where_xwayland_does_not_start():
    assert platform_wanted(BESIDE, through_xwayland=True) == "xcb;wayland"
    assert not can_use_xwayland({"DISPLAY": ":0"})


@pytest.fixture
def on_wayland(monkeypatch):
    monkeypatch.setattr("app.controllers.application.is_wayland", lambda: True)
    monkeypatch.setattr("app.overlay.controller.is_wayland", lambda: True)


@pytest.mark.usefixtures("on_wayland")
def test_the_window_says_once_what_wayland_keeps_it_from(program):
    one = program().open().wait_until_ready()
    banner = one.window.banner
    assert "Wayland" in banner.sentence.text()
    assert not banner.offer.isVisible()
    banner.dismiss.click()
    one.window.controls.overlay.toggle()
    one.window.controls.overlay.toggle()
    assert not banner.isVisible()


@pytest.mark.usefixtures("on_wayland")
def test_what_was_tried_and_did_not_work_is_not_offered_again(program, tmp_path):
    (tmp_path / "settings.toml").write_text(
        "schema_version = 2\n[overlay]\nthrough_xwayland = true\n"
    )
    one = program(can_use_xwayland=True).open().wait_until_ready()
    assert "Wayland" in one.window.banner.sentence.text()
    assert not one.window.banner.offer.isVisible()


@pytest.mark.usefixtures("on_wayland")
def test_it_starts_again_through_xwayland_when_that_is_wanted(program):
    one = program(can_use_xwayland=True).open().wait_until_ready()
    assert one.window.banner.offer.isVisible()
    finished = []
    one.application.finished.connect(lambda: finished.append(True))
    one.window.banner.offer.click()
    assert finished
    assert one.application.wants_restart
    assert one.stored()["overlay"]["through_xwayland"] is True


@pytest.mark.usefixtures("on_wayland")
def test_the_bar_is_inside_the_overlay_and_no_place_is_kept(program, tmp_path):
    one = program().open()
    bar = one.application.stage.bar
    assert not bar.isWindow()
    assert bar.parent() is one.overlay
    one.overlay.moved.emit()
    assert "[overlay]" not in (
        (tmp_path / "places.toml").read_text() if (tmp_path / "places.toml").exists() else ""
    )
