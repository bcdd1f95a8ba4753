"""A window on a fake session that types on and on, to be killed; tells of each caption.

python tests/support/programs/killed_program.py HOME
"""

import itertools
import os
import sys
import threading
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

sys.path.insert(0, str(Path(__file__).parents[3]))

from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.home import settings_in


def main():
    qt = QApplication(["surtitle"])
    home = Path(sys.argv[1])
    settings = settings_in(home, model=home)
    application = Application(settings, EngineBridge(FakeEngine().make))
    application.show()
    line, keeper = application.window.typed_line, application.history.writer
    for number in itertools.count():
        QTest.keyClicks(line, f"Sentence {number}.")
        QTest.keyClick(line, Qt.Key.Key_Return)
        while len(keeper.cues) <= number:
            qt.processEvents()
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        # The next sentence is not said before the disk has this one, as it is with anybody who
        # speaks: else the test would measure the disk.
        written = threading.Event()
        keeper._background.run(written.set)
        written.wait()


if __name__ == "__main__":
    main()
