"""A sound server of a test's own, and what speaks into its microphone."""

import pytest

from tests.sound_server import Feeder, TestServer


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
