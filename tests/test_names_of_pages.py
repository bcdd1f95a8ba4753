"""Names that the documents give in backticks exist."""

import ast
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


CODE = [
    path
    for part in ("app", "engine", "training", "tests", "benchmarks", "scripts", "assets")
    for path in sorted((ROOT / part).rglob("*"))
    if path.suffix in (".py", ".toml", ".html", "") and path.is_file()
] + [ROOT / "pyproject.toml", ROOT / "Makefile"]
NOT_OURS = set(
    """
    TODO asse _download_to_tmp_and_move _p95 assertTrue buzz/widgets/main_window_toolbar.py Kl
    buzz/widgets/recording_transcriber_widget.py com0 com9 do_ install.rs loftq lpt0 lpt9
    int8_float16 none_dealloc olora rec.toml sample_rate_hz sha256sum src_ text_ready tgt_
    process_data sys.setswitchinterval torch.profiler torchinductor_USER weights_only
    """.split()
)
"""Names of other programs, and examples."""


def names(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {name.strip() for name in re.findall(r"`([^`\n]+)`", text)}


def words_in(page):
    """The names in backticks of a page: of files, of what stands in one, dotted ones."""
    for quoted in sorted(names(page)):
        name = re.sub(r"\(.*\)$", "", quoted)
        if re.fullmatch(r"[\w/.]+\.py(?:: [\w.]+)?|[A-Za-z_][\w.]*", name) and name not in NOT_OURS:
            yield name


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
def test_every_place_in_backticks_exists(page):
    missing = set()
    for name in names(page):
        if PATH.fullmatch(name):
            if not any((place / name).exists() for place in PLACES):
                missing.add(name)
        elif DOTTED.fullmatch(name) and not dotted_exists(name):
            missing.add(name)
    assert missing == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_there(page):
    links = re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8"))
    assert [one for one in links if ":" not in one and not (page.parent / one).exists()] == []


def members(kind):
    """What a class defines: methods, fields, attributes of ``self``; and the names of its bases."""
    for node in ast.walk(kind):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
    for base in kind.bases:
        yield from re.findall(r"\w+", ast.unparse(base))


def test_every_name_in_backticks_of_the_pages_exists():
    texts = {path: path.read_text(errors="replace") for path in CODE}
    words = set(re.findall(r"\w+", " ".join([*texts.values(), *map(str, CODE)])))
    classes = {}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if path.suffix == ".py" else ():
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, set()).update(members(node))

    def known(kind, name):
        return kind not in classes or any(
            name == one or (one in classes and one != kind and known(one, name))
            for one in classes[kind]
        )

    def is_there(name):
        file, _, inside = name.partition(": ")
        if file.endswith(".py"):
            found = [text for path, text in texts.items() if f"/{path}".endswith(f"/{file}")]
            return any(set(inside.split(".")) - {""} <= set(re.findall(r"\w+", t)) for t in found)
        parts = name.split(".")
        return words.issuperset(filter(None, parts)) and all(map(known, parts, parts[1:]))

    assert [
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        for name in words_in(page)
        if not is_there(name)
    ] == []
