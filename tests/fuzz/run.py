"""Run the cases of areas in a process that a guard holds, and tell what went wrong.

A case is known by seed, area and number: the same three give the same case. A process that a case
brings down is started anew, behind that case.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

AREAS = {
    "glossaries": (200, 3),
    "places": (200, 3),
    "settings": (250, 5),
    "journals": (150, 5),
    "hub": (200, 8),
    "adapters": (120, 10),
    "models": (30, 14),
    "conversions": (30, 8),
    "speech": (25, 6),
    "direct": (40, 6),
    "terminal": (40, 12),
    "served": (40, 8),
}
"""Cases of each area in ``make test``, and the seconds behind which no further one is begun."""

_MOST_FAILURES = 5  # of an area; then it is given up
_ROOT = Path(__file__).parents[2]
_BAIT = "what no case may touch"
_DEATHS = {
    signal.SIGPROF: "it computed too long",
    signal.SIGALRM: "it waited too long",
    signal.SIGKILL: "it was killed, as the system does where memory runs out",
    signal.SIGSEGV: "it crashed",
    signal.SIGABRT: "it crashed",
}


@dataclass
class Report:
    """What became of an area.

    Attributes:
        n_cases: that were run.
        failures: by the number of their case.
        peak_bytes: memory of the process, most at once.
        seconds: that the cases took.
    """

    n_cases: int = 0
    failures: dict = field(default_factory=dict)
    peak_bytes: int = 0
    seconds: float = 0.0


def fuzz(plan, seed=0, tell=lambda _line: None):
    """Run areas one behind the other.

    Args:
        plan: by the area's name: the number of its first case, of the one behind its last, and
            seconds behind which no further one is begun.
        seed: of all cases.
        tell: gets a line for each area.

    Returns:
        a report for each area.
    """
    reports = {}
    for area, (first, end, seconds) in plan.items():
        report, number = Report(), first
        while number < end and report.seconds < seconds and len(report.failures) < _MOST_FAILURES:
            left = seconds - report.seconds
            number = _run_process(area, seed, range(number, end), left, report)
        reports[area] = report
        tell(
            f"{area}: {report.n_cases} cases, {len(report.failures)} failed, "
            f"{report.seconds:.1f} s, {report.peak_bytes / 1e6:.0f} MB"
        )
    return reports


def _run_process(area, seed, numbers, seconds, report):
    """Run cases in a process until it ends; return the number of the next that is to be run."""
    with (
        tempfile.TemporaryDirectory(prefix="surtitle-fuzz-") as home,
        tempfile.TemporaryFile() as said,
    ):
        cases = map(str, (seed, numbers.start, numbers.stop, seconds))
        words = [sys.executable, "-m", "tests.fuzz.run", area, home, *cases]
        process = subprocess.Popen(
            words, cwd=_ROOT, env=_surroundings(Path(home)), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=said,
        )  # fmt: skip
        with process:
            process.stdin.write(b"yes\n" * 100)  # what a library must never read
            process.stdin.close()
            number = _read_reports(process.stdout, report, numbers.stop - 1)
        if not process.returncode:
            return numbers.stop
        death = _DEATHS.get(-process.returncode, f"it ended with {process.returncode}")
        said.seek(0)
        words = said.read().decode(errors="replace")[-3000:]
        report.failures[number] = f"{death}\n{words}"
    return number + 1


def _read_reports(lines, report, number):
    """Take what a process tells until it ends; return the number of the case it was at last."""
    started = None
    for line in lines:
        told = json.loads(line)
        started = started or time.monotonic()
        report.peak_bytes = max(report.peak_bytes, told["peak_bytes"])
        if "failure" in told:
            report.failures[number] = told["failure"]
        elif "case" in told:
            number = told["case"]
            report.n_cases += 1
    report.seconds += time.monotonic() - (started or time.monotonic())
    return number


def _surroundings(home):
    """Let everything that a library keeps for a person lie in a folder of ours."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return kept | {
        "HOME": str(home / "home"), "HF_HOME": str(home / "home" / "hf"),
        "TMPDIR": str(home / "tmp"), "QT_QPA_PLATFORM": "offscreen",
        "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip


def _run_cases(area, home, seed, numbers, seconds, tell):
    """Run cases here.

    Args:
        area: its name; ``tests.fuzz.AREA`` has ``prepared(folder)``, which gives ``run(rng, folder,
            allow)``: a case with files in a folder of its own, which says first where it may write.
        home: a folder for everything.
        seed: of the cases.
        numbers: of the cases.
        seconds: behind which no further case is begun.
        tell: gets what is reported.
    """
    from tests.fuzz.guard import Guard, limit_memory, peak_memory  # noqa: PLC0415  not on Windows

    for name in ("home", "tmp", "made"):
        (home / name).mkdir()
    (home / "home" / ".cache" / "surtitle").mkdir(parents=True)  # as a start makes it
    with import_module(f"tests.fuzz.{area}").prepared(home / "made") as run:
        guard, n_failures = Guard(), 0
        limit_memory()
        until = time.monotonic() + seconds
        for number in numbers:
            if time.monotonic() > until or n_failures == _MOST_FAILURES:
                break
            tell({"case": number, "peak_bytes": peak_memory()})
            failure = _failure_of(run, random.Random(f"{seed} {area} {number}"), home, guard)
            if failure:
                tell({"failure": failure, "peak_bytes": peak_memory()})
                n_failures += 1
        tell({"peak_bytes": peak_memory()})


def _failure_of(run, rng, home, guard):
    """Run a case in a fresh folder; return what went wrong, or nothing."""
    folder, bait = home / "case", home / "home" / "bait"
    folder.mkdir()
    bait.write_text(_BAIT)
    failure = ""
    try:
        with guard.watching(folder) as allow:
            run(rng, folder, allow)
    except BaseException:  # noqa: BLE001  whatever it is, it is what is looked for
        failure = traceback.format_exc()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not bait.exists() or bait.read_text() != _BAIT:
        failure += "it changed a file outside its folder\n"
    return failure + "".join(guard.problems)


def main(area, home, seed, first, end, seconds):
    """Run cases in a process of its own; the reports are lines of JSON on standard output."""
    reports = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is none

    def tell(report):
        reports.write(json.dumps(report) + "\n")

    numbers = range(int(first), int(end))
    _run_cases(area, Path(home), int(seed), numbers, float(seconds), tell)


if __name__ == "__main__":
    main(*sys.argv[1:])
