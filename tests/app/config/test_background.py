import os
import sys
import threading

import pytest

from app.config.background import BackgroundQueue, ChildCommand, own_command
from engine.errors import SurtitleError


@pytest.fixture
def jobs():
    told = []
    queue = BackgroundQueue(told.append)
    queue.told = told
    yield queue
    queue.close()


def test_jobs_are_done_one_after_the_other_on_another_thread(jobs):
    done, threads = [], set()
    for number in range(20):
        jobs.run(lambda number=number: done.append(number))
        jobs.run(lambda: threads.add(threading.current_thread()))
    jobs.close()
    assert done == list(range(20))
    assert len(threads) == 1
    assert threading.current_thread() not in threads
    assert jobs.told == []


def test_a_job_that_fails_is_one_sentence_and_the_others_are_done(jobs, caplog):
    def refuse():
        msg = "the disk is full"
        raise SurtitleError(msg)

    def break_down():
        msg = "by nothing"
        raise ZeroDivisionError(msg)

    done = []
    for job in (refuse, break_down, lambda: done.append(True)):
        jobs.run(job)
    jobs.close()
    assert jobs.told[0] == "the disk is full"
    assert "ZeroDivisionError: by nothing" in jobs.told[1]
    assert done == [True]
    assert [record.message for record in caplog.records] == ["a job failed"]
    caplog.clear()


def test_after_the_end_no_job_begins_a_thread(jobs):
    done = []
    for number in range(2):
        jobs.run(lambda number=number: done.append(number))
        jobs.close()
    assert done == [0]
    assert jobs._thread is None


pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture
def child():
    children = []

    def make(code):
        command = ChildCommand(program=(sys.executable, "-c", code))
        command.lines, command.ends = [], []
        command.line_came.connect(command.lines.append)
        command.ended.connect(command.ends.append)
        children.append(command)
        return command

    yield make
    for one in children:
        one.cancel()


def wait(qtbot, command):
    qtbot.waitUntil(lambda: bool(command.ends))
    assert not command.is_running
    return command.ends


def test_lines_come_one_by_one_and_what_is_no_object_is_passed_over(qtbot, child):
    command = child(
        "import sys\nfor text in ('noise', '[1]', '{\"a\": 1}'): print(text)\n"
        "sys.stdout.write('{\"b\":'); sys.stdout.flush(); print(' 2}'); print('{\"cut\":', end='')"
    )
    command.run([], 60)
    assert wait(qtbot, command) == [""]
    assert command.lines == [{"a": 1}, {"b": 2}]


def test_a_hang_is_ended_and_is_one_sentence(qtbot, child):
    command = child(
        "import os, time; print('{\"pid\": %d}' % os.getpid(), flush=True); time.sleep(99)"
    )
    command.run([], 60)
    qtbot.waitUntil(lambda: bool(command.lines))
    command._give_up()
    assert "did not answer within 60 seconds" in wait(qtbot, command)[0]
    with pytest.raises(ProcessLookupError):
        os.kill(command.lines[0]["pid"], 0)


def test_an_error_is_told_in_the_last_words_of_the_child(qtbot, child):
    command = child("import sys; sys.stderr.write('noise\\nno such model\\n'); sys.exit(1)")
    command.run([], 60)
    assert wait(qtbot, command) == ["The check ended with an error: no such model"]


def test_a_program_that_is_not_there_is_one_sentence(qtbot):
    command = ChildCommand(program=("/nowhere/at/all",))
    with qtbot.waitSignal(command.ended) as ended:
        command.run([], 60)
    assert ended.args == ["The check could not be started"]


def test_a_second_run_takes_the_place_of_the_first(qtbot, child):
    command = child("import sys, time; time.sleep(float(sys.argv[1])); print('{\"came\": 1}')")
    command.run(["99"], 100)
    command.run(["0"], 100)
    assert wait(qtbot, command) == [""]
    assert command.lines == [{"came": 1}]


def test_our_own_command_finds_this_very_program(qtbot, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ChildCommand(program=own_command())
    with qtbot.waitSignal(command.ended) as ended:
        command.run(["--version"], 60)
    assert ended.args == [""]
