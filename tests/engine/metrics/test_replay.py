"""Test that a translation can be had from its event log alone."""

import json
import random

import pytest

from engine.errors import ScoringError
from engine.metrics.event_log import EventLog, read_events, replay
from engine.translation.feed import WARM_UP, feed_line
from tests.support.fakes import hashing_translator


def events(*rows, language="de"):
    """Rows written as ``(at_ms, event, fields)``, with a session before them."""
    session = {"event": "session", "schema": 2, "language": language, "at_s": 0.0}
    return [session, *({"event": e, "at_s": at / 1000, **fields} for at, e, fields in rows)]


def fed(n_rows, n_again=0, flops=0):
    return {"utterance": 1, "ids": [0] * n_rows, "n_again": n_again, "flops": flops}


def committed(text, utterance=1):
    return {"utterance": utterance, "text": text}


STORY = events(
    (0, "line", {"index": 3, "words": ["one", "two"]}),
    (10, "arrived", {"n_words": 1, "ended": False}),
    (11, "source", {"utterance": 1, "kept": 0, "words": ["one"], "ended": False}),
    (14, "fed", fed(4, flops=40)),
    (15, "written", {"utterance": 1, "id": 1}),
    (15, "committed", committed("ein ")),
    (17, "fed", fed(1, flops=10)),
    (18, "written", {"utterance": 1, "id": 2}),
    (18, "committed", committed("zw")),
    (19, "fed", fed(2, flops=20)),
    (19, "probe", {"utterance": 1, "n_rows": 2}),
    (110, "arrived", {"n_words": 2, "ended": True}),
    (120, "fed", fed(3, 2, flops=30)),
    (125, "written", {"utterance": 1, "id": 3}),
    (125, "committed", committed("ei")),
    (130, "cut", {"utterance": 1}),
    (131, "ended", {"utterance": 1, "peak_memory_bytes": 77}),
    (140, "line_ended", {"index": 3}),
)


def test_a_story_told_by_hand_is_understood():
    (told,) = replay(STORY)
    assert (told.index, told.source, told.hypothesis) == (3, ("one", "two"), "ein zwei")
    assert told.delays == (1, 2)
    assert told.emitted_ms == (5, 15)
    assert told.ms == (100, 30)
    assert told.token_ms == (5, 3, 15)
    assert (told.tokens_fed, told.tokens_recomputed, told.forwards, told.probes) == (10, 2, 4, 2)
    assert (told.flops, told.n_erased, told.n_cut, told.peak_memory_bytes) == (100, 0, 1, 77)


def test_where_no_blanks_are_written_every_character_is_a_unit():
    story = [{**row, "language": "zh"} if row["event"] == "session" else row for row in STORY]
    (told,) = replay(story)
    assert told.delays == (1, 1, 1, 1, 1, 2, 2)
    assert told.hypothesis == "ein zwei"


def test_however_a_caption_is_cut_into_pieces_its_units_and_text_are_the_same():
    rng = random.Random(0)
    for _ in range(200):
        whole = "".join(rng.choice("ab ") for _ in range(rng.randrange(20)))
        rows = [(0, "line", {"index": 0, "words": ["x"] * 20})]
        at = 0
        while at < len(whole):
            end = rng.randint(at, len(whole))
            rows.append((end, "arrived", {"n_words": end, "ended": False}))
            rows.append((end, "committed", committed(whole[at:end])))
            at = end
        (told,) = replay(events(*rows, (50, "line_ended", {"index": 0})))
        assert told.hypothesis == " ".join(whole.split())
        assert len(told.delays) == len(whole.split())
        assert list(told.delays) == sorted(told.delays)


def test_what_an_edit_took_away_is_counted():
    rows = events(
        (0, "line", {"index": 0, "words": ["one"]}),
        (1, "arrived", {"n_words": 1, "ended": True}),
        (2, "committed", committed("ein zwei drei")),
        (3, "rewound", {"utterance": 1, "kept": 6}),
        (4, "committed", committed("lf")),
        (5, "line_ended", {"index": 0}),
    )
    (told,) = replay(rows)
    assert told.hypothesis == "ein zwlf"
    assert told.n_erased == 1
    assert told.emitted_ms == (1, 3)


def test_utterances_of_a_line_follow_each_other_and_a_long_word_is_one_word():
    rows = events(
        (0, "line", {"index": 0, "words": ["one", "twooooo"]}),
        (1, "arrived", {"n_words": 1, "ended": True}),
        (2, "committed", committed("ein")),
        (3, "arrived", {"n_words": 2, "ended": False}),
        (5, "arrived", {"n_words": 2, "ended": True}),
        (9, "committed", committed("zwei", utterance=2)),
        (10, "line_ended", {"index": 0}),
    )
    (told,) = replay(rows)
    assert told.hypothesis == "ein zwei"
    assert told.delays == (1, 2)
    assert told.emitted_ms == (1, 6)
    assert told.ms == (2, 7)


def test_a_line_that_was_interrupted_does_not_count():
    for n_rows in range(1, len(STORY)):
        assert list(replay(STORY[:n_rows])) == []
        (again,) = replay([*STORY[:n_rows], *STORY[1:]])
        assert again == next(replay(STORY))


def test_a_warm_up_does_not_count():
    rows = [{**row, "index": WARM_UP} if "index" in row else row for row in STORY]
    assert list(replay(rows)) == []


def test_an_empty_line_gives_an_empty_translation():
    rows = events((0, "line", {"index": 0, "words": []}), (1, "line_ended", {"index": 0}))
    (told,) = replay(rows)
    assert (told.hypothesis, told.delays, told.ms) == ("", (), ())


@pytest.mark.parametrize("policy", ["read:1", "read:3", "wait:1", "wait:3", "offline"])
def test_the_log_of_the_engine_tells_what_the_engine_counted_and_wrote(tmp_path, policy):
    with EventLog(tmp_path / "log.jsonl") as log:
        system = hashing_translator(policy, log=log)
        opened = []
        open_utterance = system.open
        system.open = lambda: opened.append(open_utterance()) or opened[-1]
        feed_line(system, log, WARM_UP, "abc")
        before = (system.model.tokens_fed, system.model.forwards, system.model.flops)
        lines = ["abc de fgh a b c d", "", "a", "de de de abc"]
        for index, line in enumerate(lines):
            feed_line(system, log, index, line)
    told = list(replay(read_events(tmp_path / "log.jsonl")))
    assert [one.index for one in told] == [0, 1, 2, 3]
    assert [" ".join(one.source) for one in told] == lines
    captions = [" ".join(one.caption.split()) for one in opened[1:]]
    assert [one.hypothesis for one in told if one.source] == captions
    after = (system.model.tokens_fed, system.model.forwards, system.model.flops)
    counted = [(one.tokens_fed, one.forwards, one.flops) for one in told]
    assert tuple(map(sum, zip(*counted, strict=True))) == tuple(
        now - then for now, then in zip(after, before, strict=True)
    )
    for one in told:
        assert len(one.delays) == len(one.emitted_ms) == len(one.hypothesis.split())
        assert list(one.delays) == sorted(one.delays)
        assert len(one.ms) == len(one.source)
        assert all(
            0 <= ms <= one.ms[d - 1] for d, ms in zip(one.delays, one.emitted_ms, strict=True)
        )
        assert sum(one.token_ms) <= sum(one.ms) + 0.01
        if policy == "offline":
            assert set(one.delays) <= {len(one.source)}


def test_a_row_that_was_cut_by_a_kill_is_passed_over(tmp_path):
    path = tmp_path / "log.jsonl"
    text = "".join(json.dumps(row) + "\n" for row in STORY)
    for n_characters in (len(text) - 1, len(text) - 10):
        path.write_text(text[:n_characters])
        assert list(replay(read_events(path))) == []
    path.write_text(text)
    assert len(list(replay(read_events(path)))) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"nonsense\n", ":1 is no event"),
        (b"\xff\n", ":1 is no event"),
        (b"[1]\n", ":1 is no event"),
        (b'{"event": "session", "schema": 1}\n', "has schema 1, expected 2"),
        (None, "cannot be read"),
    ],
)
def test_a_log_that_is_none_is_told_in_one_sentence(tmp_path, content, words):
    path = tmp_path / "log.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ScoringError, match=words):
        list(read_events(path))
