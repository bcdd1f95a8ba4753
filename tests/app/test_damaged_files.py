"""No damaged or foreign file keeps the window from starting, holds it up, or ends the journal."""

import os
import sys
from datetime import UTC, datetime, timedelta

import pytest

from app.captions.cues import Cue
from app.captions.export import FORMS, export
from app.captions.journal import (
    delete_old,
    past_sessions,
    read_session,
    unfinished_sessions,
)
from app.config.preferences import (
    Preferences,
    PreferencesFile,
    PrivacyPreferences,
)
from app.config.toml_file import MOST_BYTES, TomlFile
from app.config.window_system import GeometryFile
from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.home import settings_in
from tests.support.app.journals import cue, kept, written
from tests.support.utterances import FedKeeper

needs_pipes = pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with a name")

STARTED = b'{"event": "session", "version": 1, "started": "%s"}'
CUE = b'{"event": "cue", "key": 9, "start_s": %s, "end_s": %s, "text": "x"}'
WRONG_LINES = {
    "deep": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "year 1": STARTED % b"0001-01-01T00:00:00+23:59",
    "year 9999": STARTED % b"9999-12-31T23:59:59-23:59",
    "begins after the last year": STARTED % b"9999-12-31T23:59:59+00:00",
    "no time": STARTED % b"yesterday",
    "infinite": CUE % (b"0", b"Infinity"),
    "too large": CUE % (b"0", b"1e999"),
    "nearly too large": CUE % (b"0", b"1e308"),
    "many digits": CUE % (b"0", b"1" * 400),
    "very many digits": CUE % (b"0", b"1" * 100_000),
    "not a number": CUE % (b"NaN", b"NaN"),
    "no UTF-8": b"\xff\xfe",
    "a list": b"[]",
    "a text": CUE % (b'"x"', b"1"),
    "ends before it begins": CUE % (b"5", b"1"),
    "no event": b'{"key": 3}',
    "long": b'{"event": "cue", "key": 9, "text": "' + b"x" * 2_500_000 + b'"}',
}


@pytest.mark.parametrize("name", WRONG_LINES)
def test_a_line_nobody_of_ours_wrote_is_counted_and_the_rest_is_read(tmp_path, name):
    path = written(tmp_path, [kept(0), kept(1)], close=False)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], WRONG_LINES[name] + b"\n", *lines[2:]]))
    (session,) = past_sessions(tmp_path)
    assert session.cues == (cue(0), cue(1))
    assert session.damaged_lines == 1
    assert unfinished_sessions(tmp_path) == [session]


def test_half_a_character_in_a_journal_becomes_a_question_mark(tmp_path):
    path = written(tmp_path, [kept(0, text="a")])
    path.write_bytes(path.read_bytes().replace(b'"text": "a"', b'"text": "\\ud800 ja"'))
    assert read_session(path).cues[0].text == "? ja"


def test_the_latest_cue_there_can_be_is_exported_in_every_form(tmp_path):
    latest = [Cue(start_s=1e9 - 1, end_s=1e9, text="x y")] * 5
    for form in FORMS:
        assert export(tmp_path / form, latest, form) == 5


@needs_pipes
def test_a_pipe_in_the_place_of_a_journal_is_left_out_and_not_waited_for(tmp_path):
    (tmp_path / "x").mkdir()
    os.mkfifo(tmp_path / "x" / "session.jsonl")
    delete_old(tmp_path, datetime.now(UTC) + timedelta(days=90), 30)
    assert past_sessions(tmp_path) == unfinished_sessions(tmp_path) == []
    with pytest.raises(OSError, match="no plain file"):
        read_session(tmp_path / "x" / "session.jsonl")


@pytest.mark.parametrize("read", [past_sessions, unfinished_sessions])
def test_a_journal_that_cannot_be_read_is_left_out_whatever_it_raises(
    tmp_path, monkeypatch, caplog, read
):
    sound = written(tmp_path, [kept(0)], close=False)
    broken = written(tmp_path, [kept(1)], close=False)

    def raising(path):
        if path == broken:
            raise KeyError(path)
        return read_session(path)

    monkeypatch.setattr("app.captions.journal.read_session", raising)
    assert {one.path: len(one.cues) for one in read(tmp_path)} == {sound: 1, broken: 0}
    assert str(broken) in caplog.text
    caplog.clear()


DOTS = ".".join("a" * 30_000)
WRONG_TOML = {
    "deep list": "a = " + "[" * 30_000,
    "deep table": "a = " + "{a = " * 6_000,
    "deep key": ".".join("a" * 100) + " = 1",
    "many dots": f"{DOTS} = 1",
    "many dots in a header": f"[{DOTS}]",
    "long": "# " + "x" * MOST_BYTES,
    "large number": "model = 0x" + "f" * 20_000,
    "no UTF-8": b"\xff\xfe",
}


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("name", WRONG_TOML)
def test_settings_that_cannot_be_read_are_put_aside_and_never_lost(tmp_path, name):
    path = tmp_path / "settings.toml"
    put(path, WRONG_TOML[name])
    before = path.read_bytes()
    file = PreferencesFile(path)
    preferences, notice = file.read()
    assert preferences == Preferences()
    assert "cannot be read" in str(notice)
    assert str(notice).endswith("Surtitle starts with its own choices")
    assert file.write(Preferences()) is None
    assert (tmp_path / "settings.toml.damaged").read_bytes() == before
    assert file.write(Preferences()) is None  # that was all: the sound file is not put aside
    assert (tmp_path / "settings.toml.damaged").read_bytes() == before
    assert PreferencesFile(path).read() == (Preferences(), None)
    assert GeometryFile(tmp_path / "settings.toml.damaged").find("window") is None


@needs_pipes
def test_settings_that_are_a_pipe_are_not_waited_for_and_give_way(tmp_path):
    path = tmp_path / "settings.toml"
    for name in ("settings.toml", "settings.toml.new", "settings.toml.bak"):
        os.mkfifo(tmp_path / name)
    file = PreferencesFile(path)
    _, notice = file.read()
    assert "no plain file" in str(notice)
    assert file.write(Preferences()) is None
    assert path.is_file()


def test_what_is_ours_is_for_its_owner_alone(tmp_path):
    old = os.umask(0o022)
    try:
        file = TomlFile(tmp_path / "deep" / "settings.toml")
        file.write({"a": 1})
        file.write({"a": 2})
        for path, mode in (
            (file.path.parent, 0o700),
            *((one, 0o600) for one in file.path.parent.iterdir()),
        ):
            assert path.stat().st_mode & 0o777 == mode  # fmt: skip
    finally:
        os.umask(old)


def test_with_every_file_damaged_the_window_starts_and_says_so(qtbot, tmp_path):
    put(tmp_path / "settings.toml", WRONG_TOML["deep list"])
    put(tmp_path / "places.toml", WRONG_TOML["many dots"])
    for number, line in enumerate(WRONG_LINES.values()):
        put(tmp_path / "sessions" / str(number) / "session.jsonl", line)
    after_the_last_year = STARTED % b"9999-12-31T23:59:59+00:00" + b"\n" + CUE % (b"1", b"2")
    put(tmp_path / "sessions" / "late" / "session.jsonl", after_the_last_year)
    if sys.platform != "win32":
        (tmp_path / "sessions" / "pipe").mkdir()
        os.mkfifo(tmp_path / "sessions" / "pipe" / "session.jsonl")
    application = Application(
        settings_in(tmp_path, model=tmp_path), EngineBridge(FakeEngine().make)
    )
    qtbot.addWidget(application.window)
    qtbot.addWidget(application.overlay)
    application.show()
    qtbot.waitUntil(lambda: "cannot be read" in application.window.banner.sentence.text())
    qtbot.waitUntil(lambda: application.window.status.is_ready)
    banner, told = application.window.banner, []
    while banner.isVisible():
        told.append(banner.sentence.text())
        banner.dismiss.click()
    assert any("its captions are kept, but 1 line cannot be read" in it for it in told)
    application.history.sessions_dialog.open_list()
    application.window.close()


def test_of_several_sessions_that_are_damage_alone_the_newest_is_told_once(qapp, tmp_path):  # noqa: ARG001
    for day in (b"03", b"05", b"04"):
        begun = STARTED % (b"2026-11-%sT10:00:00+00:00" % day)
        path = tmp_path / "sessions" / day.decode() / "session.jsonl"
        put(path, begun + b"\n" + WRONG_LINES["deep"])
    keeper = FedKeeper(tmp_path, PrivacyPreferences())
    assert keeper.damaged_session.path.parent.name == "05"
    keeper.close()
    keeper = FedKeeper(tmp_path, PrivacyPreferences())
    assert keeper.damaged_session is None, "it is told once"
    keeper.close()
