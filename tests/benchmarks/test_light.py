import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.light.__main__ import Aim, report, run

ROOT = Path(__file__).parents[2]
RESULTS = {"decode": {"torch": 8.0, "ONNX": 2.0}}


def test_a_run_goes_on_after_the_last_part_that_ended(tmp_path):
    asked = []

    def part(name, *, fails=False):
        def measure():
            asked.append(name)
            if fails:
                raise RuntimeError
            return {name: {"torch": 2.0, "ONNX": 1.0}}

        return measure

    with pytest.raises(RuntimeError):
        run({"one": part("one"), "two": part("two", fails=True)}, tmp_path)
    found = run({"one": part("one"), "two": part("two")}, tmp_path)
    assert asked == ["one", "two", "two"]
    assert list(found) == ["one", "two"]


@pytest.mark.parametrize(
    ("aim", "verdict"),
    [
        (Aim("decode", 0.3, ratio=True), "| 0.25 | yes |"),
        (Aim("decode", 0.2, ratio=True), "| 0.25 | no |"),
        (Aim("decode", 2), "| 2.00 | yes |"),
        (Aim("decode", 1.9), "| 2.00 | no |"),
        (Aim("decode", 2.1, least=True), "| 2.00 | no |"),
        (Aim("decode", 2, least=True), "| 2.00 | yes |"),
    ],
)
def test_an_aim_is_met_or_not(aim, verdict):
    assert aim.row(RESULTS).endswith(verdict)


def test_an_aim_that_was_not_measured_is_left_out():
    assert Aim("word", 3).row(RESULTS) is None
    assert "| decode | 8.00 | 2.00 | 0.25 |" in report(RESULTS)


def test_what_runs_beside_the_program_does_not_bring_torch_along():
    names = "benchmarks.window, benchmarks.start_up, benchmarks.light.program"
    look = f"import sys, {names}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", look], cwd=ROOT, check=True)
