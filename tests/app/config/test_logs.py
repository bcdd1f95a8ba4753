import logging
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import qWarning

from app.config import logs
from app.config.logs import Logs
from app.config.preferences import Preferences
from app.dialogs.help import diagnostics
from tests.support.app.preferences import CHOSEN
from tests.support.programs.run import ran


def test_what_is_logged_stands_in_the_file(tmp_path):
    log = Logs(tmp_path / "logs")
    logging.getLogger("surtitle.test").warning("the device is gone")
    log.close()
    logging.getLogger("surtitle.test").warning("nobody listens")
    text = (tmp_path / "logs" / "surtitle.log").read_text()
    assert "WARNING surtitle.test: the device is gone" in text
    assert "nobody listens" not in text


def test_logs_never_grow_beyond_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "BYTES", 1000)
    log = Logs(tmp_path)
    for number in range(300):
        logging.getLogger("surtitle.test").warning("line %d", number)
    log.close()
    sizes = [path.stat().st_size for path in tmp_path.glob("surtitle.log*")]
    assert len(sizes) == logs.FILES
    assert max(sizes) <= 1000


def test_what_qt_says_goes_into_the_log(tmp_path):
    log = Logs(tmp_path)
    qWarning("a widget went wrong")
    log.close()
    assert "qt.default: a widget went wrong" in (tmp_path / "surtitle.log").read_text()


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    Logs(tmp_path / "file" / "logs").close()
    assert caplog.text.count("there are no logs") == 1
    told = logging.lastResort.format(caplog.records[0])
    assert told.startswith("surtitle: there are no logs in ")


def a_pipe(path, _other):
    os.mkfifo(path)


def a_link(path, other):
    path.symlink_to(other)


def a_folder(path, _other):
    (path / "full").mkdir(parents=True)


@pytest.mark.skipif(sys.platform == "win32", reason="has no pipes under a name")
@pytest.mark.parametrize("make", [a_pipe, a_link, a_folder])
@pytest.mark.parametrize("name", ["surtitle.log", "fault.log"])
def test_what_is_no_plain_file_is_left_alone_and_the_other_file_is_written(
    tmp_path, caplog, name, make
):
    folder, other = tmp_path / "logs", tmp_path / "diary"
    folder.mkdir()
    other.write_text("mine")
    make(folder / name, other)
    log = Logs(folder)
    (sentence,) = [record.message for record in caplog.records if record.name == logs.__name__]
    assert sentence == (
        f"there are no logs in {folder / name}, which cannot be written: it is no plain file"
    )
    logging.getLogger("surtitle.test").warning("a line")
    assert (folder / "surtitle.log").is_file() == (name == "fault.log" or make is a_link)
    assert not log.crashed
    log.close()
    assert other.read_text() == "mine"
    assert (folder / name).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="has no pipes under a name")
def test_a_trace_that_is_a_pipe_or_has_gigabytes_is_no_trouble(qapp, tmp_path):  # noqa: ARG001
    place = tmp_path / "fault-last.log"
    os.mkfifo(place)
    assert diagnostics(Preferences(), {}, tmp_path).endswith("no crash is known\n")
    place.unlink()
    with place.open("wb") as file:
        file.write(b"Fatal Python error\n")
        file.truncate(1 << 36)  # takes no room on the disk
    assert "Fatal Python error" in diagnostics(Preferences(), {}, tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="has no modes")
def test_logs_are_readable_by_their_owner_alone(tmp_path):
    log = Logs(tmp_path)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    log.close()


CRASH = """
import sys, faulthandler
from pathlib import Path
from app.config.logs import Logs
log = Logs(Path(sys.argv[1]))
faulthandler._sigsegv()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a signal")
def test_a_crash_leaves_its_trace_for_the_next_start(tmp_path):
    crashed = ran(sys.executable, "-c", CRASH, str(tmp_path), text=False)
    assert crashed.returncode < 0
    log = Logs(tmp_path)
    assert log.crashed
    log.close()
    text = diagnostics(Preferences(), {}, tmp_path)
    assert "Segmentation fault" in text
    again = Logs(tmp_path)
    assert not again.crashed
    again.close()


def test_diagnostics_tell_choices_and_no_paths(qapp, tmp_path):  # noqa: ARG001  screens need it
    private = replace(CHOSEN, model=Path("/home/maria/model"))
    (tmp_path / "fault-last.log").write_text(
        'Fatal Python error\n  File "/home/maria/surtitle/app/overlay.py", line 3 in paint\n'
    )
    text = diagnostics(private, {"state": "small, loaded"}, tmp_path)
    assert "maria" not in text
    assert 'File "overlay.py", line 3 in paint' in text
    assert "model = set" in text
    assert "captions.point_size = 40" in text
    assert "captions.name_me = set" in text
    assert "Ada" not in text
    assert "state: small, loaded" in text
