"""The window of a desktop that has neither torch nor any model: a server translates.

python tests/support/programs/server_desktop_program.py SENTENCE; SURTITLE_HOME has the settings.

Prints one JSON object: captions, what was shown, and which libraries were imported.
"""

import json
import sys
from pathlib import Path

from PySide6.QtCore import QTimer

sys.path.insert(0, str(Path(__file__).parents[3]))

from app import start
from app.controllers import startup
from engine.hub import bundled

MISSING = ("torch", "transformers", "ctranslate2", "onnxruntime")


class NotInstalled:
    """Makes libraries look as if they were not installed."""

    def find_spec(self, name, _path=None, _target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(name=name)


sys.meta_path.insert(0, NotInstalled())
show = startup.Application.show
bundled.bundled_models = tuple
SENTENCE = sys.argv.pop()


def show_and_type(application):
    show(application)
    window = application.window
    window.typed_line.insert(SENTENCE)
    window.typed_line.returnPressed.emit()
    look = QTimer(window, interval=20)

    def leave_once_it_is_there():
        if application.history.writer.cues and window.status.server.text().startswith("Computed"):
            found = {
                "cues": [
                    (cue.source, cue.text, cue.language) for cue in application.history.writer.cues
                ],
                "summary": window.choices.summary,
                "imported": [name for name in MISSING if name in sys.modules],
            }
            sys.stdout.write(f"{json.dumps(found)}\n")
            look.stop()
            window.close()

    look.timeout.connect(leave_once_it_is_there)
    look.start()


startup.Application.show = show_and_type
sys.exit(start.main())
