"""The program by its own entry point and with the bundled model, until the first caption."""

import sys
from pathlib import Path

from PySide6.QtCore import QTimer

sys.path.insert(0, str(Path(__file__).parents[3]))

from app import start
from app.controllers import startup

show = startup.Application.show


def show_and_type(application):
    show(application)
    window = application.window
    window.typed_line.insert("Good morning. ")
    window.typed_line.returnPressed.emit()
    look = QTimer(window, interval=20)

    def leave_once_it_is_there():
        if application.history.writer.cues:
            sys.stdout.write(f"{application.history.writer.cues[0].text}\n")
            look.stop()
            window.close()

    look.timeout.connect(leave_once_it_is_there)
    look.start()


startup.Application.show = show_and_type
sys.exit(start.main())
