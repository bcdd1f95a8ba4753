"""Fuzz by hand, for longer than ``make test`` does: ``python -m tests.fuzz --seconds 3600``."""

import argparse
import sys

from tests.fuzz.run import AREAS, fuzz

parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
parser.add_argument("areas", nargs="*", metavar="AREA", help=f"of {', '.join(AREAS)} (all)")
parser.add_argument("--seconds", type=float, default=60, help="in all (60)")
parser.add_argument("--seed", type=int, default=0, help="of all cases (0)")
parser.add_argument("--case", type=int, help="run one case alone, as a failure names it")
arguments = parser.parse_args()
areas = arguments.areas or list(AREAS)
if set(areas) - set(AREAS):
    parser.error(f"there are the areas {', '.join(AREAS)}")
first, end = (0, 1 << 60) if arguments.case is None else (arguments.case, arguments.case + 1)
shares = {area: arguments.seconds * AREAS[area][1] for area in areas}
whole = sum(AREAS[area][1] for area in areas)
plan = {area: (first, end, share / whole) for area, share in shares.items()}


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


reports = fuzz(plan, arguments.seed, tell=say)
for area, report in reports.items():
    for number, failure in report.failures.items():
        say(f"\n{area} --seed {arguments.seed} --case {number}\n{failure}")
sys.exit(any(report.failures for report in reports.values()))
