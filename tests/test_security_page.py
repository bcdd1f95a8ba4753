"""docs/security.md names what is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "`" in line]


def test_every_file_that_it_names_is_there():
    named = re.findall(r"`((?:app|engine|tests)/[\w/.]*)`", PAGE)
    assert len(named) > 50
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_guard_has_a_file_and_a_test():
    assert len(ROWS) > 15
    for row in ROWS:
        _, _, guard, test, _ = row.split("|")
        assert re.search(r"`(app|engine)/[\w/]+\.py`|trust_remote_code", guard), row
        assert re.search(r"`tests/[\w/]+\.py`", test), row
