"""One entry of a menu is chosen; those below its line lead elsewhere."""

import pytest

from app.look.widgets.buttons import ChoiceMenu

ENTRIES = (("German", "de", "Fast"), ("Polish", "pl", "Slow"))


@pytest.fixture
def menu(qtbot):
    menu = ChoiceMenu("Language")
    qtbot.addWidget(menu)
    menu.show_entries(ENTRIES)
    return menu


def test_what_is_chosen_stays_chosen_though_it_is_not_offered_any_more(menu):
    assert (menu.title(), menu.value, menu.text) == ("Language", "", "")
    menu.choose("pl")
    assert (menu.value, menu.text) == ("pl", "Polish")
    menu.show_entries(ENTRIES[:1])
    assert (menu.value, menu.text) == ("pl", "Polish")
    assert menu.entries == [("German", "de"), ("Polish", "pl")]
    menu.choose("fr")
    assert (menu.value, menu.text) == ("fr", "fr")


def test_entries_tell_what_they_mean_and_which_was_chosen(menu, keeps_parts):
    keeps_parts(menu)
    told, others = [], []
    menu.value_chosen.connect(told.append)
    menu.other_chosen.connect(others.append)
    for entries in ((("French…", "fr", "Download"),), (("More…", "", "All"),)):
        menu.show_others(entries)
    menu.choose("de")
    menu.pick("pl")
    menu.pick("new")
    (more,) = menu.others
    more.trigger()
    assert (told, others, menu.value) == (["pl", "new"], [""], "new")
    assert menu.toolTipsVisible()
    assert [one.toolTip() for one in menu.actions()] == ["Fast", "Slow", "new", "", "All"]
    assert [one.isSeparator() for one in menu.actions()] == [False] * 3 + [True, False]
    menu.show_others(())
    assert [one.text() for one in menu.actions()] == ["German", "Polish", "new"]


def test_an_open_menu_keeps_its_entries_where_the_same_are_offered_again(menu):
    menu.show_others(ENTRIES[1:])
    before = menu.actions()
    menu.show_entries(list(ENTRIES))
    menu.show_others(list(ENTRIES[1:]))
    assert menu.actions() == before
    menu.show_entries(ENTRIES[:1])
    menu.show_others(ENTRIES[:1])
    assert [one.text() for one in menu.actions()] == ["German", "", "German"]
