"""docs/security.md names what is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
FIRST_HOUR = (ROOT / "docs" / "first_hour.md").read_text(encoding="utf-8")
GUARDS, _, BROKEN = PAGE.partition("## What broke once")
ROWS = [line for line in GUARDS.splitlines() if line.startswith("| ") and "`" in line]
FAULTS = [f"F{n}" for n in range(1, 15)] + [f"M{n}" for n in range(1, 5)]


def test_every_file_that_it_names_is_there():
    named = re.findall(r"`((?:app|engine|tests)/[\w/.]*)`", GUARDS)
    assert len(named) > 50
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_guard_has_a_file_and_a_test():
    assert len(ROWS) > 15
    for row in ROWS:
        _, _, guard, test, _ = row.split("|")
        assert re.search(r"`(app|engine)/[\w/]+\.py`|trust_remote_code", guard), row
        assert re.search(r"`tests/[\w/]+\.py`", test), row


def test_everything_that_broke_has_tests_that_are_there():
    rows = dict(re.findall(r"^\| ([FGM]\d+) \| (.*) \|$", BROKEN, re.M))
    assert [name for name in rows if not name.startswith("G")] == FAULTS
    for row in rows.values():
        named = re.findall(r"`([\w/]+\.py)`: ((?:`test_\w+`(?:, )?)+)", row)
        assert named, row
        for file, tests in named:
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
            for test in re.findall(r"test_\w+", tests):
                assert f"def {test}(" in text, (file, test)


def test_every_defect_of_the_first_hour_has_a_test_that_is_there():
    rows = dict(re.findall(r"^\| ([DE]\d+) \| (.*) \|$", FIRST_HOUR, re.M))
    assert [name for name in rows if name.startswith("D")] == [f"D{n}" for n in range(1, 31)]
    for row in rows.values():
        named = re.findall(r"`((?:[\w/]*/)?test_\w+\.py)`", row)
        assert named, row
        for name in named:
            assert list((ROOT / "tests").rglob(name.rpartition("/")[2])), name
