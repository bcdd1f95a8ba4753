import os
from functools import partial

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLocale, Qt
from PySide6.QtGui import QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.config.background import GarbageCollector, report_errors_of_overrides
from app.config.translations import speak
from engine.files import ASSETS

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # windows without a screen

PATIENCE_MS = 150_000  # a machine may do much else; nothing waits longer than it must


@pytest.fixture(autouse=True, scope="module")
def _patience():
    """Let whoever waits for something to come wait longer than the five seconds of pytest-qt."""
    with pytest.MonkeyPatch.context() as patch:
        for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitExposed):
            patch.setitem(wait.__kwdefaults__, "timeout", PATIENCE_MS)
        yield


@pytest.fixture(autouse=True)
def _no_speech_model_comes_along(monkeypatch):
    """Speech begins with a download, as where there is no package of the model for this system."""
    monkeypatch.setattr("engine.hub.catalogue.bundled_speech_model", lambda: None)


@pytest.fixture(autouse=True)
def _no_window_key_look_or_country_stays():
    yield
    if QApplication.instance() is not None:
        _delete_windows()
        _release_keys()
        _take_our_look_off(QApplication.instance())
    QLocale.setDefault(QLocale.system())  # after a test in another language


def _delete_windows():
    """Delete windows and menus that a test leaves: a style sheet is set on each that there is."""
    for one in QApplication.topLevelWidgets():
        one.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _release_keys():
    """Let go of Ctrl and its like, which Qt takes as held after a click of a key with them.

    Tables select rows otherwise while Ctrl is held: the next test would find that.
    """
    if QApplication.keyboardModifiers():
        QTest.keyRelease(QWidget(), Qt.Key.Key_Control)


def _take_our_look_off(application):
    """Take our style sheet and colours off: letters of windows that are made next would change."""
    if application.styleSheet():
        application.setStyleSheet("")
        application.setPalette(QPalette())
        application.styleHints().unsetColorScheme()


@pytest.fixture(scope="session")
def qapp(qapp):
    """Word numbers, report errors and collect garbage as the program does, in English."""
    report_errors_of_overrides()
    translators = speak(qapp, "en", ASSETS / "languages")
    garbage = GarbageCollector()  # noqa: F841  lives as long as this
    yield qapp
    translators.clear()


@pytest.fixture(params=["en", "de"])
def language(request, qapp):
    """The language of the windows."""
    translators = speak(qapp, request.param, ASSETS / "languages")
    yield request.param
    for one in translators:
        qapp.removeTranslator(one)


@pytest.fixture
def keeps_parts(request, tmp_path):
    """Hold windows to the record of their parts in the folder of the test."""
    from tests.support.app.parts_of_windows import check_parts  # noqa: PLC0415  it imports Qt's widgets

    return partial(check_parts, request.path, tmp_path / "parts.txt")


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


@pytest.fixture
def one(program):
    """The whole program on a fake engine, as soon as words are translated."""
    return program().open().wait_until_ready()


@pytest.fixture
def said(monkeypatch):
    """What screen readers are told."""
    said = []

    class Listener:
        @staticmethod
        def updateAccessibility(event):  # noqa: N802  Qt's name
            said.append(event.message())

    monkeypatch.setattr("app.look.widgets.desktop.QAccessible", Listener)
    return said
