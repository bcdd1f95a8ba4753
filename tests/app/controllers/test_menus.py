"""Each entry of the menus does something, and what it is for."""

import pytest
from PySide6.QtCore import SIGNAL

from tests.support.app.setup_services import parts

DIALOGS = {
    "settings": "settings_dialog",
    "recover": "archive.sessions_dialog",
    "export": "archive.export_dialog",
    "glossary": "side_windows.glossary.dialog",
    "latency": "side_windows.latency_dialog",
    "models": "side_windows.guide.models",
    "guide": "side_windows.guide.dialog",
    "adapters": "adapters.dialog",
    "share": "sharing.dialog",
}
"""Where the dialog is that an entry opens."""


def entries(menu):
    """All entries of a menu and of the menus in it."""
    for action in menu.actions():
        if action.menu() is not None:
            yield from entries(action.menu())
        elif not action.isSeparator():
            yield action


def part(application, path):
    one = application
    for name in path.split("."):
        one = getattr(one, name)
    return one


def test_no_entry_of_a_menu_does_nothing(program):
    window = program().application.window
    all_entries = list(entries(window.menuBar()))
    assert len(all_entries) > 30
    for action in all_entries:
        signals = ("triggered(bool)", "triggered()", "toggled(bool)")
        heard = sum(action.receivers(SIGNAL(signal)) for signal in signals)
        assert heard, action.text()


@pytest.mark.parametrize("entry", DIALOGS)
def test_an_entry_opens_its_dialog(program, entry):
    application = program().application
    application.side_windows.guide.parts = parts()
    getattr(application.window.menu_actions, entry).trigger()
    dialog = part(application, DIALOGS[entry])
    assert dialog.isVisible()
    dialog.close()
