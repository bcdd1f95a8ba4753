"""Replicas of Ray Serve, with Ray; skipped where it is not installed. Each takes a minute."""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.fakes import save_plain_model
from tests.support.network import watched
from tests.support.programs.run import ran

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
]

SERVE = """
import sys, urllib.request
from app import start
from app.cli import serve

def ask(who, settings, _ended):
    print(who, urllib.request.urlopen(f"http://127.0.0.1:{settings.port}/metrics").read())

serve._tell_all = ask
sys.argv = ["surtitle", "serve", "--ray", "--replicas", "1", "--port", "0", *sys.argv[1:]]
sys.exit(start.main())
"""


def test_no_word_is_lost_and_none_doubled_while_replicas_come_die_and_are_replaced(tmp_path):
    model, found = save_plain_model(tmp_path / "model"), tmp_path / "found"
    words = ["-m", "benchmarks.serving.replicas", "--model", str(model), "--out", str(found)]
    words += ["--pause", "0.2", "--kills", "2"]
    ended = ran(sys.executable, *words, surroundings={"OMP_NUM_THREADS": "1"})
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-6000:]
    result = json.loads(found.read_text())
    wrong = {name: result[name] for name in ("lost", "doubled", "changed", "others")}
    assert wrong == dict.fromkeys(wrong, 0)
    assert result["sessions_opened"] > result["desktops"], "sessions came to other replicas"
    happened = "two replicas", "a third replica", "a replica killed", "rolling restart"
    assert list(result["phases"]) == [*happened, "a node gone"]


@pytest.fixture
def short_path():
    """A folder whose name leaves room for those of Ray's sockets."""
    with tempfile.TemporaryDirectory(prefix="s") as folder:
        yield Path(folder)


def test_ray_calls_nobody_and_leaves_nothing_behind(short_path):
    model = save_plain_model(short_path / "model")
    visit = watched.watch(short_path, "-c", SERVE, "--model", str(model), "--device", "cpu")
    assert "tiny translates at http://127.0.0.1:" in visit.said
    assert "surtitle_sessions 0" in visit.said
    assert visit.files == []
    assert visit.calls == []
    assert [*(short_path / "home" / ".cache" / "surtitle").glob("r*")] == []
