import threading

import pytest

from app.config.system.background import BackgroundQueue
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


def test_what_has_not_started_is_done_before_the_end(jobs):
    may_end, begun, done = threading.Event(), threading.Event(), []
    jobs.run(lambda: (begun.set(), may_end.wait(60)))
    assert begun.wait(60)
    for number in range(3):
        jobs.run(lambda number=number: done.append(number))
    may_end.set()
    jobs.close()
    assert done == [0, 1, 2]


def test_after_the_end_it_can_begin_again(jobs):
    done = []
    for number in range(2):
        jobs.run(lambda number=number: done.append(number))
        jobs.close()
    assert done == [0, 1]
