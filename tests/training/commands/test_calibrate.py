import random
from dataclasses import replace

import pytest

from engine.models.adapters.adapter import Status, inspect_adapter, read_adapter_card
from engine.models.model_card import read_card
from tests.support.adapter_folders import write_adapter
from tests.support.run_folders import references, translations, write_run
from training.__main__ import main
from training.evaluation.runs import read_run
from training.evaluation.scores import calibrate
from training.trainer.tokenizer import make_card


@pytest.fixture
def adapter(tmp_path):
    folder = tmp_path / "adapter"
    write_adapter(folder)
    return folder


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    make_card(name="tiny", languages=["de"], slot_length=16, policies=["read:3"]).save(folder)
    return folder


def measured(folder, **changes):
    """A run whose likelier captions are better, and the curve that its even lines give."""
    rng = random.Random(0)
    wanted = references(rng, 200)
    captions = [
        replace(one, log_probability=-1.0 if one.hypothesis == said else -2.0 - rng.random())
        for one, said in zip(translations(rng, wanted, wrong=0.3, late=1), wanted, strict=True)
    ]
    write_run(folder, {"read:3": captions}, wanted, **changes)
    return calibrate(read_run(folder).policies["read:3"].sentences[::2], 0.4)


def call(option, owner, run):
    return main(["calibrate", option, str(owner), "--threshold", "0.4", "--run", str(run)])


def test_the_curve_stands_on_the_card_of_an_adapter(tmp_path, adapter, capsys):
    expected = measured(tmp_path / "run", adapter_sha256="a")
    before = read_adapter_card(adapter)
    assert call("--adapter", adapter, tmp_path / "run") == 0
    assert read_adapter_card(adapter) == replace(before, calibration=expected)
    assert expected.threshold == 0.4
    assert inspect_adapter(adapter).status is Status.OK
    assert "of the 100 sentences kept back" in capsys.readouterr().out


def test_the_curve_stands_on_the_card_of_a_model(tmp_path, model):
    expected = measured(tmp_path / "run")
    assert call("--model", model, tmp_path / "run") == 0
    assert read_card(model).calibration == expected


def test_runs_of_another_owner_are_refused(tmp_path, adapter, model, capsys):
    measured(tmp_path / "bare")
    measured(tmp_path / "adapted", adapter_sha256="a")
    assert call("--adapter", adapter, tmp_path / "bare") == 2
    assert "is a run of the bare model: name runs of what" in capsys.readouterr().err
    assert call("--model", model, tmp_path / "adapted") == 2
    assert "is a run of an adapter: name runs of what" in capsys.readouterr().err
    assert read_adapter_card(adapter).calibration is None
    assert read_card(model).calibration is None
