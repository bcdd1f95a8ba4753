"""The pictures of docs/screenshots are those that scripts/screenshots takes."""

import re
import sys

from tests.support.programs.run import ROOT, ran

SCRIPT = ROOT / "scripts" / "screenshots"


def check(folder):
    return ran(SCRIPT, "--check", surroundings={"FOLDER": str(folder)})


def listed():
    """The name of each picture."""
    return SCRIPT.read_text().partition('pictures="\n')[2].partition('"\n')[0].split()


def test_a_scene_makes_each_picture_of_the_documentation():
    done = check(ROOT / "docs" / "screenshots")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_page_shows_each_picture():
    pages = "".join(one.read_text() for one in (ROOT / "README.md", *ROOT.glob("docs/**/*.md")))
    assert [name for name in listed() if f"screenshots/{name}.png" not in pages] == []


def test_a_picture_that_no_scene_makes_fails(tmp_path):
    for name in ("window", "of-before"):
        (tmp_path / f"{name}.png").touch()
    done = check(tmp_path)
    assert done.returncode == 1
    assert re.findall(r"no picture is called like \S*?([\w-]+)\.png", done.stderr) == ["of-before"]


def test_each_picture_is_of_a_known_scene_and_has_one_name():
    program = (sys.executable, "-m", "tests.support.programs.scene_program")
    told = ran(*program, "--help", check=True, timeout=500).stdout
    known = set(re.search(r"\{([\w,\s]+)\}", told)[1].replace("\n", "").replace(" ", "").split(","))
    names = listed()
    assert len(set(names)) == len(names)
    assert {re.sub(r"(-de|-dark)+$", "", name).replace("-", "_") for name in names} <= known


def test_an_unknown_name_is_refused_before_anything_is_taken(tmp_path):
    done = ran(SCRIPT, "windo", surroundings={"FOLDER": str(tmp_path)})
    assert done.returncode == 2
    assert done.stderr.startswith("no picture is called windo; there are: typing ")
