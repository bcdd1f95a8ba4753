"""Run a program in an empty home, and see what it leaves there and whom it calls."""

import functools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
OURS = (".cache/surtitle", ".config/surtitle", ".local/share/surtitle", ".local/state/surtitle")
LIST_OF_FONTS = ".cache/fontconfig"  # of the system's own library, which every program has
_CALLS = "trace=connect,sendto,sendmsg,sendmmsg"
_LOOK_UP = re.compile(r"htons\(53\)|systemd/resolve")
_INTERNET = re.compile(r"sa_family=AF_INET6?\b")
_HERE = re.compile(r'inet_addr\("127\.|"::1"|"::ffff:127\.|"0\.0\.0\.0"')


@dataclass(frozen=True)
class Visit:
    """What was said, which files are there now that are not ours, and who was called."""

    said: str
    files: list[str]
    calls: list[str]


@functools.cache
def sees_calls():
    """Return whether this computer lets us see the calls of a program."""
    if shutil.which("strace") is None:
        return False
    command = [*_watching("/dev/null"), "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _watching(file):
    return ["strace", "-f", "--seccomp-bpf", "-qq", "-e", _CALLS, "-e", "signal=none", "-o", file]


def watch(place, *arguments, said=""):
    """Run Python in an empty home below a folder; the environment has nothing else of ours."""
    home, temporary, work = (place / name for name in ("home", "temporary", "work"))
    for folder in (home, temporary, work):
        folder.mkdir()
    environment = {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
        "TMPDIR": str(temporary),
    }
    log = place / "calls"
    log.touch()
    done = subprocess.run(
        [*(_watching(log) if sees_calls() else []), sys.executable, *map(str, arguments)],
        cwd=work,
        env=environment,
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [path for folder in (home, temporary) for path in folder.rglob("*")]
    ours = tuple(home / name for name in (*OURS, LIST_OF_FONTS))
    allowed = {*ours, *(parent for folder in ours for parent in folder.parents)}
    files = [
        str(path.relative_to(place))
        for path in found
        if path not in allowed and not any(path.is_relative_to(folder) for folder in ours)
    ]
    return Visit(done.stdout, sorted(files), calls(log.read_text(errors="replace")))


def calls(log):
    """Return the look-ups, and what is said to other computers."""
    return [
        line
        for line in log.splitlines()
        if _LOOK_UP.search(line) or (_INTERNET.search(line) and not _HERE.search(line))
    ]
