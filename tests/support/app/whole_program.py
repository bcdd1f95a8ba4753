"""The whole program, on fakes or as it is, and a person at its keyboard."""

import tomllib

from PySide6.QtCore import Qt

from app.controllers.application import Application
from app.main_window.transcript_model import CAPTION, SOURCE
from app.session.engine_bridge import EngineBridge
from tests.support.app.home import settings_in


def cells(transcript):
    """The texts that stand in the table, row by row."""
    rows = transcript.model()
    return [
        tuple(rows.data(rows.index(row, column)) for column in (SOURCE, CAPTION))
        for row in range(rows.rowCount())
    ]


PATIENCE_MS = 150_000  # a busy machine may load models for minutes


class Program:
    """The program in a folder, and a person at its keyboard.

    Sessions are made by ``engine``, and what hears by ``speech``: by the real ones without them.
    """

    def __init__(self, qtbot, folder, engine=None, speech=None, **settings):
        self.qtbot = qtbot
        self.engine = engine
        self.file = folder / "settings.toml"
        settings = settings_in(folder, **{"model": folder} | settings)
        bridge = EngineBridge(engine.make) if engine else EngineBridge()
        self.application = Application(settings, bridge, *([speech.make] if speech else []))
        self.window = self.application.window
        self.overlay = self.application.overlay
        qtbot.addWidget(self.window)
        qtbot.addWidget(self.overlay)

    def open(self):
        self.application.show()
        self.window.activateWindow()  # shortcuts are for the active window
        self.wait(self.window.isActiveWindow)
        return self

    def wait(self, condition):
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE_MS)

    def wait_until_ready(self):
        self.wait(lambda: self.window.status.is_ready)
        return self

    def type(self, text):
        self.qtbot.keyClicks(self.window.typed_line, text)

    def say(self, text):
        """Type a line and end it."""
        self.type(text)
        self.press(Qt.Key.Key_Return)

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        self.qtbot.keyClick(self.window.typed_line, key, modifier)

    def wait_for_rows(self, *rows):
        self.wait(lambda: cells(self.window.transcript) == list(rows))

    @property
    def session(self):
        return self.engine.sessions[-1]

    def stored(self):
        return tomllib.loads(self.file.read_text())
