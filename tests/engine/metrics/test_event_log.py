import json

import pytest

from engine.metrics.event_log import EventLog
from tests.support.hand_clock import HandClock


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_an_event_is_one_json_line_with_the_seconds_since_the_log_began(tmp_path):
    clock = HandClock(100.0)
    with EventLog(tmp_path / "log.jsonl", clock) as log:
        clock.now_s = 100.25
        log.write("source", words=["a", "b"], ended=False)
        clock.now_s = 101.5
        log.write("fed", ids=[1, 2], cached_rows=2)
    assert lines(tmp_path / "log.jsonl") == [
        {"event": "source", "at_s": 0.25, "words": ["a", "b"], "ended": False},
        {"event": "fed", "at_s": 1.5, "ids": [1, 2], "cached_rows": 2},
    ]


def test_a_line_is_on_disk_as_soon_as_it_is_written(tmp_path):
    with EventLog(tmp_path / "log.jsonl") as log:
        for n_lines in range(1, 4):
            log.write("probe", utterance=n_lines)
            assert len(lines(tmp_path / "log.jsonl")) == n_lines


def test_any_text_stays_on_its_line(tmp_path):
    text = 'a\nb\u2028c\x00d"e\\ 漢🙂 \u202eabc'
    with EventLog(tmp_path / "log.jsonl") as log:
        log.write("written", text=text)
    content = (tmp_path / "log.jsonl").read_text(encoding="utf-8")
    assert content.count("\n") == 1
    assert json.loads(content)["text"] == text


def test_writing_after_the_end_does_nothing(tmp_path):
    log = EventLog(tmp_path / "log.jsonl")
    log.write("probe", utterance=1)
    log.close()
    log.close()
    log.write("probe", utterance=2)
    assert len(lines(tmp_path / "log.jsonl")) == 1


def test_an_error_closes_the_log(tmp_path):
    log = EventLog(tmp_path / "log.jsonl")
    with pytest.raises(RuntimeError), log:
        raise RuntimeError
    log.write("probe", utterance=1)
    assert lines(tmp_path / "log.jsonl") == []
