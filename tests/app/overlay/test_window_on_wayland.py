import json
import os
import re
import shutil
import sys

import pytest

from tests.support.programs.run import ran

pytestmark = [
    pytest.mark.xvfb,
    pytest.mark.slow,
    pytest.mark.skipif(
        not shutil.which("sway") and os.environ.get("CI") != "true", reason="sway is not installed"
    ),
]


@pytest.fixture(scope="module")
def session():
    """The program in a Wayland session: what it found, and what it said to the compositor."""
    program, own = "tests.support.programs.wayland_program", {"WAYLAND_DEBUG": "1"}
    command = ["scripts/with-wayland", sys.executable, "-m", program]
    done = ran(*command, surroundings=own, check=True, timeout=500)
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.fixture(scope="module")
def found(session):
    return session[0]


def test_the_window_says_what_wayland_keeps_it_from_and_offers_the_way_around(found):
    assert found["platform"] == "wayland"
    assert "Wayland lets no program" in found["told"]
    assert found["offered"] == bool(shutil.which("Xwayland"))


def test_qt_believes_in_a_place_that_is_not_true_so_none_is_kept(found):
    assert found["is_at"] != found["qt_says"]
    assert found["is_at"] != [10, 20]  # where it was moved to
    assert not found["keeps_place"]


def test_the_bar_is_inside_the_overlay_since_it_cannot_stand_beside_it(found):
    assert found["bar_inside"]


def test_a_locked_overlay_asks_for_no_clicks_and_is_still_seen(session):
    found, said = session
    locking = said.partition("LOCK\n")[2].partition("LOCKED\n")[0]
    # A region that nothing is added to takes no clicks.
    empty = r"create_region\(new id wl_region[@#](\d+)\)\n[^\n]*set_input_region\(wl_region[@#]\1\)"
    assert re.search(empty, locking)
    assert found["locked_is_seen"]
