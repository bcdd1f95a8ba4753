"""The window, the commands and a training in an empty home: no call, and no file elsewhere."""

import os
import shutil
import sys

import pytest

from tests.support.fakes import save_tiny_model
from tests.support.network import here_only, watched
from tests.support.sounds import white_noise, write_sound

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="folders as on Linux, and strace"),
]

COMMANDS = """
import sys
from app import start
for words in {commands!r}:
    sys.argv = ["surtitle", *words]
    sys.stdout.write(f"--- {{words[0]}}\\n")
    if exit_code := start.main():
        sys.exit(f"{{words}} ended with {{exit_code}}")
"""
TRAINING = """
import sys
from training.__main__ import main
sys.exit(main({pretrain!r}) or main({evaluate!r}))
"""
CALLS = """
import socket
try:
    socket.getaddrinfo("surtitle.invalid", 80)
except OSError:
    pass
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))
open("../home/elsewhere", "w").close()
"""
PAIRS = [("good morning", "guten Morgen", "1 2"), ("where is it", "wo ist es", "1 2 3")]
SMALL = (
    "--hidden 64 --layers 1 --heads 2 --feed-forward 64 --vocabulary 320 --batch-tokens 200 "
    "--epochs 1 --device cpu --precision fp32"
).split()


def window(place):
    return watched.watch(place, watched.ROOT / "tests/support/programs/first_caption_program.py")


def commands(place):
    text, sound = place / "text.en", place / "noise.wav"
    text.write_text("Good morning.\n")
    write_sound(sound, white_noise(1))
    whisper, streaming = (
        watched.ROOT / "tests/assets" / name for name in ("tiny-whisper", "tiny-streaming")
    )
    all_commands = [
        ["translate", str(text)],
        ["translate", str(text), "--model", str(save_tiny_model(place / "model"))],
        ["adapters", "list"],
        ["check"],
        ["listen", "--source", str(sound), "--asr", str(whisper)],
        ["listen", "--source", str(sound), "--asr", str(streaming)],
    ]
    return watched.watch(place, "-c", COMMANDS.format(commands=all_commands))


def training(place):
    table, source, reference = (place / name for name in ("de.tsv", "test.en", "test.de"))
    table.write_text("".join(f"{one}\t{other}\tx\t{needs}\n" for one, other, needs in PAIRS * 8))
    source.write_text(f"{PAIRS[0][0]}\n")
    reference.write_text(f"{PAIRS[0][1]}\n")
    out = ["--out", "model", *SMALL]
    files = ["--source", str(source), "--reference", str(reference), "--to", "de", "--workers", "1"]
    code = TRAINING.format(
        pretrain=["pretrain", "--data", f"de={table}", *out],
        evaluate=["evaluate", *files, "--policies", "read:3", "--out", "run"],
    )
    return watched.watch(place, "-c", code)


@pytest.fixture(scope="module", params=[window, commands, training])
def visit(request, tmp_path_factory):
    """One of the programs, run once."""
    return request.param(tmp_path_factory.mktemp(request.param.__name__))


@pytest.fixture
def seeing():
    """Skip where nobody may look."""
    if not watched.sees_calls():
        assert shutil.which("strace") or os.environ.get("CI") != "true"
        pytest.skip("strace is missing, or may not watch here")


def test_no_file_lies_outside_our_folders(visit):
    assert visit.said
    assert visit.files == []


@pytest.mark.usefixtures("seeing")
def test_nobody_is_looked_up_or_called(visit):
    assert visit.calls == []


@pytest.mark.usefixtures("seeing")
def test_a_look_up_a_call_and_a_file_would_be_seen(tmp_path):
    seen = watched.watch(tmp_path, "-c", CALLS)
    assert seen.files == ["home/elsewhere"]
    assert any("htons(53)" in call or "systemd/resolve" in call for call in seen.calls)
    assert any("192.0.2.1" in call for call in seen.calls)


def test_the_tests_themselves_call_no_other_computer():
    for host in ("huggingface.co", b"huggingface.co", "192.0.2.1", "2001:db8::1"):
        assert here_only.elsewhere("socket.getaddrinfo", (host, 443, 0, 0, 0))
    assert here_only.elsewhere("socket.connect", (None, ("192.0.2.1", 443))) == "192.0.2.1"
    for host in ("localhost", "127.0.0.1", "::1", None, ""):
        assert not here_only.elsewhere("socket.getaddrinfo", (host, 443, 0, 0, 0))
    assert not here_only.elsewhere("socket.connect", (None, "/run/pulse/native"))
