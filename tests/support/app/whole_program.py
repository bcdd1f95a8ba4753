"""The whole program, on fakes or as it is, and a person at its keyboard and buttons."""

import tomllib

from PySide6.QtCore import Qt

from app.controllers.application import Application
from app.main_window.transcript_model import CAPTION, SOURCE
from app.session.engine_bridge import EngineBridge
from engine.session.session import Session
from tests.support.app.home import settings_in


def cells(transcript):
    """The texts that stand in the table, row by row."""
    rows = transcript.model()
    return [
        tuple(rows.data(rows.index(row, column)) for column in (SOURCE, CAPTION))
        for row in range(rows.rowCount())
    ]


SAID = "we went to the old house. then it rained."
PATIENCE_MS = 150_000  # a busy machine may load models for minutes


class TinyEngine:
    """Makes real sessions, for a model given elsewhere, and keeps them for the test to look at."""

    def __init__(self):
        self.sessions = []

    def make(self, *arguments):
        self.sessions.append(Session(*arguments))
        return self.sessions[-1]


class Program:
    """The program in a folder, and a person at its keyboard and buttons.

    Sessions are made by ``engine``, and what hears by ``speech``: by the real ones without them.
    """

    def __init__(self, qtbot, folder, engine=None, speech=None, **settings):
        self.qtbot = qtbot
        self.engine, self.speech = engine, speech
        self.file = folder / "settings.toml"
        settings = settings_in(folder, **{"model": folder} | settings)
        bridge = EngineBridge(engine.make) if engine else EngineBridge()
        self.application = Application(settings, bridge, *([speech.make] if speech else []))
        self.window = self.application.window
        self.overlay = self.application.overlay
        self.bar, self.banner = self.window.controls, self.window.banner
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

    def say_whole(self, text):
        """Type a line, end it, and wait until its caption is kept; return its cue."""
        before = len(self.cues)
        self.say(text)
        self.wait(lambda: len(self.cues) > before)
        self.wait_until_done()
        return self.cues[-1]

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        self.qtbot.keyClick(self.window.typed_line, key, modifier)

    def press_ctrl(self, key):
        self.press(key, Qt.KeyboardModifier.ControlModifier)

    def wait_for_rows(self, *rows):
        self.wait(lambda: cells(self.window.transcript) == list(rows))

    def wait_until_done(self):
        """Wait until every row is complete: shown ones may not be, and are not deleted then."""
        self.wait(lambda: all(view.ended for view in self.window.transcript.rows.views))

    def rows(self):
        return [
            (view.lane, view.source, view.caption) for view in self.window.transcript.rows.views
        ]

    def texts(self, lane):
        """What a lane said and how it was translated, rows joined."""
        of_lane = [row[1:] for row in self.rows() if row[0] == lane]
        joined = (" ".join(filter(None, texts)) for texts in zip(*of_lane, strict=True))
        return tuple(joined) or ("", "")

    def wait_for_sentence(self):
        self.wait(lambda: self.texts("me") == (SAID, SAID.upper()))

    def hear(self):
        """Switch the microphone on, and wait until what is said has complete rows."""
        self.bar.microphone.button.click()
        self.wait_for_sentence()
        self.wait_until_done()
        return self

    def be_asked(self):
        """Switch the microphone on, and wait for what the banner says to that."""
        self.bar.microphone.button.click()
        self.wait(self.banner.isVisible)
        return self

    def wait_for_runs(self, count):
        """Wait until so many runs of listening were begun, the newest of which is in charge."""
        service = self.application.listening.service
        self.wait(lambda: len(self.speech.runs) == count and service._living()[-1:] == [self.run])

    @property
    def run(self):
        return self.speech.runs[-1]

    @property
    def session(self):
        return self.engine.sessions[-1]

    @property
    def cues(self):
        """What is kept of the session."""
        return self.application.history.writer.cues

    def stored(self):
        return tomllib.loads(self.file.read_text())
