"""What holds for every window there is: names for screen readers, the keyboard, large letters."""

import importlib
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QFont, QKeySequence, QScreen
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QMenu,
    QMenuBar,
    QScrollArea,
    QStackedWidget,
    QTabBar,
    QTabWidget,
    QWidget,
)

from app import dialogs
from app.dialogs.share_dialog import CodeView
from app.look.widgets.fit_to_screen import fitted
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.setup_services import parts

INNER = (QComboBox, QAbstractSpinBox, QTabBar)
"""What is made of parts that are no controls of their own."""
TWICE_SCALED_FULL_HD = QSize(960, 520)
FULL_HD = QSize(1920, 1040)


@pytest.fixture
def large_letters(qapp):
    own = QFont(qapp.font())
    large = QFont(own)
    large.setPointSizeF(2 * own.pointSizeF())
    qapp.setFont(large)
    yield
    qapp.setFont(own)


@pytest.fixture
def windows(program):
    """Make every window, the model still loading, so that its progress is shown, too."""

    def make():
        application = program(FakeEngine(may_load=threading.Event())).application
        window, stage = application.window, application.overlay_controller
        application.setup.parts = parts()
        assert application.settings_dialog.isHidden()  # made when it is first wanted
        actions = window.menu_actions
        for action in (
            actions.guide,
            actions.models,
            actions.glossary,
            actions.help,
            actions.about,
            actions.share,
        ):
            action.trigger()
        application.server.open_dialog()
        return [window, stage.overlay, stage.bar, *window.findChildren(QDialog)]

    return make


def pages(window):
    """Show a window page by page."""
    window.show()
    yield window.windowTitle()
    for pile in window.findChildren(QWidget):
        if isinstance(pile, (QTabWidget, QStackedWidget)) and pile.window() is window:
            for number in range(pile.count()):
                pile.setCurrentIndex(number)
                QApplication.processEvents()
                yield f"{window.windowTitle()}: page {number}"
    window.hide()


def controls(window):
    """List what the keyboard may go to."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and widget.window() is window
        and widget.focusProxy() is None
        and (widget.isWindow() or not widget.isHidden())  # by itself, not with its window
        and not isinstance(widget.parent(), INNER)
        and not isinstance(widget, (QLabel, QMenuBar, QScrollArea))
        and not widget.objectName().startswith("qt_")
    ]


def name_of(widget):
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


def test_every_control_has_a_name_for_screen_readers(windows, language):
    for window in windows():
        assert window.windowTitle(), window
        for widget in controls(window):
            assert name_of(widget).strip(), f"{language}: {window.windowTitle()}: {widget}"


def test_a_control_without_a_name_would_be_found(windows):
    from PySide6.QtWidgets import QLineEdit  # noqa: PLC0415  only here

    window = windows()[0]
    nameless = QLineEdit(window)
    assert nameless in controls(window)
    assert not name_of(nameless)


def wanted_by_tab(window):
    return {
        widget
        for widget in controls(window)
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    }


def reached_by_tab(window, n_presses):
    reached = set()
    for _ in range(n_presses):
        focus = window.focusWidget()
        if focus is not None:
            reached.add(focus)
        QTest.keyClick(focus or window, Qt.Key.Key_Tab)
        QApplication.processEvents()
    return reached


def is_in_group(widget):
    """A group of buttons of which one is chosen is one stop."""
    return isinstance(widget, QAbstractButton) and bool(widget.autoExclusive() or widget.group())


def test_tab_comes_to_every_control_and_is_caught_by_none(windows, qtbot):
    for window in windows():
        if window.windowFlags() & Qt.WindowType.WindowDoesNotAcceptFocus:
            continue
        for page in pages(window):
            window.activateWindow()
            qtbot.waitUntil(window.isActiveWindow)
            wanted = wanted_by_tab(window)
            missed = wanted - reached_by_tab(window, 2 * len(wanted) + 3)
            assert {it for it in missed if not is_in_group(it)} == set(), page


def cut_off(window):
    """List the texts that have less room than they need."""
    found = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or widget.window() is not window:
            continue
        if isinstance(widget.parent(), INNER):
            continue
        if isinstance(widget, QLabel) and widget.wordWrap():
            if widget.text() and widget.height() < widget.heightForWidth(widget.width()):
                found.append((widget.text(), widget.size()))
        elif isinstance(widget, (QLabel, QAbstractButton, *INNER)):
            needed = widget.minimumSizeHint()
            if widget.width() < needed.width() or widget.height() < needed.height():
                found.append((widget, widget.size(), needed))
    return found


@pytest.mark.usefixtures("large_letters")
def test_no_text_is_cut_off_with_letters_twice_as_large(windows, language):
    for window in windows():
        for page in pages(window):
            for _ in range(20):  # a text that comes from another thread is laid out a round later
                window.adjustSize()
                QApplication.processEvents()
                if not cut_off(window):
                    break
            assert cut_off(window) == [], f"{language}: {page}"


@pytest.mark.usefixtures("large_letters", "language")
def test_every_window_fits_a_usual_screen_with_letters_twice_as_large(windows):
    for window in windows():
        for page in pages(window):
            needed = window.minimumSizeHint()
            assert FULL_HD.expandedTo(needed) == FULL_HD, (page, needed)


@pytest.mark.usefixtures("language")
def test_every_window_fits_a_usual_screen_that_is_scaled_twice(windows):
    for window in windows():
        for page in pages(window):
            needed = window.minimumSizeHint()
            room = TWICE_SCALED_FULL_HD
            assert room.expandedTo(needed) == room, (page, needed)


TITLE_BAR = 30
SMALL_SCREENS = [QRect(0, 0, 640, 360), QRect(0, 0, 910, 512)]
"""What is left of 1280x720 scaled twice, and of 1366x768 scaled by half."""


@pytest.mark.parametrize("area", SMALL_SCREENS)
@pytest.mark.usefixtures("language")
def test_every_dialog_is_inside_a_small_screen_that_is_scaled(windows, monkeypatch, area):
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _screen: area)
    room = area.size() - QSize(0, TITLE_BAR)
    for window in windows():
        for page in pages(window):
            size = window.size() if isinstance(window, QDialog) else window.minimumSizeHint()
            assert room.expandedTo(size) == room, (page, size)


def test_a_dialog_comes_back_where_it_stood_and_never_beyond_the_edge():
    area, frame, size = QRect(0, 20, 640, 340), QSize(16, 32), QSize(600, 300)
    assert fitted(QSize(900, 500), frame, None, area) == (QSize(624, 308), None)
    assert fitted(size, frame, QPoint(10, 25), area) == (size, QPoint(10, 25))
    assert fitted(size, frame, QPoint(500, 300), area) == (size, QPoint(24, 28))
    assert fitted(size, frame, QPoint(-80, -9), area) == (size, QPoint(0, 20))


def alt_keys(window):
    """List what Alt with a letter goes to in a window as it is seen now."""
    texts = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or widget.window() is not window:
            continue
        is_named = isinstance(widget, QLabel) and widget.buddy() is not None
        if isinstance(widget, QAbstractButton) or is_named:
            texts.append(widget.text())
        elif isinstance(widget, QTabBar):
            texts += [widget.tabText(index) for index in range(widget.count())]
        elif isinstance(widget, QMenuBar):
            texts += [action.text() for action in widget.actions()]
    return [(QKeySequence.mnemonic(text).toString(), text) for text in texts if "&" in text]


def menus(window):
    """List the menus of a window: those of its bar, of its buttons, and of its own."""
    return [menu for menu in window.findChildren(QMenu) if menu.actions()]


def test_a_letter_in_a_menu_goes_to_one_thing_only(windows, language):
    twice, n_menus = {}, 0
    for window in windows():
        for menu in menus(window):
            n_menus += 1
            keys = [
                QKeySequence.mnemonic(action.text()).toString()
                for action in menu.actions()
                if "&" in action.text()
            ]
            found = sorted({key for key in keys if keys.count(key) > 1})
            if found:
                twice[menu.title()] = found
    assert n_menus >= 5
    assert twice == {}, language


def test_these_windows_are_all_there_are(windows):
    known = {type(window) for window in windows()} | {CodeView}  # fills a screen, has no controls
    folder = Path(dialogs.__path__[0])
    for file in folder.rglob("*.py"):
        name = ".".join(("app.dialogs", *file.relative_to(folder).with_suffix("").parts))
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, type) and issubclass(value, QDialog) and value is not QDialog:
                assert value in known, value


def test_alt_with_a_letter_goes_to_one_thing_only(windows, language):
    twice = {}
    for window in windows():
        for page in pages(window):
            texts = {}
            for keys, text in alt_keys(window):
                texts.setdefault(keys, []).append(text)
            twice |= {f"{page}: {keys}": found for keys, found in texts.items() if len(found) > 1}
    assert twice == {}, language


@pytest.mark.usefixtures("language")
def test_nothing_in_the_main_window_is_cut_off_at_its_smallest(windows, qtbot):
    window = windows()[0]
    window.show()
    for width in (0, 600, 700, 850, 0):
        window.resize(width, 0)
        row = window.controls
        qtbot.waitUntil(
            lambda row=row: (
                cut_off(window) == [] and row.height() >= row.heightForWidth(row.width())
            )
        )


def test_the_hint_of_the_typed_line_is_whole_on_a_small_screen_that_is_scaled(windows, language):
    window = windows()[0]
    window.resize(640, 300)  # 1280x720 at 200 %
    window.show()
    line = window.typed_line
    for translates in (True, False):
        line.show_use(translates=translates)
        hint = line.fontMetrics().horizontalAdvance(line.placeholderText())
        around = line.sizeHint().width() - line.fontMetrics().averageCharWidth() * 17
        assert hint + around <= line.width(), (language, line.placeholderText())
