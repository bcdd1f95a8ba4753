"""Buttons say what they do: beside their icon, or where that stands alone as their name."""

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QMenu

from app.look.widgets.tool_button import leave_with, tool_button


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
    leave_with(menu, button)
    button.show()
    QApplication.sendEvent(button, QEvent(QEvent.Type.Enter))
    assert button.underMouse()
    menu.popup(button.mapToGlobal(QPoint(0, button.height())))
    at = button.rect().center() if stays else button.rect().bottomRight() + QPoint(40, 40)
    monkeypatch.setattr(QCursor, "pos", lambda: button.mapToGlobal(at))
    menu.hide()
    assert button.underMouse() == stays
