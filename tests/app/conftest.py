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
