"""The first five minutes of a person on other people's computers: a row for each of them.

What can be had within this process is a row here: homes, languages, what else is computed. What
needs a process of its own walks in ``tests/support/programs/hard_place_program.py``.
"""

import re
import shutil
import socket
import sys
import threading
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import pytest

from app.config.translations import speak
from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from engine.files import ASSETS
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.first_five_minutes import FIRST, SECOND, noted, walk
from tests.support.app.home import settings_in
from tests.support.app.setup_services import parts

USED = Path(__file__).parents[1] / "assets/used_home"
HOMES = {"fresh": 0, "used": 1}
"""Sessions in each: an empty one, and one that was used before."""


class Computer(NamedTuple):
    """Where somebody sits."""

    home: str = "fresh"
    language: str = "en"
    is_busy: bool = False
    disk: str = "room"

    def __str__(self):
        busy = "busy" if self.is_busy else "idle"
        return f"{self.home} home, {self.language}, {busy}, disk: {self.disk}"


COMPUTERS = [
    Computer(home, language, is_busy=(number + other) % 2 == 0)
    for number, home in enumerate(HOMES)
    for other, language in enumerate(("en", "de"))
]
"""Every two of home, language and how busy it is meet."""

KEEPS_NOTHING = [
    Computer("fresh", "de", disk="full"),
    Computer("used", "en", disk="full"),
    Computer("fresh", "en", disk="read only"),
    Computer("fresh", "de", disk="read only"),
]

EXPORTED = {"en": "1 caption was written to", "de": "1 Untertitel steht jetzt in"}


NOT_KEPT = {
    "en": (
        "Your choices could not be stored in",
        "this session cannot be saved in",
    ),
    "de": (
        "Die Einstellungen ließen sich nicht in",
        "diese Sitzung lässt sich nicht in",
    ),
}
"""Before the place: choices, captions; in the home that was used no journal is wanted."""

REASONS = {
    ("en", "full"): ["File too large"],
    ("de", "full"): ["die Datei würde zu groß"],
    ("en", "read only"): ["Operation not permitted", "Permission denied"],
    ("de", "read only"): ["nicht erlaubt", "keine Berechtigung"],
}


def contents(folder):
    """Read every file below a folder; those that are empty hold nothing."""
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {path: content for path, content in files.items() if content}


@pytest.fixture
def home(tmp_path):
    """Make a home by its name; what it names elsewhere lies within it."""

    def make(name):
        place = tmp_path / "home"
        if name == "fresh":
            place.mkdir()
            return place
        shutil.copytree(USED, place)
        settings = place / "settings.toml"
        text = settings.read_text()
        with socket.create_server(("127.0.0.1", 0)) as free:
            text = text.replace("9000", str(free.getsockname()[1]))
        settings.write_text(text)
        return place

    return make


@pytest.fixture
def spoken(qapp):
    """Let the windows speak a language."""
    translators = []
    yield lambda code: translators.extend(speak(qapp, code, ASSETS / "languages"))
    for one in translators:
        qapp.removeTranslator(one)


@pytest.fixture
def busy():
    """Let another thread compute all the time."""
    is_over = threading.Event()

    def compute():
        while not is_over.is_set():
            sum(range(10_000))

    thread = threading.Thread(target=compute)
    yield thread.start
    is_over.set()
    if thread.ident is not None:
        thread.join()


@pytest.fixture
def start(qtbot, spoken, busy):
    """Start the program on a computer whose home is this folder, on a fake engine."""

    def start(computer, place, may_load):
        spoken(computer.language)
        settings = settings_in(place, first_run=computer.home == "fresh")
        engine = FakeEngine(may_load=may_load if computer.is_busy else None)
        application = Application(settings, EngineBridge(engine.make))
        qtbot.addWidget(application.window)
        qtbot.addWidget(application.overlay)
        application.setup.parts = parts()
        if computer.is_busy:
            busy()
        return application

    return start


@contextmanager
def full_disk():
    """Leave no room for a byte in any file, as on a full disk.

    Room is there again before pytest says how the test went: its own output may be a file, too.
    """
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("computer", COMPUTERS, ids=str)
def test_the_first_five_minutes(start, home, monkeypatch, computer):
    place, may_load = home(computer.home), threading.Event()
    notices = noted(monkeypatch.setattr)
    seen = walk(start(computer, place, may_load), place, is_ready=may_load.set)

    assert seen["guide"] == (computer.home == "fresh")
    assert len(seen["earlier"]) == HOMES[computer.home]
    assert seen["rows"] == [(FIRST, FIRST.upper())]
    assert seen["rows of the new session"] == [(SECOND, SECOND.upper())]
    assert f"{EXPORTED[computer.language]} {place / 'mine.srt'}" in seen["export"]
    subtitles = (place / "mine.srt").read_text()
    assert SECOND.upper() in subtitles
    assert FIRST.upper() not in subtitles
    assert len(seen["languages"]) > 2  # those of the model, and those that others know
    assert [it for it in notices if "\n" in it or re.search("[{}]|Errno|Error", it)] == []
    assert (place / "settings.toml").exists()
    assert not list(place.glob("*.damaged"))


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits and /sys")
@pytest.mark.parametrize("computer", KEEPS_NOTHING, ids=str)
def test_where_nothing_can_be_kept_captions_come_and_it_is_told(start, home, monkeypatch, computer):
    place = Path("/sys/surtitle") if computer.disk == "read only" else home(computer.home)
    before = contents(place)
    notices = noted(monkeypatch.setattr)
    with full_disk() if computer.disk == "full" else nullcontext():
        seen = walk(start(computer, place, None), place)
        after = contents(place)

    assert seen["rows"] == [(FIRST, FIRST.upper())]
    assert seen["rows of the new session"] == [(SECOND, SECOND.upper())]
    assert str(place / "mine.srt") in seen["export"]
    told = {it.partition(str(place))[0].strip() for it in notices}
    choices, captions = NOT_KEPT[computer.language]
    assert told == ({choices} if computer.home == "used" else {choices, captions})
    reasons = REASONS[computer.language, computer.disk]
    assert all(any(reason in it for reason in reasons) for it in notices)
    assert after == before
