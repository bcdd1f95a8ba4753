import os
import subprocess
import sys
import time

import pytest
from PySide6.QtNetwork import QLocalSocket

from app.config import single_instance
from app.config.single_instance import Reply, SingleInstance, send_command, socket_name
from tests.support.programs.run import ROOT, ran


@pytest.fixture
def instances(qapp, tmp_path):  # noqa: ARG001  sockets need it
    made = []

    def make(folder=tmp_path):
        made.append(SingleInstance(folder))
        return made[-1]

    yield make
    for one in made:
        one.close()


def python(code, *arguments):
    """Run code in another process, as a second start would."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


PATIENT = """
from app.config import single_instance
single_instance._PATIENCE_MS = 240_000  # the machine may be busy with other things
"""

TELL = f"""{PATIENT}
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.config.single_instance import send_command
core = QCoreApplication([])
print(send_command(Path(sys.argv[1]), sys.argv[2], lambda: None).name)
"""


def tell(qtbot, folder, command):
    """Tell a command as a second start does, while this one's event loop runs."""
    process = python(TELL, folder, command)
    qtbot.waitUntil(lambda: process.poll() is not None)
    reply = Reply[process.stdout.read().strip()]
    process.stdout.close()
    return reply


def test_the_first_is_the_one_and_the_second_is_not(instances, tmp_path):
    assert instances().claim()
    assert not instances().claim()
    assert instances(tmp_path / "other").claim()


def test_who_sends_no_end_of_line_is_cut_off(instances, qtbot, tmp_path):
    instances().claim()
    socket = QLocalSocket()
    socket.connectToServer(socket_name(tmp_path))
    qtbot.waitUntil(lambda: socket.state() == QLocalSocket.LocalSocketState.ConnectedState)
    socket.write(b"x" * 1000)
    qtbot.waitUntil(lambda: socket.state() == QLocalSocket.LocalSocketState.UnconnectedState)


def test_where_none_runs_a_command_is_not_taken(qapp, tmp_path):  # noqa: ARG001
    assert send_command(tmp_path, "pause", pytest.fail) == Reply.NONE_RUNS


STOP = """
import os, signal, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.config.single_instance import SingleInstance
core = QCoreApplication([])
one = SingleInstance(Path(sys.argv[1]))
print(one.claim(), flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.fixture
def stopped(tmp_path):
    """A Surtitle that runs and was stopped, as a frozen session stops it."""
    process = python(STOP, tmp_path)
    assert process.stdout.readline() == "True\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


needs_stop = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")


SECOND = """
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.config import single_instance
single_instance._SILENT_MS, single_instance._PATIENCE_MS = 500, 1_000

def look():
    box = QApplication.activeModalWidget()
    if box is None:
        return
    print(box.text())
    box.reject()

make = startup.QApplication
def made(arguments):
    qt = make(arguments)
    made.timer = QTimer(interval=10)
    made.timer.timeout.connect(look)
    made.timer.start()
    return qt
startup.QApplication = made
"""


@needs_stop
def test_a_second_start_says_that_the_first_does_not_answer(stopped, tmp_path):
    code = PROGRAM.replace("folder = ", SECOND + "folder = ")
    second = ran(sys.executable, "-c", code, tmp_path)
    assert second.returncode == 1
    silent, told = (line for line in second.stderr.splitlines() if line.startswith("surtitle: "))
    assert silent == (
        f"surtitle: Surtitle runs (process {stopped.pid}), but has not answered yet; waiting some "
        "seconds"
    )
    for said in (second.stdout, told):
        assert f"Surtitle runs (process {stopped.pid}), but does not answer" in said


CRASH = """
import os, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.config.single_instance import SingleInstance
core = QCoreApplication([])
one = SingleInstance(Path(sys.argv[1]))
print(one.claim(), flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_after_a_crash_another_one_runs_and_obeys_what_it_knows(instances, qtbot, tmp_path):
    process = python(CRASH, tmp_path)
    assert process.stdout.read() == "True\n"
    process.stdout.close()
    process.wait()
    one = instances()
    assert one.claim()
    with qtbot.waitSignal(one.command_came) as came:
        assert tell(qtbot, tmp_path, "pause") == Reply.OBEYED
    assert came.args == ["pause"]
    with qtbot.assertNotEmitted(one.command_came):
        assert tell(qtbot, tmp_path, "explode") == Reply.NOT_OBEYED


@pytest.mark.skipif(os.name == "nt", reason="asks for a folder that cannot be made")
def test_where_nothing_can_be_written_everybody_is_the_first(instances, tmp_path):
    (tmp_path / "file").write_text("")
    assert instances(tmp_path / "file" / "data").claim()


PROGRAM = """
import sys
from pathlib import Path
from app.controllers import startup
from tests.support.app.home import settings_in
from app.session.engine_bridge import EngineBridge
from tests.support.app.fake_engine import FakeEngine
folder = Path(sys.argv[1])
startup.EngineBridge = lambda: EngineBridge(FakeEngine().make)
settings = settings_in(folder, log_folder=folder / "logs", model=folder)
sys.exit(startup.run(settings))
"""


def wait_until(condition):
    limit_s = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < limit_s
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_second_start_raises_the_first_and_ends(qapp, tmp_path, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr(single_instance, "_PATIENCE_MS", 240_000)  # else it might toggle twice
    first = python(PROGRAM, tmp_path)
    wait_until(lambda: send_command(tmp_path, "toggle", lambda: None) == Reply.OBEYED)
    second = python(PATIENT + PROGRAM, tmp_path)
    assert second.wait(timeout=240) == 0
    second.stdout.close()
    assert first.poll() is None
    first.terminate()
    assert first.wait(timeout=240) == 0
    first.stdout.close()
    assert "visible = false" in (tmp_path / "settings.toml").read_text()
    assert (tmp_path / "logs" / "surtitle.log").exists()
    assert not (tmp_path / "logs" / "fault.log").exists()
