"""How many desktops one computer translates for: side by side, against one process each.

    python -m benchmarks.serving [--sessions 1,2,4,8] [--seconds 20] [--words-per-second 10]
                                 [--ray N]

Each session is a desktop that asks ``surtitle serve`` over HTTP on loopback, in a process of its
own with all others, and sends the sentences of ``sentences.en`` word by word at an even pace. A
word's delay runs from when it was due to when all that it allows has come back. Side by side, one
server has all sessions; one process each, every session has a server of its own with the same
model; with ``--ray``, N replicas share them out, and all of Ray's processes count. Printed are the
delays, and how many sessions stay below ``--limit-ms`` at the 95th percentile.
"""

import argparse
import json
import multiprocessing
import re
import secrets
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from pathlib import Path

from benchmarks.serving.processes import processor_s
from engine.remote.service import Service
from engine.remote.wire import Asked, Changed, Opening, Settled
from engine.settings import ServerSettings, TranslationSettings
from engine.text.sentences import Sentence

SENTENCES = Path(__file__).parents[1] / "sentences.en"
TOGETHER, ALONE, BY_RAY = "side by side", "one process each", "by replicas of Ray"
SETTLE_S = 3.0  # at the start, which is not counted


@dataclass
class Desktop:
    """A session that sends words at an even pace."""

    server: ServerSettings
    number: int
    words_per_second: float
    seconds: float
    delays_ms: list[float] = field(default_factory=list)

    def run(self) -> None:
        service, session = Service(self.server), secrets.token_urlsafe(16)
        service.open(Opening(session=session, settings=TranslationSettings()))
        lines = SENTENCES.read_text("utf-8").split("\n")
        lines = [line.split() for line in lines[self.number % 7 :] + lines if line.strip()]
        start_s = time.perf_counter() + self.number * 0.037  # not all at once
        due_s = start_s
        while due_s < start_s + self.seconds:
            for number, words in enumerate(lines):
                due_s = self.say(service, session, (number, words), due_s)
                if due_s >= start_s + self.seconds:
                    break
        skipped = round(SETTLE_S * self.words_per_second)
        self.delays_ms = self.delays_ms[skipped:]
        service.leave(session)
        service.close()

    def say(
        self,
        service: Service,
        session: str,
        sentence: tuple[int, list[str]],
        due_s: float,
    ) -> float:
        """Send a sentence word by word; words that are due by then go together."""
        number, words = sentence
        step_s, caption, n_sent = 1 / self.words_per_second, "", 0
        while n_sent < len(words):
            time.sleep(max(0.0, due_s - time.perf_counter()))
            dues = [due_s]
            while n_sent + len(dues) < len(words) and dues[-1] + step_s <= time.perf_counter():
                dues.append(dues[-1] + step_s)
            n_sent, due_s = n_sent + len(dues), dues[-1] + step_s
            known = Sentence(tuple(words[:n_sent]), ended=n_sent == len(words))
            asked = Asked(session=session, number=number, sentence=known, caption=caption)
            for answer in service.ask(asked):
                if isinstance(answer, Changed):
                    caption = caption[: answer.kept] + answer.text
                else:
                    assert isinstance(answer, Settled), answer
            now_s = time.perf_counter()
            self.delays_ms += [1000 * (now_s - due) for due in dues]
        return due_s


@contextmanager
def server(
    n_clients: int, model: Path | None, n_replicas: int = 0
) -> Iterator[tuple[ServerSettings, Callable[[], float]]]:
    """Run ``surtitle serve``; yield how to ask it, and a function that returns its seconds."""
    words = [sys.executable, "-m", "app", "serve", "--port", "0", "--clients", str(n_clients)]
    words += ["--model", str(model)] if model else []
    words += ["--ray", "--replicas", str(n_replicas)] if n_replicas else []
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            told = ""
            for told in process.stderr:
                if "translates at" in told:
                    break
            address = re.search(r"http://127\.0\.0\.1:\d+", told)[0]
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield ServerSettings(address=address), lambda: processor_s(process.pid)
        finally:
            process.terminate()


def drive(servers: list[ServerSettings], arguments: argparse.Namespace, told: Queue) -> None:
    """Run a desktop for each server, on threads of one process; put all delays."""
    desktops = [
        Desktop(one, number, arguments.words_per_second, arguments.seconds + SETTLE_S)
        for number, one in enumerate(servers)
    ]
    threads = [threading.Thread(target=one.run) for one in desktops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.put([delay for one in desktops for delay in one.delays_ms])


def measure(n_sessions: int, arguments: argparse.Namespace, how: str) -> dict:
    """Return the delays of so many sessions, and the seconds of processor that they cost."""
    with ExitStack() as opened:
        n_servers, n_clients = (n_sessions, 1) if how == ALONE else (1, n_sessions)
        n_replicas = arguments.ray if how == BY_RAY else 0
        running = [
            opened.enter_context(server(n_clients, arguments.model, n_replicas))
            for _ in range(n_servers)
        ]
        before_s = sum(spent() for _, spent in running)
        told = multiprocessing.Queue()
        servers = [one for one, _ in running] * (n_sessions // n_servers)
        driver = multiprocessing.Process(target=drive, args=(servers, arguments, told))
        driver.start()
        delays = told.get()
        driver.join()
        cost_s = sum(spent() for _, spent in running) - before_s
    cuts = statistics.quantiles(delays, n=100)
    n_words = len(delays) + n_sessions * SETTLE_S * arguments.words_per_second
    return {
        "sessions": n_sessions,
        "how": how,
        "p50_ms": cuts[49],
        "p95_ms": cuts[94],
        "processor_ms_a_word": 1000 * cost_s / n_words,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", default="1,2,4,8", help="how many, one run after the other")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--words-per-second", type=float, default=10)
    parser.add_argument("--limit-ms", type=float, default=300)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--ray", type=int, default=0, metavar="N", help="by N replicas, too")
    arguments = parser.parse_args()
    ways = (TOGETHER, ALONE, BY_RAY) if arguments.ray else (TOGETHER, ALONE)
    rows, most = [], dict.fromkeys(ways, 0)
    print("| sessions | | p50 ms | p95 ms | processor ms a word |\n|---|---|---|---|---|")
    for n_sessions in map(int, arguments.sessions.split(",")):
        for how in ways:
            row = measure(n_sessions, arguments, how)
            rows.append(row)
            print(
                f"| {n_sessions} | {how} | {row['p50_ms']:.0f} | {row['p95_ms']:.0f} "
                f"| {row['processor_ms_a_word']:.1f} |",
                flush=True,
            )
            if row["p95_ms"] <= arguments.limit_ms:
                most[how] = n_sessions
    print(f"below {arguments.limit_ms:.0f} ms: {most}")
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
