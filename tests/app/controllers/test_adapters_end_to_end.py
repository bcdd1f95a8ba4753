"""Adapters from the dialog to the captions, with the engine that translates for real."""

import pytest
from PySide6.QtCore import Qt

from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from engine.models.fingerprint import read_fingerprint
from engine.settings import ModelSettings
from tests.support.adapter_folders import CONFIG, factors, tiny_card, write_adapter
from tests.support.app.home import settings_in
from tests.support.app.whole_program import cells
from tests.support.fakes import save_tiny_model
from tests.support.sessions import at_once

LIMIT_MS = 60_000
TEXT = "ab cd ef gh."


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("models") / "base")


@pytest.fixture(scope="module")
def adapter(base, tmp_path_factory):
    return adapter_for(base, tmp_path_factory.mktemp("adapters") / "whole")


def adapter_for(base, folder, *, scale=0.2):
    """An adapter of the base that makes it say something else."""
    shape = read_fingerprint(base)
    tensors = {key: value * scale for key, value in factors(shape, CONFIG).items()}
    card = tiny_card(shape, name="whole")
    return write_adapter(folder, shape, tensors=tensors, card=card)


@pytest.fixture(autouse=True)
def nothing_bundled(monkeypatch):
    """What is added stands alone in the table."""
    monkeypatch.setattr("app.controllers.adapter_controller.bundled_adapters", list)
    monkeypatch.setattr("engine.hub.bundled.bundled_adapters", list)


class Person:
    """Somebody before the window and its dialog of adapters."""

    def __init__(self, qtbot, home, base):
        self.qtbot = qtbot
        settings = settings_in(home, model=base, device="cpu", policy="read:2")
        self.application = Application(settings, EngineBridge())
        self.window = self.application.window
        qtbot.addWidget(self.window)
        qtbot.addWidget(self.application.overlay)
        self.application.show()
        self.dialog = self.application.adapters.dialog
        self.wait(lambda: self.window.status.is_ready)

    def wait(self, condition):
        self.qtbot.waitUntil(condition, timeout=LIMIT_MS)

    def open_dialog(self):
        """Open the dialog, as the menu in the window does."""
        self.window.menu_actions.adapters.trigger()
        assert self.dialog.isVisible()

    def add(self, folder):
        """Add an adapter, and wait until it stands in the table."""
        self.dialog.add(folder)
        self.wait(lambda: self.dialog.rows.rowCount() > 0)

    @property
    def used(self):
        return self.application.settings.adapter_in_use

    def press_space(self):
        """Turn the switch of the selected adapter."""
        self.qtbot.keyClick(self.dialog.table, Qt.Key.Key_Space)

    def press_switch(self, used):
        """Turn the switch, and wait for the adapter that then translates."""
        self.press_space()
        self.wait(lambda: self.used == used)

    def type(self, text):
        """Type a line; give its caption."""
        before = len(cells(self.window.transcript))
        self.qtbot.keyClicks(self.window.typed_line, text)
        self.qtbot.keyClick(self.window.typed_line, Qt.Key.Key_Return)
        keeper = self.application.keeper
        self.wait(lambda: len(keeper.cues) == before + 1)
        return cells(self.window.transcript)[-1][1]


@pytest.fixture
def person(qtbot, tmp_path, base):
    made = []

    def make():
        made.append(Person(qtbot, tmp_path / "home", base))
        return made[-1]

    yield make
    for one in made:
        one.window.close()


def said(base, adapter=None):
    """What the model says without any window to what is typed key by key."""
    settings = ModelSettings(directory=base, adapter=adapter, device="cpu")
    ((_, caption),) = at_once(settings, TEXT, together=1)
    return caption.strip()


def test_an_adapter_is_added_loaded_compared_and_kept_and_captions_are_those_of_the_engine(
    person, base, adapter
):
    bare, adapted = said(base), said(base, adapter)
    assert bare != adapted
    one = person()
    assert one.type(TEXT) == bare
    one.open_dialog()
    one.add(adapter)
    one.press_switch("whole")
    assert one.type(TEXT) == adapted
    one.press_switch(None)
    assert one.type(TEXT) == bare
    one.press_switch("whole")
    assert one.type(TEXT) == adapted
    one.window.close()
    again = person()
    again.wait(lambda: again.used == "whole")
    assert again.type(TEXT) == adapted


def test_an_adapter_that_breaks_after_it_was_judged_is_refused_and_captions_go_on(
    person, base, adapter, tmp_path
):
    one = person()
    one.open_dialog()
    one.add(adapter)
    weights = tmp_path / "home" / "adapters" / "whole" / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-40])
    one.press_space()
    one.wait(lambda: "whole is being loaded" not in one.dialog.message.text().lower())
    assert "it is damaged; get it again" in one.dialog.message.text()
    assert one.used is None
    assert one.type(TEXT) == said(base)


def test_an_adapter_of_another_base_cannot_be_loaded_from_the_dialog(person, tmp_path):
    one = person()
    one.open_dialog()
    one.add(write_adapter(tmp_path / "stranger"))
    one.wait(lambda: one.dialog.reason.text() != "")
    assert not one.dialog.rows.index(0, 0).flags() & Qt.ItemFlag.ItemIsUserCheckable
