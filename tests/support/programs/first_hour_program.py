"""A newcomer at the whole program in an empty home; prints what was found, one JSON line a step.

python tests/support/programs/first_hour_program.py hear MICROPHONE SUBTITLES
python tests/support/programs/first_hour_program.py recover

The program is started by its own entry point; the walk clicks what can be seen in its windows. The
sound goes through the microphone of ``scripts/with-sound``, the voice detector, the Whisper for
tests and the bundled model; the words come from a recogniser that knows them, since what the small
Whisper makes of a sound depends on how the machine is loaded. ``hear`` never ends: it is killed.
"""

import json
import os
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

sys.path.insert(0, str(Path(__file__).parents[3]))

from app.__main__ import main
from app.controllers import startup
from app.session import recognition
from tests.support.spoken import TINY, Known, apart, keys, raw

ROOT = Path(__file__).parents[3]
LIMIT_S = 150  # for one condition: other programs may keep the machine busy


def tell(step, **found):
    sys.stdout.write(json.dumps({"step": step, **found}) + "\n")
    sys.stdout.flush()


class Walk:
    """Clicks and waits; counts the clicks."""

    def __init__(self, application):
        self.application = application
        self.window = application.window
        self.rows = self.window.transcript.rows
        self.n_clicks = 0

    def wait(self, condition):
        end_s = time.monotonic() + LIMIT_S
        while not (found := condition()):
            if time.monotonic() > end_s:
                msg = f"waited {LIMIT_S} s in vain; told: {self.status}; shown: {self.shown()}"
                raise TimeoutError(msg)
            QTest.qWait(20)
        return found

    @property
    def status(self):
        return self.window.status.state.text()

    def click(self, button):
        """Click a button that can be seen and clicked."""
        self.wait(lambda: button.isVisible() and button.isEnabled())
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        self.n_clicks += 1

    def press(self, key):
        QTest.keyClick(self.window.typed_line, key, Qt.KeyboardModifier.ControlModifier)

    def shown(self):
        """Return the rows of the transcript: speaker, source, caption, bookmark."""
        return [(view.lane, view.source, view.caption, view.marked) for view in self.rows.views]

    def heard(self):
        return keys(" ".join(view.source for view in self.rows.views).split())

    def kept(self):
        """Return the sources and captions that the disk has, once it has all of them."""
        keeper = self.application.history.writer
        written = threading.Event()
        keeper._background.run(written.set)
        written.wait()
        return [(cue.source, cue.text) for cue in keeper.cues]


class Microphone:
    """Says a sentence into the microphone, in a process that ends with this one."""

    def __init__(self, pipe, known):
        self._known = known
        self._folder = Path(pipe).parent
        feeder = ROOT / "tests/support/feed_microphone.py"
        self._feeder = subprocess.Popen(
            [sys.executable, feeder, pipe], stdin=subprocess.PIPE, text=True, bufsize=1
        )
        self._feeder.stdin.write("zeros\n")

    def say(self):
        """Say the sentence; return its words."""
        one = apart(4, 1)
        self._known.spoken.append(one)
        path = self._folder / "said.raw"
        path.write_bytes(raw(one.samples))
        self._feeder.stdin.write(f"play {path}\n")
        return keys(one.text.split())


def hear(walk, microphone, subtitles):
    """Set the program up, see the first caption, bookmark and export it, and wait."""
    tell("started", pid=os.getpid())
    dialog = walk.application.setup.dialog
    walk.wait(dialog.isVisible)
    tell("guide", overlay=walk.application.overlay.isVisible())
    walk.click(dialog.welcome.uses["voice"])
    walk.click(dialog.next)
    walk.click(dialog.speech.row.folder)
    walk.wait(lambda: dialog.speech.is_here and dialog.speech.recognizer == str(TINY))
    walk.click(dialog.next)
    trial = dialog.trial
    hint = trial.caption.text()
    walk.click(trial.switch)
    walk.wait(lambda: trial.state.text() == "Listening. Say a sentence.")
    words = microphone.say()
    walk.wait(lambda: keys(trial.source.text().split()) == words)
    walk.wait(lambda: trial.caption.text() not in (hint, ""))
    tell("caption", clicks=walk.n_clicks, in_window=walk.heard() == words)
    walk.click(dialog.back)  # a page that is left records nothing
    walk.wait(lambda: not walk.application.listening.service.is_listening)
    walk.click(dialog.skip)
    walk.wait(lambda: not dialog.isVisible())
    read(walk)
    export(walk, subtitles)
    tell("to be killed", kept=walk.kept(), rows=walk.shown())
    walk.wait(lambda: False)


def read(walk):
    """Read the overlay, and set a bookmark."""
    walk.wait(lambda: walk.rows.views[-1].ended)
    newest = walk.rows.views[-1].caption.split()[0]
    overlay = walk.application.overlay
    walk.wait(lambda: newest in overlay.accessibleDescription())
    walk.window.activateWindow()  # the guide was it until now
    walk.wait(walk.window.isActiveWindow)
    walk.press(Qt.Key.Key_M)
    walk.wait(lambda: walk.rows.views[-1].marked)
    tell("read", overlay=overlay.isVisible(), rows=walk.shown())


def export(walk, subtitles):
    """Write subtitles with the export dialog."""
    walk.press(Qt.Key.Key_E)
    dialog = walk.application.history.export_dialog
    walk.click(dialog.save)
    walk.wait(subtitles.exists)
    tell("exported", message=dialog.message.text().replace("\u200b", ""), kept=walk.kept())
    dialog.close()


def recover(walk):
    """Take the offer of the next start, and read what was lost."""
    offer = walk.window.banner.offer
    walk.wait(offer.isVisible)
    guide = walk.application.setup.dialog
    tell("offered", sentence=walk.window.banner.sentence.text(), guide=guide is not None)
    walk.click(offer)
    earlier = walk.application.history.session_window
    walk.wait(earlier.isVisible)
    views = earlier.transcript.rows.views
    rows = [(view.lane, view.source, view.caption, view.marked) for view in views]
    tell("recovered", rows=rows, now=walk.shown())
    walk.window.close()


def start(then):
    """Start the program as a person does, and walk once its windows are shown."""
    show = startup.Application.show

    def show_and_walk(application):
        show(application)
        QTimer.singleShot(0, lambda: then(Walk(application)))

    def give_up(_kind, error, trace):  # Qt would go on after it was printed
        lines = [one.line for one in traceback.extract_tb(trace)]
        tell("failed", error=repr(error), lines=lines)
        os._exit(1)

    sys.excepthook = give_up
    startup.Application.show = show_and_walk
    return main([])


def run(action, *arguments):
    if action == "recover":
        return start(recover)
    pipe, subtitles = arguments
    known, load = Known(), recognition.load_speech_model

    def make_recognizer(*settings):
        known.beside = load(*settings)
        return known

    recognition.load_speech_model = make_recognizer
    # The dialogs of the system are not ours: they return what was chosen in them.
    QFileDialog.getExistingDirectory = staticmethod(lambda *_: str(TINY))
    QFileDialog.getSaveFileName = staticmethod(lambda *_: (subtitles, ""))
    microphone = Microphone(pipe, known)
    return start(lambda walk: hear(walk, microphone, Path(subtitles)))


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
