"""Buttons say what they do: beside their icon, or where that stands alone as their name."""

from PySide6.QtCore import Qt

from app.look.widgets.tool_button import tool_button


def test_a_text_stands_beside_the_icon_and_is_the_name(qtbot):
    button = tool_button("pause", "Pause", "Translate nothing for a while")
    qtbot.addWidget(button)
    assert (button.text(), button.accessibleName()) == ("Pause", "Pause")
    assert button.toolTip() == button.accessibleDescription() == "Translate nothing for a while"
    assert button.focusPolicy() == Qt.FocusPolicy.TabFocus
    assert button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon


def test_an_icon_that_stands_alone_is_named_by_its_tip(qtbot):
    button = tool_button("x", "", "Close the search")
    qtbot.addWidget(button)
    assert (button.text(), button.accessibleName()) == ("", "Close the search")
    assert button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
