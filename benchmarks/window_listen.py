"""Speak to the real window for a while: how late is each word, stage by stage, to its paint?

The window stands on the display it is given and hears the microphone of ``scripts/with-sound``,
which says sentences of espeak-ng at the pace of real time. The recogniser is the Whisper for tests,
unless ``--asr`` names another, and the translator the bundled model. Told are, besides the stages
(spoken, certain, translated, painted; ``engine.metrics.word_lags``), words that came out wrong,
sound that
was lost, the gaps between turns of the window's event loop while it happened (a timer wants one
every 4 ms), and the share of that time in which the window's thread computed.
"""

import argparse
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication

from app.config.launch_settings import LaunchSettings
from app.config.preferences import ListeningPreferences, Preferences
from app.config.preferences_file import PreferencesFile
from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.events import Event, Ready
from engine.metrics.word_lags import HEARD_STAGES
from tests.support.sounds import n_edits
from tests.support.spoken import TINY, keys, raw
from tests.tiny_whisper.synthetic_speech import sentence, speech

COLUMNS = (
    "date", "machine", "load", "words", "wrong %",
    *(f"{stage} s: {what}" for stage in HEARD_STAGES for what in ("p50", "p95")),
    "paint % of the way", "lost s", "window's thread busy %", "gap ms: p50", "gap ms: p99",
    "gap ms: max",
)  # fmt: skip
_TICK_MS = 4
_PAUSE_S = 1.0
_NOISE = 0.0005  # no microphone gives zeros
_BEFORE_MS, _AFTER_MS = 3000, 8000
_FEEDER = Path(__file__).parents[1] / "tests" / "support" / "feed_microphone.py"


class Listener(QObject):
    """Click on the microphone when the model is there, speak, and measure."""

    def __init__(
        self, application: Application, feeder: "subprocess.Popen[str]", said: Path
    ) -> None:
        super().__init__(application)
        self.gaps: list[float] = []
        self.heard = ""
        self._busy_s = 0.0
        self.row: list[str | float] = []
        self._application = application
        self._feeder = feeder
        self._said = said
        self._last_s: float | None = None
        self._ticks = QTimer(self)
        self._ticks.setTimerType(Qt.TimerType.PreciseTimer)
        self._ticks.setInterval(_TICK_MS)
        self._ticks.timeout.connect(self._tick)

    @Slot(object)
    def take(self, event: Event) -> None:
        """Listen when the translator is there; let somebody speak when the recogniser is, too."""
        if not isinstance(event, Ready):
            return
        self._application.window.controls.microphone.button.click()
        QTimer.singleShot(_BEFORE_MS, self._speak)

    @Slot()
    def _speak(self) -> None:
        seconds = self._said.stat().st_size / 2 / SAMPLE_RATE_HZ
        self._feeder.stdin.write(f"play {self._said}\n")
        self._ticks.start()
        self._busy_s = time.thread_time()
        QTimer.singleShot(round(1000 * seconds) + _AFTER_MS, self._end)

    @Slot()
    def _tick(self) -> None:
        now_s = time.perf_counter()
        if self._last_s is not None:
            self.gaps.append(1000 * (now_s - self._last_s))
        self._last_s = now_s

    @Slot()
    def _end(self) -> None:
        self._ticks.stop()
        busy = (time.thread_time() - self._busy_s) / (sum(self.gaps) / 1000)
        desk, window = self._application.listening.desk, self._application.window
        lags = {lag.stage: lag for lag in self._application.lag.lags.heard()}
        self.heard = " ".join(view.source for view in window.transcript.rows.views)
        self.row = [
            value for stage in HEARD_STAGES for value in (lags[stage].median_s, lags[stage].p95_s)
        ]
        self.row.append(100 * lags["shown"].median_s / lags["whole"].median_s)
        self.row += [desk.n_dropped / SAMPLE_RATE_HZ, 100 * busy]
        window.close()


def run(arguments: argparse.Namespace) -> list[str | float]:
    """Open the window, speak, and leave; give a row of results.md."""
    qt = QApplication(["surtitle"])
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        text = write_talk(home / "said.raw", arguments.sentences)
        listening = ListeningPreferences(recognizer=str(arguments.asr))
        PreferencesFile(home / "settings.toml").write(Preferences(listening=listening))
        settings = LaunchSettings(
            preferences_file=home / "settings.toml",
            places_file=home / "places.toml",
            data_folder=home,
            log_folder=home / "logs",
        )
        pipe = Path(os.environ["SOUND_PLACE"]) / "microphone"
        command = [sys.executable, str(_FEEDER), str(pipe)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, text=True, bufsize=1) as feeder:
            feeder.stdin.write("zeros\n")
            application = Application(settings, EngineBridge())
            listener = Listener(application, feeder, home / "said.raw")
            application.bridge.event_came.connect(listener.take)
            application.finished.connect(qt.quit)
            application.show()
            qt.exec()
            feeder.stdin.close()
    wrong = 100 * n_edits(keys(text.split()), keys(listener.heard.split())) / len(text.split())
    gaps = np.array(listener.gaps)
    return [
        time.strftime("%Y-%m-%d"), f"{os.cpu_count()} {platform.machine()} cores",
        os.getloadavg()[0], len(text.split()), wrong, *listener.row,
        *(float(np.percentile(gaps, share)) for share in (50, 99, 100)),
    ]  # fmt: skip


def write_talk(path: Path, n_sentences: int) -> str:
    """Write sentences with pauses between them, and a little noise; return what is said."""
    rng, noise = random.Random(0), np.random.default_rng(0)
    pieces, texts = [], []
    for _ in range(n_sentences):
        spoken = speech([sentence(rng)], rng)
        pause = np.zeros(round(_PAUSE_S * SAMPLE_RATE_HZ), np.float32)
        pieces += [spoken.samples, pause]
        texts.append(spoken.text)
    samples = np.concatenate(pieces)
    samples += noise.normal(0, _NOISE, len(samples)).astype(np.float32)
    path.write_bytes(raw(samples))
    return " ".join(texts)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Speak to the real window and watch it.")
    parser.add_argument("--asr", type=Path, default=TINY, metavar="DIR", help="(that of the tests)")
    parser.add_argument("--sentences", type=int, default=30, metavar="N", help="(%(default)s)")
    arguments = parser.parse_args(argv)
    if not os.environ.get("DISPLAY") or not os.environ.get("SOUND_PLACE"):
        sys.exit("window_listen: put scripts/with-sound scripts/with-display before the command")
    cells = [f"{one:.2f}" if isinstance(one, float) else str(one) for one in run(arguments)]
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
