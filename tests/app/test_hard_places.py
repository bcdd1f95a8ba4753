"""The whole program where something is missing: captions come, and a sentence says what it is."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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
    done = subprocess.run(
        [sys.executable, program, home, *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["rows"] == [["Good morning.", "GOOD MORNING."]]
    assert "GOOD MORNING." in seen["overlay"]
    assert "Traceback" not in done.stderr
    for notice in seen["notices"]:
        assert "\n" not in notice
        assert "Errno" not in notice
    return seen, done.stderr


def test_a_home_that_can_only_be_read_is_told_and_captions_come(tmp_path):  # noqa: ARG001
    home = Path("/sys/surtitle")
    seen, _ = visit(home, 2)
    assert any("choices could not be stored in /sys/surtitle" in it for it in seen["notices"])
    assert any("journal in /sys/surtitle/sessions cannot be" in it for it in seen["notices"])
    assert "/sys/surtitle/mine.srt" in seen["export"]
    assert not home.exists()


def test_a_disk_without_room_is_told_and_what_was_there_stays(tmp_path):
    before = "schema_version = 2\n[captions]\npoint_size = 30\n[privacy]\nlive_text = true\n"
    (tmp_path / "settings.toml").write_text(before)
    seen, _ = visit(tmp_path, 3, 0)
    assert any("choices could not be stored" in it for it in seen["notices"])
    assert any("journal in" in it and "cannot be written" in it for it in seen["notices"])
    assert any("captions cannot be appended" in it for it in seen["notices"])
    assert "mine.srt" in seen["export"]
    assert (tmp_path / "settings.toml").read_text() == before
    assert not list(tmp_path.glob("*.new"))


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
        subprocess.run(command, capture_output=True, check=False)
        environment["LOCPATH"] = str(folder)
    return environment


def test_where_numbers_have_commas_everything_is_written_as_everywhere(tmp_path):
    seen, said = visit(tmp_path, 0, **german(tmp_path / "locales"))
    assert (seen["notices"], seen["is_painted"]) == ([], True)
    assert "surtitle:" not in said  # Qt may say that this machine does not have the locale
    captions = tomllib.loads((tmp_path / "settings.toml").read_text())["captions"]
    assert captions["point_size"] == 30
    (journal,) = (tmp_path / "sessions").glob("*/*.jsonl")
    entries = [json.loads(line) for line in journal.read_text().splitlines() if line]
    (cue,) = [entry for entry in entries if entry["event"] == "cue"]
    assert isinstance(cue["start_s"], float)
    start, _, _ = (tmp_path / "mine.srt").read_text().splitlines()[1].partition(" --> ")
    assert start.startswith("00:00:0")
    assert start[8] == ","
