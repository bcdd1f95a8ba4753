"""Buttons say what they do: beside their icon, or where that stands alone as their name."""

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QToolButton

from app.look.widgets.buttons import open_with, tool_button


def test_a_button_is_named_by_its_text_or_else_by_its_tip(qtbot, keeps_parts):
    tips = {"Pause": "Translate nothing for a while", "": "Close the search"}
    made = [tool_button("x", text, tip) for text, tip in tips.items()]
    for one in made:
        qtbot.addWidget(one)
    keeps_parts(*made)
    told = {one.text(): (one.accessibleName(), one.toolTip()) for one in made}
    assert told == {text: (text or tip, tip) for text, tip in tips.items()}


@pytest.mark.parametrize("stays", [True, False])
def test_a_button_looks_left_once_its_menu_is_gone_unless_the_mouse_is_on_it(
    qtbot, monkeypatch, stays
):
    button = tool_button("x", "Devices", "")
    qtbot.addWidget(button)
    menu = QMenu(button)
    menu.addAction("Headset")
    open_with(menu, button)
    button.show()
    QApplication.sendEvent(button, QEvent(QEvent.Type.Enter))
    assert button.underMouse()
    menu.popup(button.mapToGlobal(QPoint(0, button.height())))
    at = button.rect().center() if stays else button.rect().bottomRight() + QPoint(40, 40)
    monkeypatch.setattr(QCursor, "pos", lambda: button.mapToGlobal(at))
    menu.hide()
    assert button.underMouse() == stays


def with_menu(qtbot, button):
    """A menu of two entries, the second one chosen, that a button opens."""
    qtbot.addWidget(button)
    menu = QMenu(button)
    actions = [menu.addAction(name) for name in ("Default", "Headset")]
    for one in actions:
        one.setCheckable(True)
    actions[1].setChecked(True)
    open_with(menu, button)
    button.show()
    return menu


@pytest.mark.parametrize(
    ("key", "modifiers"),
    [
        (Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier),
        (Qt.Key.Key_Menu, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier),
    ],
)
@pytest.mark.parametrize("kind", [QToolButton, QPushButton])
def test_the_keys_that_open_menus_open_that_of_a_button_at_what_is_chosen(
    qtbot, kind, key, modifiers
):
    menu = with_menu(qtbot, button := kind())
    QTest.keyClick(button, key, modifiers)
    assert menu.isVisible()
    assert menu.activeAction().text() == "Headset"
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    assert not menu.isVisible()
    QTest.keyClick(button, Qt.Key.Key_Up, modifiers)
    assert not menu.isVisible()


def test_the_arrow_of_a_button_that_does_something_else_opens_its_menu(qtbot):
    button = tool_button("x", "Microphone", "", checkable=True)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
    menu = with_menu(qtbot, button)
    middle = button.height() // 2
    left = Qt.MouseButton.LeftButton
    QTest.mouseClick(button, left, pos=QPoint(4, middle))
    assert button.isChecked()
    assert not menu.isVisible()
    QTest.mousePress(button, left, pos=QPoint(button.width() - 4, middle))
    assert menu.isVisible()
    assert button.isChecked()
    menu.hide()
