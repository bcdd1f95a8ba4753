"""What ``surtitle-train export`` writes into another folder, and what it never replaces."""

import pytest

from tests.support.adapter_folders import BASE, write_adapter
from tests.support.fakes import save_graph_model
from training.__main__ import main


@pytest.fixture
def folder(tmp_path):
    folder = save_graph_model(tmp_path / "model")
    (folder / "README.md").write_text("about it")
    (folder / "steps.jsonl").write_text("{}")
    (folder / "checkpoint").mkdir()
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_folder_is_handed_on_without_checkpoint_and_record(folder, tmp_path):
    before = contents(folder)
    assert main(["export", str(folder), "--out", str(tmp_path / "out")]) == 0
    handed_on = contents(tmp_path / "out")
    assert handed_on == {name: it for name, it in before.items() if name != "steps.jsonl"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(handed_on)
    assert contents(folder) == before


def test_an_adapter_of_another_model_is_refused_and_nothing_is_written(folder, tmp_path, capsys):
    adapter = write_adapter(tmp_path / "adapter", BASE)
    out = tmp_path / "out"
    assert main(["export", str(folder), "--adapter", str(adapter), "--out", str(out)]) == 1
    assert str(adapter) in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--int8"], "--int8 never replaces the weights of a folder: name another"),
        (["--adapter", "any"], "--adapter never replaces the weights of a folder: name another"),
        (["--int8", "--out", "FOLDER"], "is the model folder itself, which stays as it is"),
    ],
)
def test_the_weights_of_a_folder_are_never_replaced(folder, capsys, arguments, sentence):
    before = contents(folder)
    asked = [str(folder) if it == "FOLDER" else it for it in arguments]
    assert main(["export", str(folder), *asked]) == 2
    assert sentence in capsys.readouterr().err
    assert contents(folder) == before
