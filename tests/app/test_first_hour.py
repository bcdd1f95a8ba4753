"""The first hour of a newcomer, in the whole program from its entry point to its end by force.

The windows are on a virtual screen where there is one, else offscreen.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sound_server import TestServer, needs_sound_server
from tests.support.spoken import needs_tiny

pytest.importorskip("faster_whisper")

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests/support/programs/first_hour_program.py"
TIME = r"\d\d:\d\d:\d\d,\d\d\d"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # a busy machine may load models for minutes
    needs_sound_server(),
    needs_tiny(),
]


@pytest.fixture
def server(tmp_path, monkeypatch):
    server = TestServer(tmp_path / "sound", monkeypatch)
    yield server
    server.stop()


class Newcomer:
    """Starts the program in a home that is empty at first; every step prints what was found."""

    def __init__(self, home):
        self.home = home
        home.mkdir()
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("XDG_")
        } | {"HOME": str(home), "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
        self.screen = [ROOT / "scripts/with-display"] if shutil.which("Xvfb") else []

    def start(self, *arguments):
        return subprocess.Popen(
            [*self.screen, sys.executable, PROGRAM, *map(str, arguments)],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )


def steps(process):
    """Yield what the program found; fail if it gave up."""
    for line in process.stdout:
        found = json.loads(line)
        assert found["step"] != "failed", found
        yield found


def hour(newcomer, server, subtitles):
    """Let a newcomer hear until the program is killed; return what was found by step."""
    found = {}
    with newcomer.start("hear", server.place / "microphone", subtitles) as process:
        for one in steps(process):
            found[one["step"]] = one
            if one["step"] == "to be killed":
                os.kill(found["started"]["pid"], signal.SIGKILL)
    assert process.returncode != 0
    assert "to be killed" in found
    return found


def test_the_first_hour_from_the_guide_to_the_restart_after_a_kill(server, tmp_path):
    newcomer, subtitles = Newcomer(tmp_path / "home"), tmp_path / "meeting.srt"
    found = hour(newcomer, server, subtitles)

    assert not found["guide"]["overlay"], "it would lie on the guide"
    assert (
        found["caption"]["clicks"] == 5
    )  # My voice, Next, Choose a folder, Next, Switch microphone on
    assert found["caption"]["in_window"]
    rows = found["read"]["rows"]
    assert found["read"]["overlay"]
    assert {lane for lane, *_ in rows} == {"me"}
    assert [marked for *_, marked in rows][-1]

    cues = re.findall(
        rf"\d+\n{TIME} --> {TIME}\n(.+?)\n\n", subtitles.read_text() + "\n", re.DOTALL
    )
    kept = [caption for _, caption in found["exported"]["kept"]]
    assert " ".join(cues).split() == " ".join(kept).split()
    assert kept == [caption for _, _, caption, _ in rows]
    assert str(subtitles) in found["exported"]["message"]

    killed = found["to be killed"]
    with newcomer.start("recover") as process:
        again = {one["step"]: one for one in steps(process)}
    assert process.returncode == 0
    assert "ended unexpectedly" in again["offered"]["sentence"]
    assert not again["offered"]["guide"], "it opens at the first start alone"
    recovered = again["recovered"]["rows"]
    assert [[source, caption] for _, source, caption, _ in recovered] == killed["kept"]
    assert recovered == killed["rows"][: len(recovered)]
    assert len(recovered) >= len(killed["rows"]) - 1, "a crash loses one caption at most"
    assert again["recovered"]["now"] == [], "the session of now is another"
