"""Each entry of the menus does something, and what it is for."""

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.main_window.actions import Actions
from app.main_window.window import MainWindow
from tests.support.app.fake_speech_engine import DEVICES
from tests.support.app.setup_services import parts

DIALOGS = {
    "settings": "settings_dialog",
    "recover": "history.sessions_dialog",
    "export": "history.export_dialog",
    "glossary": "glossary.dialog",
    "models": "setup.models",
    "guide": "setup.dialog",
    "adapters": "adapters.dialog",
    "share": "sharing.dialog",
    "help": "help_windows.help",
    "about": "help_windows.about",
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


def test_every_action_is_in_one_menu_but_for_that_of_the_overlay_alone(qtbot, keeps_parts):
    window = MainWindow()
    qtbot.addWidget(window)
    keeps_parts(window, *window.findChildren(QMenu))
    named = {name: it for name, it in vars(window.menu_actions).items() if isinstance(it, QAction)}
    shown = list(entries(window.menuBar()))
    assert len(named) > 30
    by_keys = ["larger_rows", "smaller_rows"]  # and in the settings
    others = [name for name, it in named.items() if shown.count(it) != 1]
    assert others == [*by_keys, "hide_overlay"]
    assert set(window.actions()) >= {named[name] for name in by_keys}


def test_the_devices_of_both_sources_are_in_the_menu_of_captions(qtbot):
    window = MainWindow()
    qtbot.addWidget(window)
    window.controls.show_devices(DEVICES)
    captions = next(one.menu() for one in window.menuBar().actions() if "Captions" in one.text())
    inner = {one.text(): one.menu() for one in captions.actions() if one.menu() is not None}
    for title, device in (("Mi&crophone in use", "Desk mic"), ("Computer sound &from", "Speakers")):
        next(one for one in inner[title].actions() if one.text() == device).trigger()
    assert [one.devices.value for one in window.controls.sources] == ["mic1", "out1"]


def test_buttons_to_pause_and_to_lock_are_named_by_what_a_click_does(qapp):  # noqa: ARG001
    actions = Actions()
    for action, off, on in (
        (actions.pause, "Pause", "Resume"),
        (actions.lock, "Lock (clicks go through)", "Unlock"),
    ):
        assert action.iconText() == off
        action.toggle()
        assert action.iconText() == on
        action.toggle()
        assert action.iconText() == off


def test_entries_open_their_dialogs(program):
    application = program().application
    application.setup.parts = parts()
    for entry, path in DIALOGS.items():
        getattr(application.window.menu_actions, entry).trigger()
        dialog = part(application, path)
        assert dialog.isVisible(), entry
        dialog.close()
