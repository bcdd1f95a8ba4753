"""Run the cases of areas in a process that a guard holds, and tell what went wrong.

A case is known by seed, area and number: the same three give the same case. A process that a case
brings down is started anew, behind that case.
"""

import random
import shutil
import signal
import time
import traceback
from dataclasses import dataclass, field
from importlib import import_module

from tests.fuzz.nursery import Nursery

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


def fuzz(plan, seed=0, tell=lambda _line: None, nursery=None):
    """Run areas one behind the other.

    Args:
        plan: by the area's name: the number of its first case, of the one behind its last, and
            seconds behind which no further one is begun.
        seed: of all cases.
        tell: gets a line for each area.
        nursery: runs them; without one, a new one does.

    Returns:
        a report for each area.
    """
    if nursery is None:
        with Nursery(plan) as new:
            return fuzz(plan, seed, tell, new)
    reports = {}
    for area, (first, end, seconds) in plan.items():
        report, number = Report(), first
        while number < end and report.seconds < seconds and len(report.failures) < _MOST_FAILURES:
            left = seconds - report.seconds
            number = _run_process(nursery, area, seed, range(number, end), left, report)
        reports[area] = report
        tell(
            f"{area}: {report.n_cases} cases, {len(report.failures)} failed, "
            f"{report.seconds:.1f} s, {report.peak_bytes / 1e6:.0f} MB"
        )
    return reports


def _run_process(nursery, area, seed, numbers, seconds, report):
    """Run cases in a process until it ends; return the number of the next that is to be run."""
    told = nursery.reports(area, seed, (numbers.start, numbers.stop), seconds)
    number = _read_reports(told, report, numbers.stop - 1)
    if not nursery.status:
        return numbers.stop
    death = _DEATHS.get(-nursery.status, f"it ended with {nursery.status}")
    report.failures[number] = f"{death}\n{nursery.words}"
    return number + 1


def _read_reports(reports, report, number):
    """Take what a process tells until it ends; return the number of the case it was at last."""
    started = None
    for told in reports:
        started = started or time.monotonic()
        report.peak_bytes = max(report.peak_bytes, told["peak_bytes"])
        if "failure" in told:
            report.failures[number] = told["failure"]
        elif "case" in told:
            number = told["case"]
            report.n_cases += 1
    report.seconds += time.monotonic() - (started or time.monotonic())
    return number


def run_cases(home, tell, area, seed, numbers, seconds):
    """Run cases in this process.

    Args:
        home: a folder for everything.
        tell: gets what is reported.
        area: its name; ``tests.fuzz.AREA`` has ``prepared(folder)``, which gives ``run(rng, folder,
            allow)``: a case with files in a folder of its own, which says first where it may write.
        seed: of the cases.
        numbers: of the first case, and of the one behind the last.
        seconds: behind which no further case is begun.
    """
    from tests.fuzz.guard import Guard, limit_memory, peak_memory  # noqa: PLC0415  not on Windows

    with import_module(f"tests.fuzz.{area}").prepared(home / "made") as run:
        guard, n_failures = Guard(), 0
        limit_memory()
        until = time.monotonic() + seconds
        for number in range(*numbers):
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
