"""The first five minutes of a person with the whole program, on whatever computer.

``walk`` is that person. Where they sit is for whoever calls it: a home, screens, a language, a
network, a disk.
"""

import time
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.main_window.banner import Banner
from tests.support.app.whole_program import cells

LIMIT_S = 100
FIRST, SECOND = "Good morning.", "We saw the old house."


def noted(put=setattr):
    """Note the notices of every banner from now on; ``put`` is how a method is replaced."""
    notices = []
    for name in ("show_notice", "show_warning"):
        put(Banner, name, _noting(notices, getattr(Banner, name)))
    return notices


def _noting(notices, show):
    def note(banner, message):
        notices.append(message)
        show(banner, message)

    return note


def walk(application, home, *, is_ready=lambda: None, may_leave=lambda: True):
    """Start, skip the guide, type, begin a new session, export, open the settings, leave.

    Args:
        application: not shown yet.
        home: where the captions are exported to.
        is_ready: called when the first sentence is typed; a model may be loading until then.
        may_leave: what is waited for before the window is closed.

    Returns:
        what was seen.
    """
    window, history = application.window, application.history
    seen = {}
    application.show()
    guide = application.setup.dialog
    seen["guide"] = guide is not None and guide.isVisible()
    if seen["guide"]:
        guide.reject()
    seen["earlier"] = _earlier(history.sessions_dialog)
    say = partial(_say, application)
    say(FIRST, is_ready)
    seen["rows"] = cells(window.transcript)
    seen["overlay"] = application.overlay.accessibleDescription()
    screens, widgets = QGuiApplication.screens(), QApplication.topLevelWidgets()
    seen["screens"] = [screen.availableGeometry().getRect() for screen in screens]
    seen["windows"] = [one.geometry().getRect() for one in widgets if one.isVisible()]
    wait(lambda: not _covered(application))
    seen["is_painted"] = _is_painted(application.overlay)
    window.menu_actions.new_session.trigger()
    wait(lambda: cells(window.transcript) == [])
    say(SECOND)
    seen["rows of the new session"] = cells(window.transcript)
    history.export()
    history.export_dialog.export_to(home / "mine.srt")
    seen["export"] = history.export_dialog.message.text().replace("\u200b", "")
    history.export_dialog.close()
    seen["languages"] = _opened(window.choices.language)
    window.menu_actions.settings.trigger()
    wait(application.settings_dialog.isVisible)
    application.settings_dialog.close()
    window.menu_actions.larger.trigger()
    wait(may_leave)
    window.close()
    wait(lambda: not window.isVisible() and not application.bridge.is_running)
    return seen


def wait(condition):
    """Let the program run until a condition holds; fail if it does not."""
    limit_s = time.monotonic() + LIMIT_S
    while not condition() and time.monotonic() < limit_s:
        QTest.qWait(5)
    assert condition()


def _say(application, words, is_ready=lambda: None):
    """Type a sentence, Enter, and wait for its caption."""
    line = application.window.typed_line
    QTest.keyClicks(line, words)
    QTest.keyClick(line, Qt.Key.Key_Return)
    is_ready()
    wait(lambda: words in [cue.source for cue in application.history.writer.cues])


def _earlier(dialog):
    dialog.open_list()
    labels = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    dialog.close()
    return labels


def _opened(menu):
    menu.popup(menu.pos())
    wait(menu.isVisible)
    menu.close()
    return [action.text() for action in menu.actions() if action.text()]


def _covered(application):
    """List what the overlay covers of the buttons and lines of the window."""
    if not application.overlay.isVisible():
        return []
    place = application.overlay.geometry()
    return [one for one in application.window.needed_areas() if one.intersects(place)]


def _is_painted(overlay):
    picture = overlay.grab().toImage()
    middle = overlay.box.center().y()
    return len({picture.pixel(x, middle) for x in range(0, picture.width(), 2)}) > 1
