"""Test what the command over whole talks needs."""

import sys

import pytest

from tests.support.fakes import save_tiny_model
from training.research.__main__ import main

pytest.importorskip("mweralign")


@pytest.mark.parametrize("missing", ["mweralign", "MeCab"])
def test_a_missing_library_is_told_before_the_work(tmp_path, capsys, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)  # whether it is installed or not
    if missing == "MeCab":  # the tokenizer of a language that the model does not know
        monkeypatch.setattr("engine.metrics.quality._TOKENIZERS", {"de": "ja-mecab"})
    given = ["--to", "de", "--policies", "read:3", "--out", str(tmp_path / "out")]
    given += ["--model", str(save_tiny_model(tmp_path / "model"))]
    for name in ("source", "reference", "talks"):
        (tmp_path / name).write_text("a\n", encoding="utf-8")
        given += [f"--{name}", str(tmp_path / name)]
    assert main(["long-form", *given]) == 1
    assert "pip install" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
