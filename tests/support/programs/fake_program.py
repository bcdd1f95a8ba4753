"""The real window on a fake session, to look at it without a model.

scripts/screenshot FOLDER --program ".venv/bin/python tests/support/programs/fake_program.py"
"""

import sys
import tempfile
from pathlib import Path

from PySide6.QtWidgets import QApplication

sys.path.insert(0, str(Path(__file__).parents[3]))

from app.config.event_loop import Interrupt
from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.home import settings_in

_ENGLISH = "Good morning, everyone. Today we want to talk about the weather and our new garden."
_GERMAN = (
    "Guten Morgen, zusammen. Heute wollen wir ausführlich über das Wetter sprechen "
    "und unseren neuen Garten."
)
_DICTIONARY = dict(zip(_ENGLISH.split(), _GERMAN.split(), strict=True))


def main() -> int:
    qt = QApplication(sys.argv)
    folder = Path(tempfile.mkdtemp())
    settings = settings_in(folder, model=folder)
    engine = FakeEngine(translate=lambda word: _DICTIONARY.get(word, word.title()))
    application = Application(settings, EngineBridge(engine.make))
    interrupt = Interrupt()
    interrupt.came.connect(application.window.close)
    application.finished.connect(qt.quit)
    application.show()
    return qt.exec()


if __name__ == "__main__":
    sys.exit(main())
