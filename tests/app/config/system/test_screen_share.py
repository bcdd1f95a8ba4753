import sys

import pytest
from PySide6.QtWidgets import QWidget

from app.config.system import screen_share
from app.config.system.screen_share import ShareGuard, can_hide, hide_from_share


@pytest.fixture
def told(monkeypatch):
    told = []
    monkeypatch.setattr(
        screen_share, "hide_from_share", lambda window, hidden: told.append((window, hidden))
    )
    return told


@pytest.mark.skipif(sys.platform != "linux", reason="other systems can")
def test_on_linux_nothing_is_promised():
    assert not can_hide()
    assert not hide_from_share(1, hidden=True)


def test_windows_are_kept_out_while_that_is_wanted(qtbot, told):
    window, guard = QWidget(), ShareGuard()
    qtbot.addWidget(window)
    guard.watch(window)
    window.show()
    assert told == []
    guard.use(hidden=True)
    assert told == [(window.winId(), True)]
    guard.use(hidden=True)
    assert len(told) == 1
    guard.use(hidden=False)
    assert told[-1] == (window.winId(), False)
    window.hide()
    window.show()
    assert len(told) == 2


def test_a_window_that_was_hidden_or_made_anew_is_kept_out_when_it_is_shown(qtbot, told):
    window, guard = QWidget(), ShareGuard()
    qtbot.addWidget(window)
    guard.watch(window)
    guard.use(hidden=True)
    assert told == []
    window.show()
    assert told[-1] == (window.winId(), True)
    before = len(told)
    window.setWindowOpacity(0.5)
    window.setWindowFlag(window.windowFlags().FramelessWindowHint)
    window.show()
    assert len(told) > before
    assert told[-1] == (window.winId(), True)
