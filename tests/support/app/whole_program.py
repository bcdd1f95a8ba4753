"""The whole program on fakes, and a person at its keyboard."""

import tomllib

from PySide6.QtCore import Qt

from app.config.preferences import LaunchSettings
from app.controllers.application import Application
from app.main_window.transcript_model import CAPTION, SOURCE
from app.session.engine_bridge import EngineBridge


def cells(transcript):
    """The texts that stand in the table, row by row."""
    rows = transcript.model()
    return [
        tuple(rows.data(rows.index(row, column)) for column in (SOURCE, CAPTION))
        for row in range(rows.rowCount())
    ]


class Program:
    """The whole program on a fake engine, and a person at its keyboard."""

    def __init__(self, qtbot, tmp_path, engine, **settings):
        self.qtbot = qtbot
        self.engine = engine
        self.file = tmp_path / "settings.toml"
        settings = {
            "preferences_file": self.file,
            "places_file": tmp_path / "places.toml",
            "data_folder": tmp_path,
            "log_folder": tmp_path,
            "model": tmp_path,
        } | settings
        self.application = Application(LaunchSettings(**settings), EngineBridge(engine.make))
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
        self.qtbot.waitUntil(condition)

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
