import json
from functools import partial

import pytest

from app.__main__ import main
from engine.catalogue import KNOWN_MODELS
from engine.lag_forecast import measure_steps


def lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.slow
def test_a_program_is_told_what_the_computer_has_and_what_fits(capsys):
    assert main(["--device", "cpu", "check", "--json"]) == 0
    machine, *fits = lines(capsys)
    assert machine["kind"] == "machine"
    assert machine["cores"] >= 1
    assert 0 < machine["free_bytes"] <= machine["memory_bytes"]
    assert [fit["model"] for fit in fits] == [model.name for model in KNOWN_MODELS]
    assert all(fit["device"] == "cpu" and fit["needed_bytes"] > 0 for fit in fits)


def test_a_failure_is_a_line_for_programs(capsys, tmp_path):
    assert main(["--model", str(tmp_path), "check", "--speed", "--json"]) == 0
    *_, failed = lines(capsys)
    assert failed["kind"] == "failed"
    assert str(tmp_path) in failed["message"]


@pytest.mark.slow
def test_the_lag_of_the_bundled_model_is_foretold(capsys, monkeypatch):
    short = partial(measure_steps, sentences=("Good morning.",))
    monkeypatch.setattr("engine.lag_forecast.measure_steps", short)
    assert main(["check", "--speed"]) == 0
    assert "behind who speaks" in capsys.readouterr().out
