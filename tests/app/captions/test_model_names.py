from pathlib import Path

import pytest

from app.captions.models import fetched_model, hub_name
from engine.errors import HubError


@pytest.mark.parametrize("name", ["Qwen/Qwen2.5-7B-Instruct", "a/b", "some-one/some_model.v2"])
def test_owner_and_name_are_a_name_on_the_hub(name):
    assert hub_name(Path(name)) == name


@pytest.mark.parametrize("name", ["model", "a/b/c", "/a/b", "./a", "../a", "~/a", "a/.b", ".a/b"])
def test_what_may_be_a_folder_is_no_name(name):
    assert hub_name(Path(name)) == ""


def test_a_folder_that_is_there_is_a_folder(tmp_path, monkeypatch):
    (tmp_path / "some" / "model").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    named = Path("some/model")
    assert hub_name(named) == ""
    assert fetched_model(named, tmp_path / "models") == named


def test_how_far_a_fetch_is_goes_to_one_line_of_the_terminal(tmp_path, monkeypatch, capsys):
    def fetch(name, library, wanted):
        for done in (0, 1_000_000_000, 1_000_000_001, 2_000_000_000):
            wanted.progress(done, 2_000_000_000)
        return library / name

    monkeypatch.setattr("engine.hub.download.fetch_model", fetch)
    assert fetched_model(Path("a/b"), tmp_path) == tmp_path / "a" / "b"
    told = capsys.readouterr().err
    assert told.endswith("downloading a/b: 2.00 of 2.00 GB\n")
    assert told.count("\r") == 3
    assert told.count("\n") == 1


def test_a_fetch_that_cannot_be_is_the_hubs_own_sentence(tmp_path, monkeypatch):
    def fetch(*_arguments, **_others):
        msg = "no network"
        raise HubError(msg)

    monkeypatch.setattr("engine.hub.download.fetch_model", fetch)
    with pytest.raises(HubError, match="no network"):
        fetched_model(Path("a/b"), tmp_path)
