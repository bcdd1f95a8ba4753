"""Buttons say what they do: beside their icon, or where that stands alone as their name."""

from app.look.widgets.tool_button import tool_button


def test_a_button_is_named_by_its_text_or_else_by_its_tip(qtbot, keeps_parts):
    tips = {"Pause": "Translate nothing for a while", "": "Close the search"}
    made = [tool_button("x", text, tip) for text, tip in tips.items()]
    for one in made:
        qtbot.addWidget(one)
    keeps_parts(*made)
    told = {one.text(): (one.accessibleName(), one.toolTip()) for one in made}
    assert told == {text: (text or tip, tip) for text, tip in tips.items()}
