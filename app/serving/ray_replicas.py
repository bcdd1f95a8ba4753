"""The server as replicas of Ray Serve: one model each, sessions shared out among them.

Ray starts, counts, watches and replaces the replicas, on one computer or many, and keeps the
connections. Ours are what each answers, how many sessions it is used by, and its figures. Ray is
imported where it is used: this module can be read without it.
"""

import asyncio
import logging
import math
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from app.serving.server import (
    CONNECTIONS,
    KEEP_ALIVE_S,
    LAST_ANSWERS_S,
    Answers,
    Tokens,
    application,
)
from engine.session.conversations import Conversations
from engine.session.loaded_model import LoadedModel
from engine.settings import ModelSettings

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from ray.serve.config import AutoscalingContext

    from app.serving.server import ServingSettings

NAME = "surtitle"
"""Of the application, as ``serve status`` shows it."""

STORE_BYTES = 80 << 20
"""What Ray sets aside on each computer for a store of objects; none of ours lies there."""

_ROUTER = "ray.serve.experimental.consistent_hash_router.ConsistentHashRouter"
_SESSIONS = "sessions"
_FULL_SHARE = 0.5  # of a replica's lanes: the rest is for the sessions of one that has died
_IDLE_S = 5.0  # then a session that went to another replica has lost its lane to one that came
_LOOK_BACK_S = 15.0  # over which sessions are averaged
_UPSCALE_S, _DOWNSCALE_S = 10.0, 600.0
_HEALTH_S, _HEALTH_PATIENCE_S = 5.0, 30.0
_MOST_QUEUED = 1000  # requests at each of Ray's proxies
_DELETIONS, _BETWEEN_DELETIONS_S = 50, 0.1
_LONGEST_FOLDER = 33  # bytes; the name of a socket far below it has at most 107


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSettings:
    """How many replicas there are, and what each can use.

    Attributes:
        fewest, most: replicas; between them, as many as the sessions need.
        sessions: at once, of each replica.
        gpus: that Ray sets aside for each; one can be shared, as 0.5.
        upscale_s: so long more must be wanted until there are.
    """

    fewest: int = 1
    most: int = 1
    sessions: int = 32
    gpus: float = 0.0
    upscale_s: float = _UPSCALE_S


class Replica:
    """One copy of the model with its sessions; made and called by Ray Serve."""

    def __init__(self, model: ModelSettings, tokens: tuple[str, ...], n_most: int) -> None:
        loaded = LoadedModel(model, lambda _progress: None)
        self._conversations = Conversations(loaded, n_most, idle_s=_IDLE_S)
        self._answers = Answers(self._conversations, Tokens(tokens))
        self._conversations.start()

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """Return what answers the requests that come to this replica."""
        answers = application(self._answers)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "lifespan":
                await answers(scope, receive, send)
                return
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await asyncio.to_thread(self._conversations.stop, LAST_ANSWERS_S)
            await send({"type": "lifespan.shutdown.complete"})

        return answer

    def check_health(self) -> None:
        """Raise RuntimeError where nothing is answered; Ray then replaces this replica."""
        if not self._conversations.is_alive:
            msg = "the thread that translates has ended"
            raise RuntimeError(msg)

    def record_autoscaling_stats(self) -> dict[str, float]:
        """Return what ``replicas_wanted`` counts by."""
        return {_SESSIONS: float(self._conversations.n_in_use)}


def replicas_wanted(load: "AutoscalingContext") -> tuple[int, dict[str, object]]:
    """Return how many replicas the sessions in use need, and nothing to remember.

    Ray holds the number between the fewest and the most, and waits until it has been wanted for a
    while. Before any replica told of its sessions, as many are wanted as there are.
    """
    told: dict[object, float] | None = (load.aggregated_metrics or {}).get(_SESSIONS)
    n_wanted: int = load.target_num_replicas
    if told:
        n_wanted = math.ceil(sum(told.values()) / load.config.target_ongoing_requests)
    return max(1, n_wanted), {}


def replicas(model: ModelSettings, tokens: tuple[str, ...], settings: ReplicaSettings) -> object:
    """Return an application for ``ray.serve.run``, or for a deployment file.

    A session goes to the same replica each time, by the header that names it.
    """
    from ray import serve  # noqa: PLC0415  see above

    deployment = serve.deployment(
        name=Replica.__name__,
        ray_actor_options={"num_cpus": 1, "num_gpus": settings.gpus},
        max_ongoing_requests=CONNECTIONS * settings.sessions,
        max_queued_requests=_MOST_QUEUED,
        health_check_period_s=_HEALTH_S,
        health_check_timeout_s=_HEALTH_PATIENCE_S,
        graceful_shutdown_timeout_s=2 * LAST_ANSWERS_S,
        logging_config={"enable_access_log": False},
        request_router_config={"request_router_class": _ROUTER},
        autoscaling_config={
            "min_replicas": settings.fewest,
            "max_replicas": settings.most,
            "target_ongoing_requests": max(1.0, _FULL_SHARE * settings.sessions),  # sessions, to us
            "look_back_period_s": _LOOK_BACK_S,
            "upscale_delay_s": settings.upscale_s,
            "downscale_delay_s": _DOWNSCALE_S,
            "policy": {"policy_function": f"{__name__}:{replicas_wanted.__name__}"},
        },
    )
    application_of_ray: object = deployment(serve.ingress()(Replica)).bind(
        model, tokens, settings.sessions
    )
    return application_of_ray


@contextmanager
def ray_folder(cache: Path) -> Iterator[Path]:
    """Yield an empty folder for what Ray writes; in the system's where our name is too long."""
    is_short = cache.is_dir() and len(str(cache).encode()) <= _LONGEST_FOLDER
    folder = Path(tempfile.mkdtemp(prefix="r", dir=cache if is_short else None))
    try:
        yield folder
    finally:
        for _ in range(_DELETIONS):  # what ends in Ray may write meanwhile
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(_BETWEEN_DELETIONS_S)


def prepare_ray(environment: "MutableMapping[str, str]", folder: Path) -> None:
    """Let Ray, before it is imported, be reached by and reach this process and its children only.

    Its home is in the folder for what Ray writes, with the file that keeps Ray from asking the
    addresses at which clouds tell about a computer, its telemetry off or not.
    """
    home = folder / "home"
    home.mkdir()
    (home / "ray_bootstrap_config.yaml").write_text("{}\n", "utf-8")
    environment.update(
        HOME=str(home),
        USERPROFILE=str(home),
        RAY_AUTH_MODE="token",
        RAY_AUTH_TOKEN=secrets.token_hex(32),
        RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",  # on every system: loopback, and no look-up
    )


@contextmanager
def served_by_ray(
    serving: "ServingSettings", model: ModelSettings, settings: ReplicaSettings, folder: Path
) -> Iterator[str]:
    """Start Ray on this computer, serve, and yield the address; end Ray with the block.

    The port of Ray's proxy is no 0, and ``prepare_ray`` knows the folder. RuntimeError is raised
    where Ray cannot be started, or the model cannot be used.
    """
    import ray  # noqa: PLC0415  see above
    from ray import serve  # noqa: PLC0415

    for name in ("ray", "ray.serve"):
        logging.getLogger(name).setLevel(logging.ERROR)
    tls = serving.tls
    files = {"ssl_certfile": tls.certificate, "ssl_keyfile": tls.key} if tls is not None else {}
    try:
        ray.init(
            address="local",
            _temp_dir=str(folder),
            include_dashboard=False,
            num_cpus=settings.most,
            object_store_memory=STORE_BYTES,
            log_to_driver=False,
            logging_level="ERROR",
        )
        gpus = min(1.0, ray.cluster_resources().get("GPU", 0) / settings.most)
        serve.start(
            proxy_location="HeadOnly",
            http_options={
                "host": serving.host,
                "port": serving.port,
                "keep_alive_timeout_s": KEEP_ALIVE_S,
                **{name: str(file) for name, file in files.items()},
            },
            logging_config={"enable_access_log": False, "log_level": "ERROR"},
        )
        serve.run(replicas(model, serving.tokens, replace(settings, gpus=gpus)), name=NAME)
        scheme = "http" if tls is None else "https"
        yield f"{scheme}://{serving.host}:{serving.port}"
    finally:
        serve.shutdown()
        ray.shutdown()
