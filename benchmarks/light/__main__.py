"""All that the light program is measured by, torch and ONNX Runtime side by side in one run.

Parts, one after the other, each in processes of their own:

* passes: ``benchmarks.light.steps``, with one thread and with two.
* caption: ``surtitle translate`` from its start to its first caption, and its memory.
* hour: its memory after the words of an hour, fed as fast as they are translated.
* start: ``benchmarks.start_up``, the window from its start to the first piece of a caption.
* gaps: ``benchmarks.window``, the event loop while words come, with nothing and with two busy
  processes beside it.
* installed: bytes of the packages that the program requires without torch and with it.

A part whose results are in the folder is not run again, so a run that was ended goes on; the window
is on a screen of its own (``scripts/with-display``).
"""

import argparse
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.light.program import (
    WORDS_OF_AN_HOUR,
    first_caption,
    hour,
    installed_bytes,
    without_graph,
)
from engine.hub.catalogue import bundled_models

Results = dict[str, dict[str, float]]
"""By name and system: ``torch``, ``ONNX``, ``int8``."""

DISPLAY = str(Path(__file__).parents[2] / "scripts" / "with-display")
GAPS = {
    "gap ms: p50": "gap p50 ms",
    "gap ms: p99": "gap p99 ms",
    "gap ms: max": "gap max ms",
    "last word to paint ms: p95": "last word to paint p95 ms",
    "MiB after a third": "window MiB",
}
_MB = 1e6 / (1 << 20)  # MiB


@dataclass(frozen=True, slots=True)
class Aim:
    """What a result should be.

    Attributes:
        name: of the result.
        limit: of ONNX Runtime's value, or of its ratio to torch's.
        ratio: it is of the ratio.
        least: it must be reached, and not kept.
    """

    name: str
    limit: float
    ratio: bool = False
    least: bool = False

    def row(self, results: Results) -> str | None:
        """Draw a row of a table; None if the result is not there."""
        if self.name not in results:
            return None
        found = results[self.name]
        value = found["ONNX"] / found["torch"] if self.ratio else found["ONNX"]
        met = value >= self.limit if self.least else value <= self.limit
        what = f"{self.name}{', to torch' if self.ratio else ''}"
        sign = "at least" if self.least else "at most"
        return f"| {what} | {sign} {self.limit:.2f} | {value:.2f} | {'yes' if met else 'no'} |"


AIMS = (
    Aim("decode, threads: 1", 0.3, ratio=True),
    Aim("bound / decode, threads: 1", 0.25, least=True),
    Aim("word p95, threads: 1", 15),
    Aim("first caption s", 0.4, ratio=True),
    Aim("window: caption s", 0.4, ratio=True),
    Aim("MiB at most, one line", 220 * _MB),
    Aim(f"MiB at most, {WORDS_OF_AN_HOUR} words", 220 * _MB),
    Aim("gap p99 ms, 2 busy", 33),
)


class Parts:
    """The parts of a run by name.

    Attributes:
        folders: of the model for each system.
    """

    def __init__(self, folders: Mapping[str, Path], arguments: argparse.Namespace) -> None:
        self.folders, self._arguments = folders, arguments
        self.all: dict[str, Callable[[], Results]] = {
            f"passes-{n_threads}": lambda n_threads=n_threads: self._passes(n_threads)
            for n_threads in arguments.threads
        }
        self.all |= {
            "caption": lambda: self._by_system(lambda it: first_caption(it, arguments.runs)),
            "hour": lambda: self._by_system(lambda it: hour(it, arguments.words)),
            "start": lambda: self._by_system(self._start),
        }
        self.all |= {
            f"gaps-{n_busy}-busy": lambda n_busy=n_busy: self._by_system(
                lambda it: self._gaps(it, n_busy)
            )
            for n_busy in (0, 2)
        }
        self.all["installed"] = lambda: {
            "installed MB": {
                "torch": installed_bytes("torch") / 1e6,
                "ONNX": installed_bytes("") / 1e6,
            }
        }

    def _by_system(self, measure: Callable[[Path], Mapping[str, float]]) -> Results:
        found = {system: measure(folder) for system, folder in self.folders.items()}
        names = next(iter(found.values()))
        return {name: {system: one[name] for system, one in found.items()} for name in names}

    def _passes(self, n_threads: int) -> Results:
        options = ["--model", self.folders["ONNX"], "--threads", n_threads]
        options += ["--repeats", self._arguments.repeats, "--sentences", self._arguments.sentences]
        if self._arguments.cpu_time and n_threads == 1:
            options.append("--cpu-time")
        return _measured("benchmarks.light.steps", options)

    def _start(self, folder: Path) -> dict[str, float]:
        options = ["--model", folder, "--runs", self._arguments.runs]
        times = _measured("benchmarks.start_up", options, before=[DISPLAY])
        return {
            f"window: {mark} s": statistics.median(one[mark] for one in times) for mark in times[0]
        }

    def _gaps(self, folder: Path, n_busy: int) -> dict[str, float]:
        options = ["--model", folder, "--minutes", self._arguments.minutes]
        options += ["--word-s", 0.4, "--idle-s", 5]
        with _busy(n_busy):
            found = _measured("benchmarks.window", options, before=[DISPLAY])
        return {f"{name}, {n_busy} busy": found[key] for key, name in GAPS.items()}


def _measured(module: str, options: list[object], before: list[str] | None = None) -> Results:
    """Run another benchmark; return what it writes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.json")
        command = [*(before or []), sys.executable, "-m", module, *map(str, options)]
        subprocess.run([*command, "--out", str(out)], check=True, stdout=sys.stderr)
        return json.loads(out.read_text(encoding="utf-8"))


@contextlib.contextmanager
def _busy(n_processes: int) -> Iterator[None]:
    """Keep so many processes busy beside the block."""
    loop = [sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(loop) for _ in range(n_processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def run(parts: Mapping[str, Callable[[], Results]], out: Path) -> Results:
    """Run the parts that the folder lacks; return the results of all."""
    results: Results = {}
    for name, measure in parts.items():
        file = out / f"{name}.json"
        if not file.exists():
            print(f"{time.strftime('%H:%M:%S')} {name}", file=sys.stderr, flush=True)
            load, start_s = os.getloadavg()[0], time.monotonic()
            found = measure()
            part = {"date": time.strftime("%Y-%m-%d"), "load before": load, "results": found}
            part["seconds"] = round(time.monotonic() - start_s)
            file.write_text(json.dumps(part, indent=2) + "\n", encoding="utf-8")
        results |= json.loads(file.read_text(encoding="utf-8"))["results"]
    return results


def report(results: Results) -> str:
    """Draw the tables of results and aims as Markdown."""
    from benchmarks.light.steps import table  # noqa: PLC0415  torch would lie in memory beside what is measured

    rows = [row for row in (aim.row(results) for aim in AIMS) if row is not None]
    head = f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, {os.cpu_count()} cores\n\n"
    aims = "| aim | | reached | met |\n|---|---|---|---|\n"
    return f"{head}{table(results)}\n\n{aims}" + "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure torch and ONNX Runtime side by side.")
    parser.add_argument("--model", type=Path, metavar="DIR", help="with a graph (the bundled one)")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="of the results")
    parser.add_argument("--only", nargs="+", metavar="PART", help="passes-1, caption, hour ...")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--repeats", type=int, default=200, metavar="N", help="(%(default)s)")
    parser.add_argument("--sentences", type=int, default=60, metavar="N", help="(%(default)s)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="starts (%(default)s)")
    parser.add_argument("--words", type=int, default=WORDS_OF_AN_HOUR, help="(%(default)s)")
    parser.add_argument("--minutes", type=float, default=2, help="of each window (%(default)s)")
    parser.add_argument("--cpu-time", action="store_true", help="of passes with one thread")
    arguments = parser.parse_args()
    folder = (arguments.model or bundled_models()[0]).resolve()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        folders = {"torch": without_graph(folder, Path(home)), "ONNX": folder}
        parts = Parts(folders, arguments).all
        if arguments.only and (unknown := {*arguments.only} - {*parts}):
            parser.error(f"no part is called {', '.join(unknown)}: there are {', '.join(parts)}")
        wanted = {name: part for name, part in parts.items() if name in (arguments.only or parts)}
        results = run(wanted, arguments.out)
    text = report(results)
    (arguments.out / "report.md").write_text(text, encoding="utf-8")
    (arguments.out / "report.json").write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    print(text)


if __name__ == "__main__":
    main()
