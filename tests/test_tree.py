import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_FILES = 20
IMPORTS_A_TEST = re.compile(r"^\s*(?:from tests\.[\w.]*\btest_\w+|from tests[\w.]* import .*\btest_|import tests\.[\w.]*\btest_)", re.M)  # fmt: skip  # noqa: E501


def sources(*parts):
    return [path for part in parts for path in sorted((ROOT / part).rglob("*.py"))]


def test_no_folder_holds_more_files_than_a_reader_can_take_in():
    count = Counter(
        path.parent for path in sources("app", "engine", "training", "tests", "benchmarks")
    )
    assert {folder: n for folder, n in count.items() if n > MOST_FILES} == {}


def test_no_test_module_is_imported_by_another():
    found = {path: IMPORTS_A_TEST.search(path.read_text()) for path in sources("tests")}
    assert [path for path, match in found.items() if match] == []
