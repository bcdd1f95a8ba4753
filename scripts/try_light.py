"""See that an environment without torch translates, scores, checks and opens its window.

``scripts/try-light`` makes the environment. Every command runs in an empty home and without a
network; the answers are those that people would see.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

_WINDOW = """
import sys
from app.session.engine_bridge import EngineBridge
from engine.commands import SetWords
from engine.events import CaptionChanged, Failed
from engine.hub.bundled import bundled_models
from engine.settings import ModelSettings, TranslationSettings
from engine.words import untimed
from PySide6.QtCore import QCoreApplication, QTimer
qt = QCoreApplication([])
def take(event):
    if isinstance(event, (CaptionChanged, Failed)):
        print(event)
        bridge.stop()
        qt.exit(isinstance(event, Failed))
import app.controllers.application
bridge = EngineBridge()
bridge.event_came.connect(take)
bridge.start(ModelSettings(directory=bundled_models()[0]), TranslationSettings())
bridge.send(SetWords(untimed(("Good", "morning", "everyone."))))
QTimer.singleShot(60_000, lambda: qt.exit(2))
sys.exit(qt.exec())
"""


def main() -> None:
    """Try the commands; the first that fails ends the script."""
    place = Path(sys.argv[1])
    python = place / "bin" / "python"
    packages = [path.name for path in place.glob("lib/python*/site-packages/*")]
    heavy = [name for name in ("torch", "transformers") if name in packages]
    if heavy:
        sys.exit(f"try-light: {heavy} was installed, and nothing of it was expected")
    with tempfile.TemporaryDirectory() as home:
        text = Path(home, "text.en")
        text.write_text("Good morning, everyone.\nWhere is the station?\n", encoding="utf-8")
        surtitle = [str(place / "bin" / "surtitle")]
        for command in (
            [*surtitle, "translate", str(text)],
            [*surtitle, "score", str(text), str(text)],
            [*surtitle, "check"],
            [*surtitle, "check", "--speed"],
            [str(python), "-P", "-c", _WINDOW],
        ):
            environment = {"HOME": home, "SURTITLE_HOME": home, "PATH": "/usr/bin:/bin",
                           "HF_HUB_OFFLINE": "1", "QT_QPA_PLATFORM": "offscreen",
                           "LANG": "C.UTF-8"}  # fmt: skip
            done = subprocess.run(
                command, cwd=home, env=environment, capture_output=True, text=True, check=False
            )
            name = " ".join(command[1:3]) if command[0] in surtitle else "window"
            sys.stdout.write(f"--- {name}\n{done.stdout}{done.stderr}")
            if done.returncode != 0:
                sys.exit(f"try-light: {name} ended with {done.returncode}, and 0 was expected")
    n_bytes = sum(path.lstat().st_size for path in place.rglob("*") if path.is_file())
    sys.stdout.write(f"{place.name} takes {n_bytes / 1e6:.0f} MB\n")


if __name__ == "__main__":
    main()
