"""The whole program with a fake microphone, and a person at its buttons."""

from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from tests.support.app.home import settings_in

SAID = "we went to the old house. then it rained."
WAIT_MS = 150_000


class ListeningProgram:
    def __init__(self, qtbot, tmp_path, speech, engine):
        self.qtbot = qtbot
        self.speech = speech
        self.engine = engine
        settings = settings_in(tmp_path, model=tmp_path)
        self.application = Application(settings, EngineBridge(engine.make), speech.make)
        self.window = self.application.window
        self.bar, self.banner = self.window.controls, self.window.banner
        qtbot.addWidget(self.window)
        qtbot.addWidget(self.application.overlay)

    def open(self):
        self.application.show()
        self.wait(lambda: self.window.status.is_ready)
        return self

    def wait(self, condition):
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=WAIT_MS)

    def rows(self):
        return [
            (view.lane, view.source, view.caption) for view in self.window.transcript.rows.views
        ]

    def texts(self, lane):
        """What a lane said and how it was translated, rows joined."""
        views = self.window.transcript.rows.views
        of_lane = [view for view in views if view.lane == lane and view.source != "earlier"]
        return tuple(
            " ".join(filter(None, texts))
            for texts in ([view.source for view in of_lane], [view.caption for view in of_lane])
        )

    def wait_for_sentence(self):
        self.wait(lambda: self.texts("me") == (SAID, SAID.upper()))

    def press(self, source):
        source.button.click()

    def hear(self):
        """Switch the microphone on, and wait until what is said is translated."""
        self.press(self.bar.microphone)
        self.wait_for_sentence()
        return self

    def be_asked(self):
        """Switch the microphone on, and wait for what the banner says to that."""
        self.press(self.bar.microphone)
        self.wait(self.banner.isVisible)
        return self

    @property
    def run(self):
        return self.speech.runs[-1]
