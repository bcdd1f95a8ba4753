import os

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLocale, Qt
from PySide6.QtGui import QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.config.system.garbage import GarbageCollector
from app.config.system.translations import speak
from engine.files import ASSETS

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # windows without a screen

PATIENCE_MS = 60_000  # a machine may do much else; nothing waits longer than it must


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Let whoever waits for something to come wait longer than the five seconds of pytest-qt."""
    for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitExposed):
        monkeypatch.setitem(wait.__kwdefaults__, "timeout", PATIENCE_MS)


@pytest.fixture(autouse=True)
def _no_key_is_held():
    """Let go of Ctrl and its like, which Qt takes as held after a click of a key with them.

    Tables select rows otherwise while Ctrl is held: the next test would find that.
    """
    yield
    if QApplication.instance() is not None and QApplication.keyboardModifiers():
        QTest.keyRelease(QWidget(), Qt.Key.Key_Control)


@pytest.fixture(autouse=True)
def _no_window_stays():
    """Delete windows and menus that a test leaves: a style sheet is set on each that there is."""
    yield
    if QApplication.instance() is not None:
        for one in QApplication.topLevelWidgets():
            one.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(autouse=True)
def _country():
    """Let numbers be those of the system again after a test in another language."""
    yield
    QLocale.setDefault(QLocale.system())


@pytest.fixture(scope="session")
def qapp(qapp):
    """Word numbers and collect garbage as the program does, in English: 1 caption, 2 captions."""
    translators = speak(qapp, "en", ASSETS / "languages")
    garbage = GarbageCollector()
    yield qapp
    garbage.close()
    translators.clear()


@pytest.fixture(params=["en", "de"])
def language(request, qapp):
    """The language of the windows."""
    translators = speak(qapp, request.param, ASSETS / "languages")
    yield request.param
    for one in translators:
        qapp.removeTranslator(one)


@pytest.fixture
def plain_look(qapp):
    """Take our style sheet and colours off the application again."""
    yield
    if qapp.styleSheet():
        qapp.setStyleSheet("")
        qapp.setPalette(QPalette())
        qapp.styleHints().unsetColorScheme()


@pytest.fixture
def program(qtbot, tmp_path, plain_look):  # noqa: ARG001  after the windows are closed
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
