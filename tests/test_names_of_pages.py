"""Names that the documents give in backticks exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
OTHERS = {"experiments.md", "comparison.md", "first_hour.md"}
"""Pages that tell what was, with the names of then, or of files of other programs."""

PLACES = (ROOT, ROOT / "tests")
PATH = re.compile(r"(?:app|engine|training|tests|benchmarks|scripts|assets|docs)/[\w./-]*\w/?")
DOTTED = re.compile(r"(?:app|engine|training|benchmarks)(?:\.\w+)+")
CLASS = re.compile(r"_?[A-Z][a-z]+(?:[A-Z]\w*)+(?:\.\w+)?")


def sources():
    parts = ("app", "engine", "training", "tests", "benchmarks", "scripts")
    return [
        path for part in parts for path in (ROOT / part).rglob("*") if path.suffix in {".py", ""}
    ]


@pytest.fixture(scope="module")
def words():
    """Every word of the code."""
    texts = (path.read_text(encoding="utf-8") for path in sources() if path.is_file())
    return {word for text in texts for word in re.findall(r"\w+", text)}


def names(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {name.strip() for name in re.findall(r"`([^`\n]+)`", text)}


def dotted_exists(name):
    """Whether a dotted name is a module, or a name that a module has."""
    *parents, last = name.split(".")
    for n in range(len(parents), 0, -1):
        place = ROOT.joinpath(*parents[:n])
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file() and n < len(parents) + 1:
                rest = [*parents[n:], last]
                text = file.read_text(encoding="utf-8")
                if all(re.search(rf"\b{re.escape(one)}\b", text) for one in rest):
                    return True
    place = ROOT.joinpath(*parents, last)
    return place.is_dir() or place.with_suffix(".py").is_file()


@pytest.mark.parametrize(
    "page", [each for each in PAGES if each.name not in OTHERS], ids=lambda p: p.name
)
def test_every_name_in_backticks_exists(page, words):
    missing = set()
    for name in names(page):
        if PATH.fullmatch(name):
            if not any((place / name).exists() for place in PLACES):
                missing.add(name)
        elif DOTTED.fullmatch(name):
            if not dotted_exists(name):
                missing.add(name)
        elif CLASS.fullmatch(name) and not set(name.split(".")) <= words:
            missing.add(name)
    assert missing == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_there(page):
    links = re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8"))
    assert [one for one in links if ":" not in one and not (page.parent / one).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_test_that_a_page_names_exists(page, words):
    files = {f"/{path.relative_to(ROOT)}" for path in (ROOT / "tests").rglob("test_*.py")}
    tests = {name for name in names(page) if re.fullmatch(r"[\w/]*test_\w+(\.py)?", name)}
    is_there = {
        name: any(file.endswith(f"/{name}") for file in files) if "." in name else name in words
        for name in tests
    }
    assert [name for name, there in is_there.items() if not there] == []
