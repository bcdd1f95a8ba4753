"""Replicas of Ray Serve: what they are asked, and how many are wanted. Here without Ray."""

import asyncio
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from app.cli import serve
from app.cli.exit_codes import UsageError
from app.serving.ray_replicas import (
    Replica,
    prepare_ray,
    ray_folder,
    replicas_wanted,
)
from tests.support.network.house_server import TOKEN, tiny_model

FILE = Path(__file__).parents[3] / "assets" / "serving" / "ray.yaml"


@dataclass
class Config:
    target_ongoing_requests: float = 8.0


@dataclass
class Load:
    """What Ray lets a policy know."""

    aggregated_metrics: dict | None
    target_num_replicas: int = 2
    config: Config = field(default_factory=Config)


@pytest.mark.parametrize(
    ("sessions", "n"), [([0], 1), ([8], 1), ([8, 8], 2), ([9, 8], 3), ([30, 1, 1], 4), ([0, 0], 1)]
)
def test_as_many_replicas_are_wanted_as_the_sessions_in_use_need(sessions, n):
    told = {"sessions": dict(enumerate(sessions))}
    assert replicas_wanted(Load(told)) == (n, {})


def test_before_a_replica_has_told_of_its_sessions_none_is_started_or_ended():
    for nothing in (None, {}, {"sessions": {}}):
        assert replicas_wanted(Load(nothing, target_num_replicas=5)) == (5, {})


@pytest.fixture
def replica(tmp_path):
    one = Replica(tiny_model(tmp_path / "served"), (TOKEN,), 4)
    yield one
    one._conversations.stop(10)


def test_a_replica_answers_as_a_server_does_and_ends_by_the_word_of_ray(replica):
    application = replica.__serve_build_asgi_app__()
    sent = []

    async def visit():
        asked = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive():
            return next(asked)

        async def send(message):
            sent.append(message)

        head = [(b"authorization", f"Bearer {TOKEN}".encode()), (b"host", b"house")]
        http = {"type": "http", "method": "GET", "path": "/metrics", "headers": head}
        http |= {"query_string": b"", "client": ("192.0.2.1", 9)}
        await application(http, receive, send)
        replica.check_health()
        await application({"type": "lifespan"}, receive, send)

    asyncio.run(visit())
    assert sent[0]["status"] == 200
    assert b"surtitle_sessions 0" in sent[1]["body"]
    kinds = [message["type"] for message in sent[-2:]]
    assert kinds == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert replica.record_autoscaling_stats() == {"sessions": 0.0}
    with pytest.raises(RuntimeError, match="has ended"):
        replica.check_health()


def test_the_folder_of_ray_goes_although_something_is_written_while_it_is_deleted(
    tmp_path, monkeypatch
):
    late, remove = [1, 2], shutil.rmtree

    def removed(folder, **arguments):
        remove(folder, **arguments)
        if late:
            (folder / f"late{late.pop()}").mkdir(parents=True)

    monkeypatch.setattr("app.serving.ray_replicas.shutil.rmtree", removed)
    monkeypatch.setattr("app.serving.ray_replicas._BETWEEN_DELETIONS_S", 0)
    with ray_folder(tmp_path) as folder:
        (folder / "socket").touch()
    assert late == []
    assert not folder.exists()


def test_ray_reaches_and_is_reached_by_nobody_else(tmp_path):
    environment = {"HOME": "/home/one", "PATH": "/bin"}
    prepare_ray(environment, tmp_path)
    home = tmp_path / "home"
    assert environment["HOME"] == environment["USERPROFILE"] == str(home)
    assert yaml.safe_load((home / "ray_bootstrap_config.yaml").read_text()) == {}
    assert environment["RAY_AUTH_MODE"] == "token"
    assert len(environment["RAY_AUTH_TOKEN"]) == 64
    assert environment["PATH"] == "/bin"


def test_the_deployment_file_is_understood(monkeypatch, tmp_path):
    (only,) = yaml.safe_load(FILE.read_text())["applications"]
    assert only["import_path"] == "app.cli.serve:application"
    monkeypatch.setattr("app.serving.ray_replicas.replicas", lambda *given: given)
    arguments = only["args"] | {"token-file": str(tmp_path / "tokens")}
    model, tokens, settings = serve.application(arguments)
    assert model.device == arguments["device"]
    assert len(tokens) == 1
    found = (settings.fewest, settings.most, settings.sessions)
    assert found == (2, 8, arguments["clients"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "--token-file"),
        ({"token-file": "{}/tokens", "nothing": "1"}, "unrecognized arguments: --nothing=1"),
        ({"token-file": "{}/tokens", "clients": "0"}, "from 1 to 1000, got 0"),
        ({"token-file": "{}/tokens", "replicas": "3-2"}, "as 2-8, got '3-2'"),
    ],
)
def test_a_deployment_that_cannot_be_used_is_refused_in_one_sentence(arguments, sentence, tmp_path):
    arguments = {name: value.format(tmp_path) for name, value in arguments.items()}
    with pytest.raises(UsageError, match=sentence):
        serve.application(arguments)
