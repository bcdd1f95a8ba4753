import json
import random
from dataclasses import replace

import webvtt

from app.captions.cue_recorder import CueMarked
from app.captions.export import export
from app.captions.journal import read_session
from engine.events import CaptionChanged, SourceChanged, UtteranceEnded, UtteranceOpened
from engine.words import untimed
from tests.support.app.journals import cue, kept, written
from tests.support.utterances import FedRecord


def record_of(n_utterances):
    record = FedRecord()
    for number in range(n_utterances):
        record.follow(UtteranceOpened(utterance=number), number)
        record.follow(SourceChanged(utterance=number, words=untimed((f"w{number}",))), number)
        record.follow(CaptionChanged(utterance=number, kept=0, text=f"W{number}", n_read=1), number)
        record.follow(UtteranceEnded(utterance=number), number + 0.5)
    return record


def marked(cues):
    return [one.source for one in cues if one.marked]


def test_each_bookmark_is_kept_until_it_is_removed():
    rng = random.Random(0)
    record, wanted = record_of(20), set()
    for _ in range(100):
        number, is_set = rng.randrange(20), rng.random() < 0.6
        wanted = wanted | {number} if is_set else wanted - {number}
        assert record.mark(number, marked=is_set) == CueMarked(key=number, marked=is_set)
        assert marked(record.cues) == [f"w{number}" for number in sorted(wanted)]
    assert record.mark(77) is None
    record.clear()
    assert marked(record.cues) == []
    record.bring_back()
    assert marked(record.cues) == [f"w{number}" for number in sorted(wanted)]


def test_the_journal_tells_the_bookmarks_wherever_their_lines_stand(tmp_path):
    marks = [CueMarked(key=0), CueMarked(key=2), CueMarked(key=1), CueMarked(key=0, marked=False)]
    path = written(tmp_path, [kept(0), *marks, kept(1), kept(2), kept(2)], close=False)
    session = read_session(path)
    assert [one.marked for one in session.cues] == [False, True, True]
    assert session.damaged_lines == 0


def test_a_journal_of_the_version_with_one_bookmark_has_the_last_one(tmp_path):
    path = written(tmp_path, [kept(0), kept(1), CueMarked(key=0), CueMarked(key=1)])
    path.write_text(path.read_text().replace(', "marked": true', ""))
    assert [one.marked for one in read_session(path).cues] == [False, True]


def test_a_mark_of_what_is_not_in_the_journal_is_none(tmp_path):
    session = read_session(written(tmp_path, [kept(0), CueMarked(key=9)]))
    assert marked(session.cues) == []


def test_a_mark_is_exported_as_each_form_can(tmp_path):
    cues = [cue(0, "eins"), replace(cue(1, "zwei"), marked=True), cue(2, "drei")]
    for form in ("srt", "vtt", "txt", "jsonl"):
        assert export(tmp_path / f"it.{form}", cues, form) == 3
    assert "→" not in (tmp_path / "it.srt").read_text()  # players would show it
    vtt = (tmp_path / "it.vtt").read_text()
    assert vtt.count("NOTE marked") == 1
    assert vtt.index("eins") < vtt.index("NOTE") < vtt.index("zwei")
    assert [one.text for one in webvtt.read(tmp_path / "it.vtt")] == ["eins", "zwei", "drei"]
    assert (tmp_path / "it.txt").read_text() == "eins\n→ zwei\ndrei\n"
    lines = [json.loads(line) for line in (tmp_path / "it.jsonl").read_text().splitlines()]
    assert [line.get("marked") for line in lines] == [None, True, None]
