"""Desktops in the middle of sentences while replicas of Ray Serve come, die and are replaced.

    python -m benchmarks.serving.replicas [--model DIR] [--pause 0.3] [--kills 1] [--out FILE]

Two nodes of Ray on this computer run the replicas that ``surtitle serve --ray`` runs. Desktops,
each a ``Session`` as the window has it, say the sentences of ``sentences.en`` word by word and
wait for each word's caption. One thing after the other happens meanwhile: two replicas answer,
more desktops come until there is a third, a replica is killed (SIGKILL), all are replaced (a
rolling restart), the second node is taken away. At the end the same words are translated without a
server, and told is how many words were lost, and how many captions were doubled, changed after
they had been shown, or others. Needs Ray: pip install 'surtitle[serve-ray]'.
"""

import argparse
import itertools
import json
import os
import queue
import secrets
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from app.serving.ray_replicas import (
    NAME,
    STORE_BYTES,
    Replica,
    ReplicaSettings,
    prepare_ray,
    ray_folder,
    replicas,
)
from app.sharing.server import listening_socket
from engine.events import (
    CaptionChanged,
    EndPassage,
    Failed,
    FeedWords,
    Flush,
    Flushed,
    Ready,
    SourceChanged,
    UtteranceOpened,
    untimed,
)
from engine.hub.catalogue import bundled_models
from engine.remote.service import Service
from engine.session.session import Session
from engine.settings import ModelSettings, ServerSettings, TranslationSettings

SENTENCES = Path(__file__).parents[1] / "sentences.en"
SETTINGS = TranslationSettings(policy="read:3")
LONGEST_S = 240.0  # that anything may take
FIRST, MORE = 3, 4  # desktops
SESSIONS = 6  # of a replica: a third one is wanted from the seventh desktop on


@dataclass
class Shown:
    """What a window shows of events, and what happened to it."""

    words: dict[int, tuple[str, ...]] = field(default_factory=dict)
    captions: dict[int, str] = field(default_factory=dict)
    n_changed: int = 0

    def show(self, event: object) -> None:
        match event:
            case UtteranceOpened(utterance=number):
                self.words[number], self.captions[number] = (), ""
            case SourceChanged(utterance=number, words=words):
                self.words[number] = tuple(word.text for word in words)
            case CaptionChanged(utterance=number, kept=kept, text=text):
                self.n_changed += kept < len(self.captions[number])
                self.captions[number] = self.captions[number][:kept] + text


class Desktop:
    """A session that says words at a pace, in a thread of its own."""

    def __init__(self, model: ModelSettings | ServerSettings, first: int, pause_s: float) -> None:
        self.shown, self.said, self.waits = Shown(), [], []
        self.phase, self.is_done = "", threading.Event()
        self._first, self._pause_s = first, pause_s
        self._events = queue.Queue[object]()
        self._session = Session(model, SETTINGS, self._events.put)
        self.thread = threading.Thread(target=self._run)
        self.failure: object = None

    def until(self, kind: type) -> None:
        while not isinstance(event := self._events.get(timeout=LONGEST_S), kind):
            assert not isinstance(event, Failed), event
            self.shown.show(event)

    @contextmanager
    def open(self) -> Iterator[None]:
        self._session.start()
        self.until(Ready)
        try:
            yield
        finally:
            self._session.stop()

    def say(self, words: list[str], number: int) -> None:
        self._session.send(FeedWords(untimed(words)))
        self._session.send(Flush(number))
        self.until(Flushed)
        self.said += words

    def end(self) -> None:
        self._session.send(EndPassage())
        self._session.send(Flush(-1))
        self.until(Flushed)

    def _run(self) -> None:
        try:
            with self.open():
                for number, word in enumerate(words_from(self._first)):
                    phase, start_s = self.phase, time.monotonic()
                    self.say([word], number)
                    self.waits.append((phase, time.monotonic() - start_s))
                    if self.is_done.wait(self._pause_s):
                        break
                self.end()
        except BaseException as error:
            self.failure = error
            raise


def words_from(line: int) -> Iterator[str]:
    lines = [one.split() for one in SENTENCES.read_text("utf-8").split("\n") if one.strip()]
    return itertools.chain.from_iterable(itertools.cycle(lines[line:] + lines[:line]))


def alone(model: ModelSettings, said: list[str]) -> Shown:
    """Return what is shown of these words without a server."""
    desktop = Desktop(model, 0, 0.0)
    with desktop.open():
        for number, word in enumerate(said):
            desktop.say([word], number)
        desktop.end()
    return desktop.shown


def family(pid: int) -> dict[int, str]:
    """Return a process and those that it and its children started, with their command lines."""
    parents, names = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int(
                    (folder / "stat").read_text().rpartition(")")[2].split()[1]
                )
                names[int(folder.name)] = (folder / "cmdline").read_text(errors="replace")
            except OSError:  # it has ended
                continue

    def is_below(other: int) -> bool:
        while other != pid and other > 1:
            other = parents.get(other, 0)
        return other == pid

    return {other: name for other, name in names.items() if is_below(other)}


def replica_processes() -> list[int]:
    """Return the replicas among the processes that this one started."""
    wanted = f"ray::ServeReplica:{NAME}:{Replica.__name__}"
    return [pid for pid, name in family(os.getpid()).items() if name.startswith(wanted)]


def wait_until(is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + LONGEST_S
    while not is_so():
        assert time.monotonic() < end_s, "it takes too long"
        time.sleep(0.2)


class House:
    """Two nodes, the replicas on them, and the desktops."""

    def __init__(self, model: ModelSettings, pause_s: float, serve: ModuleType) -> None:
        self.model, self.pause_s, self.serve = model, pause_s, serve
        self.token = secrets.token_urlsafe(24)
        self.desktops: list[Desktop] = []
        with listening_socket("127.0.0.1", 0) as free:
            self.port = free.getsockname()[1]

    def deploy(self) -> None:
        wanted = ReplicaSettings(fewest=2, most=3, sessions=SESSIONS, upscale_s=1.0)
        self.serve.run(replicas(self.model, (self.token,), wanted), name=NAME)

    def n_running(self) -> int:
        deployments = self.serve.status().applications[NAME].deployments
        return deployments[Replica.__name__].replica_states.get("RUNNING", 0)

    def enter(self, n: int) -> None:
        """Let desktops come."""
        server = ServerSettings(address=f"http://localhost:{self.port}", token=self.token)
        for _ in range(n):
            self.desktops.append(Desktop(server, len(self.desktops), self.pause_s))
            self.desktops[-1].thread.start()

    def during(self, phase: str, happens: Callable[[], None]) -> None:
        """Let something happen, and all desktops say eight words more after it."""
        print(f"{phase} ...", flush=True)
        start_s = time.monotonic()
        for one in self.desktops:
            one.phase = phase
        happens()
        said = [(one, len(one.said)) for one in self.desktops]
        wait_until(lambda: all(one.failure or len(one.said) >= n + 8 for one, n in said))
        print(f"... {time.monotonic() - start_s:.0f} s", flush=True)

    def kill(self) -> None:
        pids = replica_processes()
        os.kill(pids[0], signal.SIGKILL)
        wait_until(lambda: pids[0] not in replica_processes())
        wait_until(lambda: self.n_running() == len(pids))


def happenings(house: House, cluster: object, arguments: argparse.Namespace) -> None:
    node = cluster.add_node(num_cpus=2, object_store_memory=STORE_BYTES)
    for one in house.desktops:
        one.phase = "two replicas"
    house.enter(FIRST)
    house.during("two replicas", lambda: None)

    def crowd() -> None:
        house.enter(MORE)
        wait_until(lambda: house.n_running() == 3)

    house.during("a third replica", crowd)
    for _ in range(arguments.kills):
        house.during("a replica killed", house.kill)
    before = set(replica_processes())

    def restart() -> None:
        house.deploy()
        wait_until(lambda: house.n_running() == 3 and not before & set(replica_processes()))

    house.during("rolling restart", restart)
    house.during("a node gone", lambda: cluster.remove_node(node, allow_graceful=False))


def told(house: House, n_opened: dict[str, int]) -> dict:
    """Compare what was shown with what is shown without a server."""
    result = {"desktops": len(house.desktops), "sessions_opened": sum(n_opened.values())}
    result |= dict.fromkeys(("words", "sentences", "lost", "doubled", "changed", "others"), 0)
    for one in house.desktops:
        assert one.failure is None, one.failure
        wanted = alone(house.model, one.said)
        heard = list(itertools.chain.from_iterable(one.shown.words.values()))
        result["words"] += len(one.said)
        result["sentences"] += len(wanted.captions)
        result["lost"] += len(one.said) - len(heard) if heard != one.said else 0
        result["doubled"] += max(0, len(one.shown.captions) - len(wanted.captions))
        result["changed"] += one.shown.n_changed
        for number, other in itertools.zip_longest(one.shown.captions, wanted.captions.values()):
            found = one.shown.captions.get(number)
            if found != other:
                result["others"] += 1
                print(f"others: {found!r} instead of {other!r}")
    waits: dict[str, list[float]] = {}
    for phase, wait_s in itertools.chain.from_iterable(one.waits for one in house.desktops):
        waits.setdefault(phase, []).append(wait_s)
    result["phases"] = {
        phase: {
            "words": len(found),
            "p50_s": statistics.median(found),
            "p95_s": sorted(found)[int(0.95 * len(found))],
            "longest_s": max(found),
        }
        for phase, found in waits.items()
        if phase
    }
    return result


@contextmanager
def counted_openings() -> Iterator[dict[str, int]]:
    """Yield how often each session was opened; more than once where it came to another replica."""
    counts: dict[str, int] = {}
    lock, opening = threading.Lock(), Service.open

    def opened(self: Service, wanted: object) -> object:
        answer = opening(self, wanted)
        with lock:
            counts[wanted.session] = counts.get(wanted.session, 0) + 1
        return answer

    Service.open = opened
    try:
        yield counts
    finally:
        Service.open = opening


@contextmanager
def one_node(house_of: Callable[[ModuleType], House]) -> Iterator[tuple[House, object]]:
    """Run Ray with one node, and the replicas; yield the house, and what adds and removes nodes."""
    with ray_folder(Path(os.devnull)) as folder:
        place = folder / "ray"  # the address of the nodes is written there, too
        place.mkdir()
        os.environ["RAY_TMPDIR"] = str(folder)
        prepare_ray(os.environ, folder)
        import ray  # noqa: PLC0415  it reads the environment when it is imported
        from ray import serve  # noqa: PLC0415
        from ray.cluster_utils import Cluster  # noqa: PLC0415

        house = house_of(serve)
        head = {"num_cpus": 2, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head | {"temp_dir": str(place)})
        try:
            ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
            http = {"host": "127.0.0.1", "port": house.port}
            serve.start(proxy_location="HeadOnly", http_options=http)
            house.deploy()
            yield house, cluster
        finally:
            serve.shutdown()
            ray.shutdown()
            cluster.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between two words")
    parser.add_argument("--kills", type=int, default=1, help="replicas, one after the other")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    model = ModelSettings(directory=arguments.model or bundled_models()[0], device="cpu")
    with (
        one_node(lambda serve: House(model, arguments.pause, serve)) as (house, cluster),
        counted_openings() as n_opened,
    ):
        try:
            happenings(house, cluster, arguments)
        finally:
            for one in house.desktops:
                one.is_done.set()
            for one in house.desktops:
                one.thread.join()
    result = told(house, n_opened)
    print("| meanwhile | words | p50 s | p95 s | longest s |\n|---|---|---|---|---|")
    for phase, waits in result["phases"].items():
        seconds = " | ".join(f"{waits[one]:.2f}" for one in ("p50_s", "p95_s", "longest_s"))
        print(f"| {phase} | {waits['words']} | {seconds} |")
    print({name: value for name, value in result.items() if name != "phases"})
    if arguments.out:
        arguments.out.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
