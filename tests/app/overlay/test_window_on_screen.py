import json
import os
import shutil
import sys

import pytest

from tests.support.programs.run import ran

TOOLS = ("Xvfb", "openbox", "xcompmgr", "xdotool")

pytestmark = [
    pytest.mark.xvfb,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(shutil.which, TOOLS)) and os.environ.get("CI") != "true",
        reason=f"needs {', '.join(TOOLS)} on this machine",
    ),
]


@pytest.fixture(scope="module")
def found():
    """What a hand on the mouse finds on a screen with a window manager."""
    program = sys.executable, "-m", "tests.support.programs.overlay_program"
    done = ran("scripts/with-display", *program, check=True, timeout=500)
    return json.loads(done.stdout.splitlines()[-1])


def test_the_overlay_is_above_the_window_that_is_active(found):
    assert found["on_top"]
    assert found["on_top_locked"]
    assert found["on_top_unlocked"]


def test_the_overlay_is_above_a_window_that_fills_the_screen(found):
    assert found["on_top_of_full_screen"]


def test_clicks_go_through_a_locked_overlay_and_no_other(found):
    assert found["clicks_through_open"] == 0
    assert found["clicks_through_locked"] == 1
    assert found["clicks_through_unlocked"] == 1


def test_locking_leaves_the_overlay_where_it_is(found):
    assert found["locked_stays"]
    assert found["unlocked_stays"]


def test_the_window_manager_drags_it_and_its_edges_also_after_it_was_locked(found):
    assert found["dragged"]
    assert found["dragged_again"]
    for name in ("size_wanted", "size_wanted_again"):
        characters, lines = found[name]
        assert characters > 30
        assert lines == 3


def test_the_bar_comes_with_the_mouse_locks_and_is_the_way_back(found):
    for name in ("waits", "comes", "is_above", "locks", "unlocks", "goes"):
        assert found[f"bar_{name}"], name
    assert found["bar_goes_from_locked"]
    assert found["bar_comes_to_locked"]
