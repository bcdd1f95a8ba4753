"""Watch ``surtitle translate``: its first caption, and its memory after an hour of talk.

The program runs in a process of its own, with a file of our sentences as its text. The hour is
simulated: the words of an hour of speech, one every 0.4 s, are fed as fast as they are translated.
"""

import importlib.metadata
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import replace
from pathlib import Path

from benchmarks.talk import talk
from engine.models.model_card import read_card

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
WORDS_OF_AN_HOUR = 9000
_TEXT = "Good morning, how are you today?"
_WATCHED = """
import json, sys, time
from app.__main__ import main
def mib(key):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024
write, seen = sys.stdout.buffer.write, []
class Out:
    def write(self, data):
        if data.strip():
            seen.append((time.monotonic(), mib("VmRSS")))
        return write(data)
    def __getattr__(self, name):
        return getattr(raw, name)
raw, sys.stdout = sys.stdout.buffer, type("Text", (), {"buffer": Out(), "isatty": lambda _: False,
    "flush": lambda _: None, "write": lambda _, text: None, "reconfigure": lambda *_, **__: None})()
code = main(["translate", "--live", "--model", sys.argv[1], sys.argv[2]])
tenth = seen[len(seen) // 10][1]
sys.stderr.write(f"\\n{seen[0][0]} {seen[0][1]} {tenth} {mib('VmRSS')} {mib('VmHWM')} {code}\\n")
"""


def first_caption(folder: Path, runs: int) -> dict[str, float]:
    """Start the program so many times; medians."""
    found = [_watch(folder, f"{_TEXT}\n") for _ in range(runs)]
    return {
        "first caption s": statistics.median(one[0] for one in found),
        "MiB at the first caption": statistics.median(one[1] for one in found),
        "MiB at most, one line": statistics.median(one[4] for one in found),
    }


def hour(folder: Path, n_words: int) -> dict[str, float]:
    """Translate a long talk; MiB."""
    lines = re.sub(r"(?<=[.?!]) ", "\n", " ".join(talk(n_words)))
    _, _, tenth, end, most = _watch(folder, f"{lines}\n")
    return {
        f"MiB after a tenth of {n_words} words": tenth,
        f"MiB after {n_words} words": end,
        f"MiB at most, {n_words} words": most,
    }


def _watch(folder: Path, text: str) -> tuple[float, ...]:
    """Run the program: seconds to the first caption; MiB then, after a tenth, at the end, most."""
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "text")
        file.write_text(text, encoding="utf-8")
        start_s = time.monotonic()  # the same clock in every process of a machine
        done = subprocess.run(
            [sys.executable, "-c", _WATCHED, str(folder), str(file)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    at_s, *mib, code = map(float, done.stderr.split()[-6:])
    if code:
        sys.exit(f"surtitle translate ended with {code:.0f}: {done.stderr}")
    return at_s - start_s, *mib


def installed_bytes(extra: str) -> float:
    """Count the bytes of the packages that pyproject.toml requires, with an extra or without."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    waiting = [*project["dependencies"], *(optional[extra] if extra else ())]
    sizes = dict[str, int]()
    while waiting:
        line = waiting.pop()
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        if name in sizes or "extra ==" in line:
            continue
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:  # for another system
            continue
        files = (Path(str(file.locate())) for file in package.files or ())
        sizes[name] = sum(file.stat().st_size for file in files if file.is_file())
        waiting += package.requires or ()
    return sum(sizes.values())


def without_graph(folder: Path, home: Path) -> Path:
    """Copy a model folder, so that torch computes it."""
    copy = home / folder.name
    shutil.copytree(folder, copy)
    replace(read_card(copy), graph=None).save(copy)
    return copy
