import importlib.util
import sys
from pathlib import Path

import pytest

PLACE = Path(__file__).parents[1] / "scripts/bundle_start.py"


@pytest.fixture
def start(monkeypatch):
    """Start the bundle's program with arguments; the window is not opened."""
    spec = importlib.util.spec_from_file_location("bundle_start", PLACE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "main", lambda: 7)

    def start(*arguments):
        monkeypatch.setattr(sys, "argv", ["surtitle", *map(str, arguments)])
        return module.start()

    return start


@pytest.mark.parametrize("arguments", [[], ["--version"], ["translate", "-m", "x"], ["-P"]])
def test_the_arguments_of_a_person_go_to_the_program(start, arguments):
    assert start(*arguments) == 7


def test_a_part_of_the_program_runs_by_its_file_as_python_would_run_it(start, tmp_path, capsys):
    part = tmp_path / "part.py"
    part.write_text("import sys; print(__name__, *sys.argv[1:])")
    assert start("-P", part, "a", "b") == 0
    assert capsys.readouterr().out == "__main__ a b\n"


def test_a_part_of_the_program_runs_by_its_name(start, tmp_path, capsys, monkeypatch):
    (tmp_path / "a_part.py").write_text("import sys; print(__name__, *sys.argv[1:])")
    monkeypatch.syspath_prepend(tmp_path)
    assert start("-m", "a_part", "a") == 0
    assert capsys.readouterr().out == "__main__ a\n"
