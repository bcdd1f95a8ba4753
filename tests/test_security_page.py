"""docs/security.md names what is there."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
FIRST_HOUR = (ROOT / "docs" / "first_hour.md").read_text(encoding="utf-8")
GUARDS, _, BROKEN = PAGE.partition("## What broke once")
GUARDS, _, LIBRARIES = GUARDS.partition("## What libraries do unasked")
ROWS = [line for line in GUARDS.splitlines() if line.startswith("| ") and "`" in line]


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


def test_everything_that_broke_last_has_tests_that_are_there_and_a_commit():
    rows = dict(re.findall(r"^\| (K\d+) \| (.*) \| [0-9a-f]{8} \|$", BROKEN, re.M))
    assert len(rows) > 14
    for row in rows.values():
        named = re.findall(r"`([\w/]+\.py)`(?:: ((?:`test_\w+`(?:, )?)+))?", row)
        assert named, row
        for file, tests in named:
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
            for test in re.findall(r"test_\w+", tests):
                assert f"def {test}(" in text, (file, test)


def test_every_finding_of_the_fourth_look_is_open_or_has_a_commit_and_names_tests_that_are_there():
    rows = re.findall(r"^\| H(\d+)(?: to H(\d+))? \| (.*) \|$", FIRST_HOUR, re.M)
    found = {n for first, last, _ in rows for n in range(int(first), int(last or first) + 1)}
    assert found == set(range(1, 27))
    for _, _, row in rows:
        assert re.search(r"\| [0-9a-f]{8}\b", row) or "**open**" in row, row
        for name in re.findall(r"`(?:[\w/]*/)?(test_\w+\.py)`", row):
            assert list((ROOT / "tests").rglob(name)), name


def test_what_every_library_would_send_is_told():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"]]
    wanted += [each for name, extra in extras.items() if name != "dev" for each in extra]
    names = {re.match(r"[\w.-]+", each)[0] for each in wanted} - {"surtitle"}
    rows = " ".join(re.findall(r"^\| ([^|]+) \|", LIBRARIES, re.M))
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", rows)] == []


def test_every_switch_that_it_names_is_set():
    code = (ROOT / "engine" / "libraries.py").read_text(encoding="utf-8")
    named = set(re.findall(r"`([A-Z][A-Z_]+)(?:=\d)?`", LIBRARIES))
    assert named == set(re.findall(r'"([A-Z][A-Z_]+)":', code))
