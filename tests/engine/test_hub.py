"""Models from a hub that may be slow, broken or dishonest."""

import errno
import io
import itertools
import os
import shutil
import socket
from pathlib import Path

import pytest

from engine.errors import FetchCancelledError, HubError
from engine.hub import fetch_model, find_model
from engine.loading import load_weights
from engine.settings import ModelSettings
from tests import hub_server
from tests.fakes import save_tiny_model

NAME = "some/model"
STALLED_S = 2  # so long without a byte is not a busy machine
SLOW_STALL, SLOW_SILENCE = (
    pytest.param(fault, marks=pytest.mark.slow) for fault in ("stall", "silent")
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("tiny"))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def hub(files):
    with hub_server.running(files | {"pytorch_model.bin": b"pickle", "README.md": b"words"}) as hub:
        yield hub


pytestmark = pytest.mark.usefixtures("hub_cache")


@pytest.fixture
def library(tmp_path):
    return tmp_path / "models"


def fetch(hub, library, *, timeout_s=10.0, **others):
    settings = hub_server.settings(hub, timeout_s=timeout_s)
    return fetch_model(NAME, library, settings, **others)


def refusal(hub, library, *, timeout_s=10.0):
    with pytest.raises(HubError) as caught:
        fetch(hub, library, timeout_s=timeout_s)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def left(library):
    """Files in the library, whatever they are called."""
    return sorted(path.name for path in library.rglob("*") if path.is_file())


def test_a_model_is_fetched_whole_and_can_be_loaded(hub, files, library):
    told = []
    folder = fetch(hub, library, progress=lambda done, total: told.append((done, total)))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    total = sum(map(len, files.values()))
    assert told[-1] == (total, total)
    assert all(one[0] <= other[0] for one, other in itertools.pairwise(told))
    assert load_weights(ModelSettings(directory=folder, device="cpu")).card.name == "tiny"


def test_what_is_there_is_found_without_a_network(hub, library, monkeypatch):
    folder = fetch(hub, library)
    n_asked = len(hub.asked)

    def no_network(*_arguments, **_others):
        raise AssertionError

    monkeypatch.setattr(socket.socket, "connect", no_network)
    assert fetch(hub, library) == find_model(NAME, library) == folder
    assert find_model("other/model", library) is None
    assert len(hub.asked) == n_asked


def test_a_model_in_the_cache_of_the_hubs_own_library_is_found(files, library, tmp_path):
    commit = "a" * 40
    repository = tmp_path / "cache" / "models--some--model"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True)
    for name, content in files.items():
        (snapshot / name).write_bytes(content)
    assert find_model(NAME, library) == snapshot
    (snapshot / "model.safetensors").write_bytes(files["model.safetensors"][:-1])
    assert find_model(NAME, library) is None  # not all of it


@pytest.mark.parametrize("fault", ["reset", SLOW_STALL, "short"])
def test_a_connection_that_breaks_is_made_anew_from_the_last_byte(hub, files, library, fault):
    weights = "model.safetensors"
    hub.fault = lambda name, start: fault if name == weights and start == 0 else None
    folder = fetch(hub, library, timeout_s=STALLED_S)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert any(start > 0 for _, start in hub.asked)


def test_a_hub_that_knows_no_ranges_sends_the_whole_again(hub, files, library):
    asked = []

    def fault(name, start):
        asked.append(name)
        return "whole" if start else "reset" if asked.count(name) == 1 else None

    hub.fault = fault
    folder = fetch(hub, library)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


@pytest.mark.parametrize("fault", [SLOW_SILENCE, "lost"])
def test_a_hub_that_sends_no_more_is_given_up_and_the_next_fetch_goes_on(
    hub, files, library, fault
):
    def after_a_while(name, start):
        return None if name != "model.safetensors" else fault if start else "reset"

    hub.fault = after_a_while
    assert "the hub stopped sending some/model after" in refusal(hub, library, timeout_s=STALLED_S)
    assert find_model(NAME, library) is None
    hub.fault = lambda _name, _start: None
    hub.asked.clear()
    folder = fetch(hub, library)
    assert any(start > 0 for _, start in hub.asked)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


@pytest.mark.parametrize("fault", ["long", "garbled"])
def test_what_is_not_what_was_promised_is_thrown_away(hub, library, fault):
    hub.fault = lambda name, _start: fault if name == "model.safetensors" else None
    assert "is not what it promised" in refusal(hub, library)
    assert left(library) == []


def test_a_fetch_is_cancelled_at_the_next_piece_and_goes_on_later(hub, files, library):
    asked = []
    with pytest.raises(FetchCancelledError):
        fetch(hub, library, cancelled=lambda: asked.append(1) or len(asked) > 3)
    assert find_model(NAME, library) is None
    folder = fetch(hub, library)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


class FullDisk(io.FileIO):
    """A file on a disk that has room for a part of it."""

    def write(self, content):
        if self.tell() + len(content) > 3000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(content)


def test_a_disk_that_fills_is_one_sentence_and_leaves_nothing(hub, library, monkeypatch):
    open_ = Path.open

    def full(path, mode="r", *arguments, **others):
        if path.name == "model.safetensors.part" and "a" in mode:
            return FullDisk(path, mode)
        return open_(path, mode, *arguments, **others)

    monkeypatch.setattr(Path, "open", full)
    assert os.strerror(errno.ENOSPC) in refusal(hub, library)
    assert left(library) == []


def test_too_little_room_is_told_before_anything_is_fetched(hub, library, monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=1000))
    assert "make room or name another folder" in refusal(hub, library)
    assert left(library) == []


def test_a_model_that_the_hub_does_not_have_is_one_sentence(hub, library):
    with pytest.raises(HubError, match="cannot be fetched from the hub"):
        fetch_model("no/such", library, hub_server.settings(hub))
    assert not library.exists()


@pytest.mark.parametrize("name", ["model", "a/b/c", "../secret", "a/..", "", "https://x/y"])
def test_what_is_no_name_never_reaches_the_network(library, name):
    with pytest.raises(HubError, match="owner/name was expected"):
        fetch_model(name, library)
