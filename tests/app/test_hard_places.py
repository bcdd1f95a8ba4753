"""The whole program where something is missing: captions come, and a sentence says what it is."""

import json
import os
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.app.first_five_minutes import FIRST
from tests.support.network.poor_networks import hanging_network, login_page, no_network
from tests.support.programs.run import ran

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="needs /sys, fontconfig and limits"),
]

NO_FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{0}/none</dir><cachedir>{0}/cache</cachedir></fontconfig>
"""


def visit(home, *arguments, **environment):
    """Let somebody type a sentence there; give what they saw, and what the terminal said."""
    program = Path(__file__).parents[1] / "support/programs/hard_place_program.py"
    done = ran(sys.executable, program, home, *arguments, surroundings=environment)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["rows"] == [[FIRST, FIRST.upper()]]
    assert FIRST.upper() in seen["overlay"]
    assert "Traceback" not in done.stderr
    for notice in seen["notices"]:
        assert "\n" not in notice
        assert "Errno" not in notice
    return seen, done.stderr


@pytest.mark.parametrize(
    ("network", "sentences"),
    [
        (no_network, ["cannot reach 127.0.0.1 (Connection refused): check your connection"]),
        (hanging_network, []),  # it is still waited for when the person leaves
        (login_page, ["a web page came instead of the list of its files"]),
    ],
)
def test_on_a_poor_network_captions_come_and_a_fetch_that_fails_is_told(
    tmp_path, network, sentences
):
    with network() as endpoint:
        seen, _ = visit(tmp_path, len(sentences), HF_ENDPOINT=endpoint)
    assert len(seen["notices"]) == len(sentences)
    for notice, sentence in zip(seen["notices"], sentences, strict=True):
        assert sentence in notice


def test_without_a_font_one_sentence_says_what_to_install_and_captions_come(tmp_path):
    (tmp_path / "fonts.conf").write_text(NO_FONTS.format(tmp_path))
    (tmp_path / "none").mkdir()
    home = tmp_path / "home"
    seen, said = visit(home, 0, FONTCONFIG_FILE=str(tmp_path / "fonts.conf"))
    (sentence,) = [line for line in said.splitlines() if line.startswith("surtitle:")]
    assert "no font" in sentence
    assert "fonts-dejavu-core" in sentence
    assert seen["notices"] == []


def german(folder):
    """The environment of a German computer; the system's own library knows of it where it can."""
    environment = {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"}
    if shutil.which("localedef"):
        folder.mkdir()
        command = ["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"]
        ran(*command, text=False)
        environment["LOCPATH"] = str(folder)
    return environment


def test_where_numbers_have_commas_everything_is_written_as_everywhere(tmp_path):
    seen, said = visit(tmp_path, 0, **german(tmp_path / "locales"))
    assert (seen["notices"], seen["is_painted"]) == ([], True)
    assert "surtitle:" not in said  # Qt may say that this machine does not have the locale
    captions = tomllib.loads((tmp_path / "settings.toml").read_text())["captions"]
    assert captions["point_size"] == 30
    journal, _ = (tmp_path / "sessions").glob("*/*.jsonl")
    entries = [json.loads(line) for line in journal.read_text().splitlines() if line]
    (cue,) = [entry for entry in entries if entry["event"] == "cue"]
    assert isinstance(cue["start_s"], float)
    start, _, _ = (tmp_path / "mine.srt").read_text().splitlines()[1].partition(" --> ")
    assert start.startswith("00:00:0")
    assert start[8] == ","


def screen(x, width, height, ratio=1.0):
    """A screen of the offscreen platform; the sizes are those after scaling by the ratio."""
    name = f"screen at {x}"
    area = {"name": name, "x": x, "y": 0, "width": width, "height": height, "dpr": ratio}
    return area | {"logicalDpi": 96, "logicalBaseDpi": 96}


def is_inside(window, area):
    """Return whether an area, as x, y, width and height, is inside another one."""
    return all(
        window[axis] >= area[axis]
        and window[axis] + window[axis + 2] <= area[axis] + area[axis + 2]
        for axis in (0, 1)
    )


SCREENS = {
    "two, the primary one at the right": [screen(1280, 1920, 1080), screen(0, 1280, 720)],
    "unequal scale": [screen(0, 1920, 1080), screen(1920, 1280, 720, 2.0)],
    "1280x720 at 200 %": [screen(0, 640, 360, 2.0)],
}


@pytest.mark.parametrize("screens", SCREENS.values(), ids=SCREENS)
def test_captions_come_and_all_windows_are_seen_on_screens_of_others(screens, tmp_path):
    file = tmp_path / "screens.json"
    rest = {"synchronousWindowSystemEvents": False, "windowFrameMargins": False}
    file.write_text(json.dumps({"screens": screens} | rest))
    seen, said = visit(tmp_path / "home", 0, QT_QPA_PLATFORM=f"offscreen:configfile={file}")
    assert len(seen["screens"]) == len(screens)
    assert (seen["notices"], said) == ([], "")
    assert len(seen["windows"]) == 2  # the main window and the overlay
    for number, window in enumerate(seen["windows"]):
        assert any(is_inside(window, screen) for screen in seen["screens"]), number


@pytest.mark.xvfb
@pytest.mark.skipif(
    not all(map(shutil.which, ("Xvfb", "openbox"))) and os.environ.get("CI") != "true",
    reason="needs Xvfb and openbox on this machine",
)
def test_windows_return_with_a_screen_that_went_and_came_back():
    program = "scripts/with-display", sys.executable, "-m", "tests.support.programs.screens_program"
    done = ran(*program, surroundings={"SCREEN": "2560x1024x24"})
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen == dict.fromkeys(seen, True)
