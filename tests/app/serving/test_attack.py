"""Two hundred hostile clients at once: they cost themselves, and a good one notices nothing."""

import json
import os
import random
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from engine.metrics.event_log import EventLog
from engine.remote.captioner import RemoteCaptioner
from engine.remote.service import Service
from engine.runtime.loader import load_weights
from engine.settings import ServerSettings, TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.factory import make_system
from engine.translation.feed import feed_sentence
from tests.support.fakes import random_word
from tests.support.network.house_server import TOKEN

ROOT = Path(__file__).parents[3]
SETTINGS = TranslationSettings(policy="read:2")
TLS = ROOT / "tests/assets/tls"
MOST_FILES = 1024
"""Fewer than the connections of the flood, more than the doorkeeper lets wait."""
FLOOD, A_SECOND = 1500, 300
"""Connections in five seconds, or in longer where the computer is busy."""
TOKEN_OF_OTHERS = "a token that hostile people have"
MOST_MORE_BYTES = 100_000_000
"""Of memory, beyond what the server takes before anybody asks: 128 KiB and some buffers each."""

resource = pytest.importorskip("resource", reason="there is none on Windows")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


@pytest.fixture
def served(far_model, tmp_path, request):
    """Run ``surtitle serve`` with some further options; yield the process and its address."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{TOKEN}\n{TOKEN_OF_OTHERS}\n")
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--clients", "60"]
    command += ["--model", str(far_model.directory), "--device", "cpu", "--token-file", str(tokens)]
    command += getattr(request, "param", [])
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        told = next(line for line in server.stderr if "translates at" in line)
        yield server, re.search(r"https?://\S+:\d+", told)[0]
        server.terminate()


def most_bytes(process):
    """The most memory that a process ever had."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024


def n_open_files(process):
    return sum(1 for _ in Path(f"/proc/{process.pid}/fd").iterdir())


def asked(address, path):
    wanted = urllib.request.Request(address + path, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(wanted, timeout=300) as answer:
        return answer.read().decode()


def drawn(seed):
    rng = random.Random(seed)
    return [tuple(random_word(rng) for _ in range(rng.randint(2, 5))) for _ in range(5)]


def alone(model, sentences):
    system = make_system("auto", load_weights(model), SETTINGS, capacity=300, log=EventLog())
    captions = []
    for words in sentences:
        utterance = system.open()
        for changes in feed_sentence(utterance, Sentence(words, ended=True)):
            for _ in changes:
                pass
        captions.append(utterance.caption)
    return captions


def captioned(captioner, words):
    """Let a server caption a sentence, word by word."""
    utterance = captioner.open()
    for n_words in range(1, len(words) + 1):
        utterance.set_source(Sentence(words[:n_words], ended=n_words == len(words)))
        while utterance.advance() is not None:
            pass
    return utterance.caption


def by_a_new_desktop(settings, words):
    desktop = RemoteCaptioner(Service(settings), SETTINGS)
    try:
        return captioned(desktop, words)
    finally:
        desktop.close()


@pytest.mark.parametrize(
    "served", [[f"--certificate={TLS}/certificate.pem", f"--key={TLS}/key.pem"]], indirect=True
)
def test_connections_that_never_greet_take_no_file_of_an_honest_desktop_and_fill_no_terminal(
    served, far_model
):
    server, address = served
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))
    place, _, port = address.rpartition(":")
    honest = f"{place.replace('127.0.0.1', 'localhost')}:{port}"
    settings = ServerSettings(address=honest, token=TOKEN, certificate=TLS / "certificate.pem")
    sentences = drawn(5)
    wanted = alone(far_model, sentences)
    command = [sys.executable, ROOT / "tests/support/programs/never_greet.py", port]
    with subprocess.Popen(
        [*command, str(FLOOD), str(A_SECOND)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as flood:
        assert [by_a_new_desktop(settings, words) for words in sentences] == wanted
        seconds = float(flood.stdout.readline())
        n_files = n_open_files(server)
        assert by_a_new_desktop(settings, sentences[0]) == wanted[0]
        n_files = max(n_files, n_open_files(server))  # it had taken all of them by now
        flood.communicate()
    sys.stdout.write(f"{FLOOD / seconds:.0f} connections a second, {n_files} files\n")
    assert n_files < MOST_FILES // 2
    server.terminate()
    assert len(server.stderr.read().splitlines()[1:]) <= 1
    assert server.wait() == 0


def test_two_hundred_hostile_clients_cost_memory_that_is_bounded_and_a_good_one_no_caption(
    served, far_model
):
    server, address = served
    sentences = drawn(5)
    wanted = alone(far_model, sentences)
    good = RemoteCaptioner(Service(ServerSettings(address=address, token=TOKEN)), SETTINGS)
    assert captioned(good, sentences[0]) == wanted[0]
    before = most_bytes(server)
    program = ROOT / "tests/support/programs/hostile_clients.py"
    command = [sys.executable, program, address.rpartition(":")[2], TOKEN_OF_OTHERS]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    ) as hostile:
        assert hostile.stdout.readline() == "begun\n"
        found = [captioned(good, words) for words in sentences[1:]]
        seen = json.loads(hostile.communicate()[0])
    assert [wanted[0], *found] == wanted
    more = most_bytes(server) - before
    assert more < MOST_MORE_BYTES
    assert {"401", "429", "413"} <= seen.keys(), "they were there"
    assert asked(address, "/health") == "ok\n"
    figures = asked(address, "/metrics")
    assert "abcdefgh" not in figures
    good.close()
    assert server.poll() is None
