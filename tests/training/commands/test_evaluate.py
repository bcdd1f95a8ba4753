"""Test the command that scores a live translation of a test set: options, refusals."""

import shutil

import pytest

from tests.support.run_folders import evaluate, summary_of, work_here, write_test_set
from training.__main__ import main
from training.evaluation import models

pytestmark = pytest.mark.usefixtures("papers")  # other layouts and methods


@pytest.fixture
def files(tmp_path):
    return write_test_set(tmp_path)


@pytest.fixture(scope="module")
def whole_begun(tmp_path_factory, tiny):
    """A run of one line."""
    folder = tmp_path_factory.mktemp("begun")
    with pytest.MonkeyPatch.context() as patch:
        work_here(patch)
        assert evaluate(write_test_set(folder), tiny, folder / "out", "--limit", "1") == 0
    return folder / "out"


@pytest.fixture
def begun(whole_begun, tmp_path):
    """A copy that a test may damage."""
    return shutil.copytree(whole_begun, tmp_path / "out")


@pytest.fixture
def in_process(monkeypatch):
    work_here(monkeypatch)


@pytest.mark.usefixtures("in_process")
def test_the_baseline_is_measured_by_the_same_command(tmp_path, files, tiny):
    more = ("--system", "retranslate", "--limit", "2")
    assert evaluate(files, tiny, tmp_path / "out", *more, policies="wait:1,offline") == 0
    again, offline = summary_of(tmp_path / "out")
    assert {again["system"], offline["system"]} == {"retranslate"}
    assert again["tokens_recomputed"] > 0 == offline["tokens_recomputed"]
    assert again["gflops_per_sentence"] > offline["gflops_per_sentence"]


@pytest.mark.usefixtures("in_process")
def test_only_the_first_lines_may_be_asked_for_and_the_model_may_be_bundled(
    tmp_path, files, tiny, monkeypatch
):
    monkeypatch.setattr(models, "bundled_models", lambda: [tiny])
    source, reference = map(str, files)
    given = ["--source", source, "--reference", reference, "--to", "fr", "--out", str(tmp_path)]
    assert main(["evaluate", *given, "--policies", "read:3,read:3", "--limit", "1"]) == 0
    (scores,) = summary_of(tmp_path)
    assert scores["n_sentences"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda files: files[0].write_text("a\n" * 5), "another source"),
        (lambda files: files[1].write_text("a\n" * 5), "another reference"),
        (("--slot", "4"), "another slot length (16, not 4)"),
        (("--system", "retranslate"), "another system (slots, not retranslate)"),
        (("--quantize", "int8"), "another quantise (none, not int8)"),
        (("--to", "fr"), "another language (de, not fr)"),
    ],
)
def test_a_folder_of_another_run_is_left_as_it_is(begun, files, tiny, capsys, change, words):
    before = {path: path.read_bytes() for path in begun.rglob("*") if path.is_file()}
    more = () if callable(change) else change
    if callable(change):
        change(files)
    assert evaluate(files, tiny, begun, *more) == 2
    error = capsys.readouterr().err
    assert f"holds a run with {words}" in error
    assert error.count("\n") == 1
    assert {path: path.read_bytes() for path in begun.rglob("*") if path.is_file()} == before


def test_a_folder_of_another_model_is_left_as_it_is(begun, tmp_path, files, tiny, capsys):
    other = tmp_path / "other"
    shutil.copytree(tiny, other)
    config = other / "config.json"
    config.write_text(config.read_text() + " ")
    assert evaluate(files, other, begun) == 2
    assert "holds a run with another model" in capsys.readouterr().err


def test_a_garbled_log_is_one_sentence(begun, files, tiny, capsys):
    log = next((begun / "log").iterdir())
    log.write_text("nonsense\n")
    assert evaluate(files, tiny, begun, "--limit", "1") == 1
    assert "is no event: delete this log" in capsys.readouterr().err


@pytest.mark.usefixtures("in_process")
def test_a_layout_that_recomputes_pays_for_it_and_is_another_run(tmp_path, files, tiny, capsys):
    recomputed = {}
    for layout in ("recomputed", "slots"):
        out = tmp_path / layout
        options = ("--layout", layout, "--workers", "1")
        assert evaluate(files, tiny, out, *options, policies="wait:1") == 0
        recomputed[layout] = summary_of(out)[0]["tokens_recomputed"]
    assert recomputed["slots"] == 0 < recomputed["recomputed"]
    assert evaluate(files, tiny, out, "--layout", "gpe", policies="wait:1") == 2
    assert "another layout (slots, not gpe)" in capsys.readouterr().err
