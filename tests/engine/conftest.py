"""A model folder that a test may damage; a sound server of its own, and what speaks into it."""

import pytest

from tests.support.sound_server import Feeder, TestServer


@pytest.fixture
def folder(tiny, tmp_path):
    """A copy of the tiny model's folder that a test may damage."""
    for path in tiny.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.fixture
def server(tmp_path, monkeypatch):
    server = TestServer(tmp_path, monkeypatch)
    yield server
    server.stop()


@pytest.fixture
def feeder(server):
    feeder = Feeder(server)
    yield feeder
    feeder.stop()
