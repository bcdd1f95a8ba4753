"""No call that a stranger's folder could turn into code of its own, in any of our files."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OURS = ("app", "engine", "training", "benchmarks")
LOADS = {"from_pretrained", "from_config"}
TAKES_NUMBERS = "TransformerSpec"  # of CTranslate2; its from_config is given no folder


def calls(source):
    """Every call of a method: its name and the node."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            yield name, node


def trusting(source):
    """Lines of calls that do not say, in so many words, that no code is to be run."""
    return [
        node.lineno
        for name, node in calls(source)
        if name in LOADS
        and getattr(getattr(node.func, "value", None), "id", None) != TAKES_NUMBERS
        and not any(
            one.arg == "trust_remote_code" and getattr(one.value, "value", None) is False
            for one in node.keywords
        )
    ]


@pytest.mark.parametrize(
    ("call", "trusts"),
    [
        ("A.from_pretrained(x)", True),
        ("from_config(x)", True),
        ("A.from_pretrained(x, trust_remote_code=None)", True),
        ("A.from_pretrained(x, trust_remote_code=True)", True),
        ("A.from_pretrained(x, trust_remote_code=trust)", True),
        ("A.from_pretrained(x, **{'trust_remote_code': False})", True),
        ("A.from_pretrained(x, trust_remote_code=False)", False),
        ("TransformerSpec.from_config((6, 6), 8)", False),
    ],
)
def test_a_call_that_leaves_it_open_is_found(call, trusts):
    assert bool(trusting(call)) == trusts


def test_every_call_that_loads_a_folder_forbids_its_code():
    paths = [path for folder in OURS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {str(path): trusting(path.read_text(encoding="utf-8")) for path in paths}
    assert len(found) > 200
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_no_template_of_a_folder_is_rendered_in_this_process():
    """``engine.untrusted.limited_process`` does that in one of its own, with limits."""
    for folder in OURS:
        for path in (ROOT / folder).rglob("*.py"):
            names = {name for name, _ in calls(path.read_text(encoding="utf-8"))}
            assert "apply_chat_template" not in names, path
