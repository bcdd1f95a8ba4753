import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")

LOAD = """
import engine
import onnxruntime
onnxruntime.SessionOptions()
onnxruntime.get_available_providers()
"""
NAME_CACHES = """
import os, pathlib
from engine.libraries import keep_caches_in
keep_caches_in(pathlib.Path({folder!r}))
print(os.environ.get("MPLCONFIGDIR"), os.environ.get("TRITON_CACHE_DIR"))
"""
ASK_HUB = """
import engine
from huggingface_hub.utils import build_hf_headers
print(build_hf_headers(token=False)["user-agent"])
"""


def run(code, home):
    """What a Python in an empty home prints; the library is silent where CI is set."""
    unwanted = {"CI", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    wish = {"ORT_DISABLE_TELEMETRY": "0", "HF_HUB_DISABLE_TELEMETRY": "0", "DO_NOT_TRACK": "0"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=kept | wish | {"HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def test_the_runtime_leaves_no_identifier_and_no_event_in_a_home(tmp_path):
    run(LOAD, tmp_path)
    assert [*tmp_path.rglob("*")] == []


def test_a_hub_is_told_the_name_of_its_library_and_not_what_else_runs_here(tmp_path):
    (agent,) = run(ASK_HUB, tmp_path).splitlines()
    assert "torch" not in agent
    assert "session" not in agent


def test_caches_lie_in_one_folder_unless_the_person_named_another(tmp_path, monkeypatch):
    for name in ("MPLCONFIGDIR", "TRITON_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "cache"
    said = run(NAME_CACHES.format(folder=str(folder)), tmp_path)
    assert said.split() == [str(folder / "matplotlib"), str(folder / "triton")]
    monkeypatch.setenv("MPLCONFIGDIR", "/named")
    assert run(NAME_CACHES.format(folder=str(folder)), tmp_path).startswith("/named ")
