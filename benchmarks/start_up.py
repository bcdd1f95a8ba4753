"""Time the start of the real window: seconds from the start of the process until it is useful.

Each run is a fresh process on the display it is given, with preferences of its own. It types a
sentence the moment the window stands on the screen. Told are the seconds until

* visible: the window has been painted for the first time,
* Ready: the model is loaded and translates,
* caption: the first piece of a caption has been handed to the window and painted.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from engine.events import CaptionChanged, Event, Failed, Ready

if TYPE_CHECKING:
    from app.controllers.application import Application
    from app.session.engine_bridge import EngineBridge

MARKS = ("visible", "ready", "caption")
COLUMNS = ("date", "machine", "runs", *(f"{mark}: median s (longest)" for mark in MARKS))
TEXT = "Good morning, how are you today? "
TIMEOUT_S = 300


def run_once(model: Path | None) -> dict[str, float]:
    """Start a window in a process of its own; return the seconds to each mark."""
    command = [sys.executable, "-m", "benchmarks.start_up", "--in-this-process"]
    if model is not None:
        command += ["--model", str(model)]
    started_s = time.monotonic()  # the same clock in every process of a machine
    ended = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if ended.returncode != 0:
        sys.exit(f"start_up: the window did not start: {ended.stderr.strip()}")
    marks = json.loads(ended.stdout.splitlines()[-1])
    return {mark: marks[mark] - started_s for mark in MARKS}


class Watch:
    """Note when things happen in the window; type as soon as it stands, close it at the end."""

    def __init__(self, application: "Application", bridge: "EngineBridge") -> None:
        self.marks: dict[str, float] = {}
        self.failure: str | None = None
        self._window = application.window
        self._window.painted.connect(self._note_visible)
        bridge.event_came.connect(self._note_event)  # after the application's own connection

    def _note_visible(self) -> None:
        self.marks["visible"] = time.monotonic()
        for character in TEXT:
            self._window.typed_line.insert(character)

    def _note_event(self, event: Event) -> None:
        match event:
            case Failed():
                self.failure = str(event.message)
                self._window.close()
            case Ready():
                self.marks["ready"] = time.monotonic()
            case CaptionChanged() if event.text and "caption" not in self.marks:
                self._window.transcript.repaint()  # now, not when the queue is empty
                self.marks["caption"] = time.monotonic()
                self._window.close()
            case _:
                pass


def open_window(model: Path | None) -> dict[str, float]:
    """Open the window as ``surtitle`` does, type, and leave; return the times of the marks."""
    # Imported here and in this order, because importing is a part of what is measured.
    from app import __main__ as entry  # noqa: PLC0415

    if entry._lacks_screen():
        sys.exit("there is no screen: put scripts/with-display before the command")
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    from app.controllers.application import Application, LaunchSettings  # noqa: PLC0415
    from app.session.engine_bridge import EngineBridge  # noqa: PLC0415

    qt = QApplication(["surtitle"])
    with tempfile.TemporaryDirectory() as folder:
        bridge = EngineBridge()
        home = Path(folder)
        settings = LaunchSettings(
            preferences_file=home / "settings.toml",
            places_file=home / "places.toml",
            data_folder=home,
            log_folder=home / "logs",
            model=model,
        )
        application = Application(settings, bridge)
        watch = Watch(application, bridge)
        application.finished.connect(qt.quit)
        application.show()
        qt.exec()
    if watch.failure is not None:
        sys.exit(watch.failure)
    return watch.marks


def row(times: list[dict[str, float]]) -> str:
    """Draw a row of results.md."""
    machine = f"{os.cpu_count()} {platform.machine()} cores"
    cells = [time.strftime("%Y-%m-%d"), machine, str(len(times))]
    for mark in MARKS:
        seconds = [one[mark] for one in times]
        cells.append(f"{statistics.median(seconds):.2f} ({max(seconds):.2f})")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the start of the window.")
    parser.add_argument("--model", type=Path, metavar="DIR", help="model folder (the bundled one)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="(%(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    parser.add_argument("--in-this-process", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.in_this_process:
        print(json.dumps(open_window(arguments.model)))
        return
    times = [run_once(arguments.model) for _ in range(max(1, arguments.runs))]
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    print(row(times))
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(times, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
