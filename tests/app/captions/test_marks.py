import json
import random
from dataclasses import replace

import webvtt

from app.captions.cue_recorder import CueKept, CueWithdrawn
from app.captions.export import export
from app.captions.journal import read_session
from engine.events import (
    CaptionChanged,
    FedWord,
    SourceChanged,
    UtteranceEnded,
    UtteranceOpened,
)
from tests.support.app.journals import cue, opened, written
from tests.support.utterances import FedRecord


def record_of(n_utterances):
    record = FedRecord()
    for number in range(n_utterances):
        record.follow(UtteranceOpened(utterance=number), number)
        record.follow(
            SourceChanged(utterance=number, words=(FedWord(f"w{number}", committed_at_s=number),)),
            number,
        )
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
        entry = record.mark(number, marked=is_set)
        assert (entry.key, entry.cue.marked) == (number, is_set)
        assert marked(record.cues) == [f"w{number}" for number in sorted(wanted)]
    assert record.mark(77, marked=True) is None
    record.clear()
    assert marked(record.cues) == []
    record.bring_back()
    assert marked(record.cues) == [f"w{number}" for number in sorted(wanted)]


def test_the_journal_tells_the_bookmarks(tmp_path):
    record = record_of(3)
    path = written(
        tmp_path, [*record.flush(9.0), *(record.mark(key, marked=True) for key in (0, 2))]
    )
    assert [(one.source, one.marked) for one in read_session(path).cues] == [
        ("w0", True),
        ("w2", True),
    ]


def test_a_bookmark_of_what_is_not_complete_is_kept_with_its_cue():
    record = FedRecord()
    opened(record, 4, "Good morning", "Guten Morgen", 2.0)
    assert record.mark(0, marked=True) is None
    assert record.follow(UtteranceEnded(utterance=4), 3.5).cue.marked
    assert marked(record.cues) == ["Good morning"]


def test_a_caption_that_comes_after_its_session_leaves_the_bookmark():
    record = record_of(1)
    record.further = ("fr",)
    record.mark(0, marked=True)
    record.utterances.take_up([replace(record.utterances.with_key(0), wanted=frozenset({"fr"}))])
    record.resume({}, 0.0)
    record.follow(CaptionChanged(utterance=0, language="fr", kept=0, text="un", n_read=1), 1.0)
    entry = record.follow(UtteranceEnded(utterance=0, language="fr"), 2.0)
    assert (entry.cue.marked, [one.text for one in entry.cue.further]) == (True, ["un"])


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


def test_what_the_user_removes_stays_away_until_it_is_put_back():
    record = record_of(3)
    removed = record.cues[1]
    assert record.remove(1) == CueWithdrawn(key=1)
    assert record.remove(1) is record.remove(9) is record.put_back(0) is None
    assert record.follow(CaptionChanged(utterance=1, kept=0, text="X", n_read=1), 9.0) is None
    assert record.follow(UtteranceEnded(utterance=1), 9.0) is None
    assert record.flush(9.0) == []
    assert [one.source for one in record.cues] == ["w0", "w2"]
    assert record.put_back(1) == CueKept(key=1, cue=removed)
    assert [one.source for one in record.cues] == ["w0", "w1", "w2"]
    assert record.put_back(1) is None


def test_an_earlier_session_is_continued_with_its_bookmarks_and_its_clock():
    record = record_of(2)
    record.remove(1)
    earlier = {7: cue(3), 8: replace(cue(5), marked=True)}
    entries = [CueKept(key=key, cue=one) for key, one in earlier.items()]
    assert record.resume(earlier, -100.0) == entries
    assert record.put_back(1) is None
    record.bring_back()
    record.follow(UtteranceOpened(utterance=9), 20.0)
    record.follow(SourceChanged(utterance=9, words=(FedWord("w9", committed_at_s=20.0),)), 20.0)
    record.follow(UtteranceEnded(utterance=9), 21.0)
    assert [(one.source, one.start_s) for one in record.cues] == [
        ("Good 3", 3),
        ("Good 5", 5),
        ("w9", 120.0),
    ]
    assert marked(record.cues) == ["Good 5"]


def test_a_further_language_is_kept_where_it_is_wanted_and_the_sentence_is_complete():
    record = record_of(1)
    french = CaptionChanged(utterance=0, language="fr", kept=0, text="un", n_read=1)
    assert record.follow(french, 1.0) is None
    ended = UtteranceEnded(utterance=0, language="fr")
    assert record.follow(ended, 2.0) is None
    record.further = ("fr",)
    entry = record.follow(ended, 2.0)
    assert [one.text for one in entry.cue.further] == ["un"]
    record.follow(UtteranceOpened(utterance=1), 3.0)
    assert record.follow(UtteranceEnded(utterance=1, language="fr"), 4.0) is None
