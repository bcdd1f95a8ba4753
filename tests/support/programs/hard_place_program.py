"""The program on a fake engine, in a place where something is missing; prints what a person saw.

python tests/support/programs/hard_place_program.py HOME N_NOTICES

They wait for as many notices before they leave. Where HF_ENDPOINT is set, a speech model is
fetched from there all the while.
"""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

if not os.environ.get("QT_QPA_PLATFORM", "").startswith("offscreen"):
    os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QTimer

sys.path.insert(0, str(Path(__file__).parents[3]))

from app.controllers import startup
from app.controllers.application import Application
from app.controllers.listening_controller import FETCH
from app.main_window.banner import Banner
from app.session.engine_bridge import EngineBridge
from engine.hub import catalogue
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.first_five_minutes import noted, walk
from tests.support.app.home import settings_in


class Visit:
    """A person in their first five minutes; what they saw."""

    def __init__(self, home, n_notices):
        self.home = home
        self.n_notices = n_notices
        self.notices = noted()
        self.seen = {}

    def make_application(self, settings, _bridge):
        """What the program makes, but for the engine and the guide of the first start."""
        bridge = EngineBridge(FakeEngine().make)
        catalogue.bundled_speech_model = lambda: None  # one has to be fetched
        self.application = Application(replace(settings, first_run=False), bridge)
        QTimer.singleShot(0, self.act)
        return self.application

    def act(self):
        """Be the person."""
        if "HF_ENDPOINT" in os.environ:
            self.note_failed_fetches()
            QTimer.singleShot(0, self.application.listening.fetch)
        self.seen = walk(
            self.application,
            self.home,
            may_leave=lambda: len(self.notices) >= self.n_notices,
        )

    def note_failed_fetches(self):
        """Note what the banner says with the button *Try again*, too."""
        show_offer = Banner.show_offer

        def note(banner, message, topic="", *offers, **options):
            if topic == FETCH:
                self.notices.append(message)
            show_offer(banner, message, topic, *offers, **options)

        Banner.show_offer = note


def main():
    home, n_notices = sys.argv[1:]
    visit = Visit(Path(home), int(n_notices))
    startup.Application = visit.make_application
    settings = settings_in(visit.home, log_folder=visit.home / "logs", model=visit.home)
    exit_code = startup.run(settings)
    sys.stdout.write(json.dumps({**visit.seen, "notices": visit.notices}) + "\n")
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
