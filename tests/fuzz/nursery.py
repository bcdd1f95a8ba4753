"""A process that has imported all that areas need; each run of cases is a copy of it.

Imports take longer than the cases of ``make test``, so they are done once. A copy (fork) shares
nothing with the next one but the imported modules: its guard, its limits, its death are its own.
"""

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_FOLDERS = ("home", "tmp", "made", "case")


class Nursery:
    """Run cases of areas, each time in a process of their own; a context.

    Attributes:
        words: what the last of these processes wrote to standard error, in bytes of its end.
        status: how it ended: 0, another exit status, or minus the signal that ended it.
    """

    def __init__(self, areas):
        self._areas = areas
        self.words, self.status = "", 0

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="surtitle-fuzz-")
        self._said = tempfile.TemporaryFile()
        home = Path(self._folder.name)
        _make_folders(home)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.nursery", str(home), *self._areas],
            cwd=_ROOT, env=_surroundings(home),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
        )  # fmt: skip
        return self

    def __exit__(self, *_error):
        with self._process:
            self._process.stdin.close()
        self._said.close()
        self._folder.cleanup()

    def reports(self, *arguments):
        """Run ``tests.fuzz.run.run_cases`` with arguments; yield what it tells, as it tells it."""
        before = os.fstat(self._said.fileno()).st_size
        self._process.stdin.write(json.dumps(arguments).encode() + b"\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            told = json.loads(line)
            if "ended" in told:
                self.status = told["ended"]
                break
            yield told
        else:
            self.status = self._process.wait() or 1
        n_bytes = os.fstat(self._said.fileno()).st_size - before
        said = os.pread(self._said.fileno(), n_bytes, before)  # the place is the processes' own
        self.words = said.decode(errors="replace")[-3000:]


def _surroundings(home):
    """Let everything that a library keeps for a person lie in a folder of ours."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return kept | {
        "HOME": str(home / "home"), "HF_HOME": str(home / "home" / "hf"),
        "TMPDIR": str(home / "tmp"), "QT_QPA_PLATFORM": "offscreen",
        "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip


def _make_folders(home):
    for name in _FOLDERS:
        shutil.rmtree(home / name, ignore_errors=True)
    for name in _FOLDERS[:-1]:
        (home / name).mkdir()
    (home / "home" / ".cache" / "surtitle").mkdir(parents=True)  # as a start makes it


def main(home, *areas):
    """Become a process that runs cases for each line of standard input; tell on standard output."""
    asked = os.fdopen(os.dup(0), encoding="utf-8")
    reports = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no report
    with tempfile.TemporaryFile() as answers:
        answers.write(b"yes\n" * 100)  # what a library must never read
        answers.flush()
        os.dup2(answers.fileno(), 0)
    for area in areas:
        import_module(f"tests.fuzz.{area}")
    run_cases = import_module("tests.fuzz.run").run_cases
    gc.freeze()

    def tell(report):
        reports.write(json.dumps(report) + "\n")

    for line in asked:
        _make_folders(Path(home))
        os.lseek(0, 0, os.SEEK_SET)
        child = os.fork()
        if not child:
            run_cases(Path(home), tell, *json.loads(line))
            return  # and end as every program does
        tell({"ended": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])})


if __name__ == "__main__":
    main(*sys.argv[1:])
