import os

import pytest
from pytestqt.qtbot import QtBot

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # windows without a screen

PATIENCE_MS = 60_000  # a machine may do much else; nothing waits longer than it must


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Let whoever waits for something to come wait longer than the five seconds of pytest-qt."""
    for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitExposed):
        monkeypatch.setitem(wait.__kwdefaults__, "timeout", PATIENCE_MS)


@pytest.fixture
def program(qtbot, tmp_path):
    """Make the whole program on a fake engine; what is made is closed afterwards."""
    from tests.support.app.fake_engine import FakeEngine  # noqa: PLC0415  with the next it imports all of app
    from tests.support.app.whole_program import Program  # noqa: PLC0415

    programs = []

    def make(engine=None, **settings):
        programs.append(Program(qtbot, tmp_path, engine or FakeEngine(), **settings))
        return programs[-1]

    yield make
    for one in programs:
        one.window.close()
        one.application.bridge.stop()
