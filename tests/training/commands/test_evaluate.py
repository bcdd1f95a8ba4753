"""Test the command that scores a live translation of a test set: options, refusals."""

import shutil

import pytest

from tests.support.run_folders import evaluate, summary_of, work_here, write_test_set

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


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda files: files[0].write_text("a\n" * 5), "another source"),
        (("--system", "retranslate"), "another system (slots, not retranslate)"),
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


def test_a_garbled_log_is_one_sentence(begun, files, tiny, capsys):
    log = next((begun / "log").iterdir())
    log.write_text("nonsense\n")
    assert evaluate(files, tiny, begun, "--limit", "1") == 1
    assert "is no event: delete this log" in capsys.readouterr().err
