import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from app.config.process import leaving_at_once, name_temporary_folder, own_stdin
from tests.support.programs.run import ran


def run(code, stdin=b""):
    return ran(sys.executable, "-c", code, text=False, input=stdin)


def test_libraries_and_children_find_standard_input_at_its_end_and_we_lose_no_line():
    code = """
import os, subprocess, sys
from app.config.process import own_stdin
with own_stdin() as ours:
    try: print(input())
    except EOFError: print("ended")
    print(os.read(0, 10), flush=True)
    subprocess.run(["cat"])
    print(ours.readline(), os.get_inheritable(ours.fileno()))
print(sys.stdin.readline(), end="")
"""
    done = run(code, b"Yes\n")
    assert done.stdout.decode().splitlines() == ["ended", "b''", "b'Yes\\n' False"]
    assert done.stderr == b""


def test_standard_input_that_is_closed_or_not_the_processs_own_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with own_stdin() as ours:
        assert ours is None
    with Path(__file__).open(encoding="utf-8") as other:
        monkeypatch.setattr(sys, "stdin", other)
        before = os.fstat(0)
        with own_stdin() as ours:
            assert os.path.samestat(os.fstat(0), before)
            assert sys.stdin.read() == ""
            assert ours.readline().startswith(b"import")
        assert sys.stdin is other


@pytest.mark.parametrize("farewell", ["print('bye', flush=True)", "1 / 0"])
def test_ctrl_c_that_is_swallowed_ends_the_process_all_the_same(farewell):
    code = f"""
import os, signal
from app.config.process import leaving_at_once
with leaving_at_once(lambda: {farewell}):
    try: os.kill(os.getpid(), signal.SIGINT)
    except BaseException: pass
    print("went on", flush=True)
"""
    done = run(code)
    assert done.returncode == 130
    assert done.stdout == (b"bye\n" if "bye" in farewell else b"")
    assert done.stderr == b""


def test_the_program_can_be_interrupted_before_it_is_imported():
    code = """
import os, signal, sys
class Slow:
    def find_spec(self, name, *_):
        if name == "app.__main__":
            try: os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt: raise ImportError("could not import")
sys.meta_path.insert(0, Slow())
from app.start import main
main()
"""
    done = run(code)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_ctrl_c_while_the_process_ends_is_no_traceback():
    code = """
import os, signal, sys, types
program = types.ModuleType("app.__main__")
program.main = lambda: 0
sys.modules["app.__main__"] = program
from app.start import main
main()
os.kill(os.getpid(), signal.SIGINT)
print("went on")
"""
    done = run(code)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_ctrl_c_that_somebody_else_handles_is_theirs():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with leaving_at_once():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_libraries_that_ask_for_the_name_of_a_temporary_folder_get_one(monkeypatch):
    def none():
        raise FileNotFoundError

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", none)
    with pytest.raises(FileNotFoundError):
        tempfile.gettempdir()
    name_temporary_folder()
    assert tempfile.gettempdir() == f"{os.sep}tmp"
