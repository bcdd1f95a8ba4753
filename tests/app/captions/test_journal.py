import errno
import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.captions.cue_recorder import CueKept, CueWithdrawn
from app.captions.cues import LATEST_S, Cue, FurtherText
from app.captions.journal import (
    SessionJournal,
    close_session,
    delete_old,
    delete_session,
    past_sessions,
    read_session,
    unfinished_sessions,
)
from app.config.text_io import TextError
from engine.events import (
    CaptionChanged,
    Confidence,
    FedWord,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from tests.support.app.journals import STARTED, cue, kept, opened, written
from tests.support.utterances import FedRecord

FRENCH = FurtherText(language="fr", text="Bonjour", pieces=((7, 1, 0.5),))


def test_a_session_is_read_as_it_was_written(tmp_path):
    entries = [
        kept(0, further=(FRENCH,)),
        kept(1),
        kept(2, confidence=0.25, doubtful=True),
        kept(3, confidence=0.75),
    ]
    path = written(tmp_path, entries)
    session = read_session(path)
    assert path.read_text("utf-8").count("🙂") == 4, "people can read it too"
    assert session.cues == tuple(entry.cue for entry in entries)
    assert session.started == STARTED
    assert session.ended_well
    assert session.damaged_lines == 0


def damaged(path, **values):
    """Put other values into the first cue of a journal, and read that."""
    first, line, *others = path.read_text().split("\n")
    path.write_text("\n".join([first, json.dumps(json.loads(line) | values), *others]))
    session = read_session(path)
    assert session.damaged_lines == 0
    return session.cues[0]


NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("pieces", [7, "abc", [7], [["a", 1, 0.25]], [[5, 1]], [[5, 1, 0.25], [4, 2, 0.5]]]),
        ("pieces", [[[5, 1, -1.0]], [[5, 1, 9.0]], [[5, -1, 0.25]], [[5, 1, NOT_A_NUMBER]]]),
        ("confidence", ["0.5", -0.1, 1.1, NOT_A_NUMBER, 10**400, None, [1]]),
        ("left_out_s", ["40", -1, 1e300, None, [40]]),
    ],
)
def test_nonsense_in_a_field_is_left_out_and_the_cue_stays(tmp_path, name, values):
    for value in values:
        assert damaged(written(tmp_path, [kept(0)]), **{name: value}) == cue(0)


def test_nonsense_among_further_languages_is_left_out(tmp_path):
    path = written(tmp_path, [kept(0)])
    nonsense = [7, {"language": "fr"}, {"language": "fr", "text": "oui", "pieces": "x"}] * 9
    further = damaged(path, further=nonsense).further
    assert {one.text for one in further} == {"oui"}
    assert len(further) < 9


def test_an_edited_cue_is_its_last_writing_and_a_withdrawn_one_is_gone(tmp_path):
    path = written(tmp_path, [kept(0), kept(1), kept(0, text="Auto"), CueWithdrawn(key=1)])
    assert read_session(path).cues == (cue(0, "Auto"),)


def test_nothing_is_written_for_a_session_without_a_cue(tmp_path):
    SessionJournal(tmp_path / "deep", STARTED).close()
    assert not (tmp_path / "deep").exists()


def test_two_sessions_of_one_second_have_a_folder_each(tmp_path):
    paths = {written(tmp_path, [kept(number)]) for number in (0, 9, 4)}
    assert len(paths) == 3
    firsts = [session.cues[0].start_s for session in past_sessions(tmp_path)]
    assert firsts == [9, 4, 0], "the newest first, by the first caption"


def test_a_journal_is_for_its_owner_alone(tmp_path):
    path = written(tmp_path / "sessions", [kept(0)])
    for place, mode in ((path, 0o600), (path.parent, 0o700), (path.parent.parent, 0o700)):
        assert place.stat().st_mode & 0o777 == mode


def test_however_it_is_cut_off_what_was_whole_is_read(tmp_path):
    path = written(tmp_path, [kept(number) for number in range(6)], close=False)
    whole = path.read_bytes()
    ends = [place for place, byte in enumerate(whole) if byte == ord("\n")]
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        session = read_session(path)
        n_whole = sum(end < length for end in ends)
        # The last line counts without its end, too, where it is complete.
        assert len(session.cues) in {max(0, n_whole - 1), n_whole}
        assert session.cues == tuple(cue(number) for number in range(len(session.cues)))
        assert session.damaged_lines <= 1
        assert not session.ended_well


def test_of_a_line_and_a_journal_that_never_end_so_much_is_read_and_no_more(tmp_path, monkeypatch):
    path = written(tmp_path, [kept(0), kept(1)])
    begin, first, *rest = path.read_bytes().splitlines(keepends=True)
    monkeypatch.setattr("app.captions.journal._LONGEST_LINE", 1000)
    path.write_bytes(b"".join([begin, b"x" * 3500 + b"\n", first, *rest]))
    session = read_session(path)
    assert (session.cues, session.damaged_lines) == ((cue(0), cue(1)), 1)
    monkeypatch.setattr("app.captions.journal._MOST_BYTES", len(begin) + 3502)
    session = read_session(path)
    assert session.cues == (cue(0),)
    written(tmp_path, [kept(0)], replaced=session)
    assert path.exists(), "more is in it than was read"


@pytest.mark.parametrize(("n_damaged", "stays"), [(0, False), (1, False), (2, True)])
def test_a_journal_that_another_continues_stays_if_more_is_damaged_than_a_crash_does(
    tmp_path, n_damaged, stays
):
    path = written(tmp_path, [kept(0)], close=False)
    path.write_bytes(path.read_bytes() + b"{\n" * n_damaged)
    written(tmp_path, [kept(0)], replaced=read_session(path))
    assert path.exists() is stays


def test_only_a_session_that_did_not_end_well_is_unfinished(tmp_path):
    written(tmp_path, [kept(0)])
    path = written(tmp_path, [kept(1)], close=False)
    (unfinished,) = unfinished_sessions(tmp_path)
    assert unfinished.path == path
    assert len(past_sessions(tmp_path)) == 2


def test_what_was_cut_in_the_middle_of_a_line_is_closed_without_losing_more(tmp_path):
    path = written(tmp_path, [kept(0), kept(1)], close=False)
    path.write_bytes(path.read_bytes()[:-20])
    (unfinished,) = unfinished_sessions(tmp_path)
    close_session(unfinished)
    assert unfinished_sessions(tmp_path) == []
    session = read_session(path)
    assert (session.cues, session.ended_well) == ((cue(0),), True)


def test_old_journals_are_deleted_and_others_stay(tmp_path):
    old, new = written(tmp_path, [kept(0)]), written(tmp_path, [kept(1)])
    (old.parent / "mine.txt").write_text("x")
    now = datetime.now(UTC)
    then = (now - timedelta(days=31)).timestamp()
    os.utime(old, (then, then))
    for later in (0, 3):
        delete_old(tmp_path, now + timedelta(days=later), 30)
    assert [session.path for session in past_sessions(tmp_path)] == [new]
    assert [one.name for one in old.parent.iterdir()] == ["mine.txt"]
    delete_session(past_sessions(tmp_path)[0])
    assert list(tmp_path.iterdir()) == [old.parent]


def test_a_clock_that_is_a_year_ahead_for_a_day_deletes_nothing(tmp_path):
    path = written(tmp_path, [kept(0)])
    now = datetime.now(UTC)
    for days in (365, 365, 366, 1, 2, 367, 3):
        delete_old(tmp_path, now + timedelta(days=days), 30)
        assert path.exists()
    assert list(path.parent.iterdir()) == [path]
    for days in (40, 43):
        delete_old(tmp_path, now + timedelta(days=days), 30)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_and_what_was_written_stays_whole(tmp_path, monkeypatch):
    journal = SessionJournal(tmp_path, STARTED)
    journal.write(kept(0))

    with monkeypatch.context() as patch:
        patch.setattr("app.captions.journal.os.fsync", refuse)
        with pytest.raises(TextError, match="No space left on device; captions go on"):
            journal.write(kept(1))
    assert read_session(journal.path).cues == (cue(0),)
    assert journal.has_failed
    journal.write(kept(2))  # there is room again
    assert not journal.has_failed
    journal.close()
    assert read_session(journal.path).cues == (cue(0), cue(1), cue(2))


def test_a_disk_that_is_full_from_the_start_leaves_nothing_and_gets_all_when_there_is_room(
    tmp_path, monkeypatch
):
    journal = SessionJournal(tmp_path, STARTED)
    with monkeypatch.context() as patch:
        patch.setattr("app.captions.journal.os.fsync", refuse)
        for number in range(3):
            with pytest.raises(TextError):
                journal.write(kept(number))
    assert list(tmp_path.iterdir()) == []
    journal.close()
    (session,) = past_sessions(tmp_path)
    assert session.cues == (cue(0), cue(1), cue(2))
    assert session.ended_well


def refuse(_file):
    raise OSError(errno.ENOSPC, "No space left on device")


VANISH = {
    "deleted": lambda path: (path.unlink(), path.parent.rmdir()),
    "emptied": lambda path: path.unlink(),
    "moved": lambda path: path.parent.rename(path.parent.parent / "elsewhere"),
    "exchanged": lambda path: (path.unlink(), path.write_bytes(b"")),
}


@pytest.mark.skipif(sys.platform == "win32", reason="there no open file can be deleted")
@pytest.mark.parametrize("vanish", VANISH.values(), ids=VANISH)
@pytest.mark.parametrize("is_closed_next", [True, False])
def test_a_journal_that_vanished_is_begun_anew_with_all_of_the_session(
    tmp_path, vanish, is_closed_next
):
    journal = SessionJournal(tmp_path, STARTED)
    before = [kept(0), kept(1, text="x"), kept(2), kept(2, marked=True), CueWithdrawn(key=0)]
    for entry in before:
        journal.write(entry)
    first = journal.path
    vanish(first)
    expected = [cue(1, "x"), replace(cue(2), marked=True)]
    if not is_closed_next:
        journal.write(kept(3))
        expected.append(cue(3))
        assert read_session(journal.path).cues == tuple(expected)
    journal.close()
    session = read_session(journal.path)
    assert session.cues == tuple(expected)
    assert (session.started, session.ended_well) == (STARTED, True)
    assert session.damaged_lines == 0


def test_a_cue_has_words_caption_and_times_of_its_utterance():
    record = FedRecord()
    opened(record, 4, "Good morning", " Guten Morgen ", 2.0)
    sure = Confidence(0.25, is_low=True)
    entry = record.follow(UtteranceEnded(utterance=4, confidence=sure), 3.5)
    expected = Cue(
        start_s=2.0,
        end_s=2.0,
        text="Guten Morgen",
        source="Good morning",
        language="de",
        source_language="en",
        confidence=0.25,
        doubtful=True,
    )
    assert entry == CueKept(key=0, cue=expected)
    assert record.cues == [expected]


@pytest.mark.parametrize(
    ("started_s", "times_s"), [(5.0, (0.0, 0.0)), (-2e9, (LATEST_S, LATEST_S))]
)
def test_a_cue_of_a_clock_that_was_set_stays_within_what_a_cue_may_be(started_s, times_s):
    record = FedRecord()
    record.resume({}, started_s)
    opened(record, 4, "Good morning", "Guten Morgen", 2.0)
    entry = record.follow(UtteranceEnded(utterance=4), 3.5)
    assert (entry.cue.start_s, entry.cue.end_s) == times_s


def test_a_typed_cue_ends_with_its_last_word_however_late_its_caption_came():
    record = FedRecord()
    record.follow(UtteranceOpened(utterance=0), 2.0)
    words = (FedWord("Good", committed_at_s=1.5), FedWord("morning", committed_at_s=2.5))
    record.follow(SourceChanged(utterance=0, words=words), 2.6)
    entry = record.follow(UtteranceEnded(utterance=0), 108.0)
    assert (entry.cue.start_s, entry.cue.end_s) == (1.5, 2.5)


def test_an_edit_replaces_the_cue_and_a_removal_withdraws_it():
    record = FedRecord(("", ""))
    opened(record, 0, "Good house", "Gutes Haus", 1.0)
    assert record.follow(UtteranceDropped(utterance=9), 1.0) is None
    record.follow(UtteranceEnded(utterance=0), 2.0)
    record.follow(CaptionChanged(utterance=0, kept=6, text="Auto", n_read=2), 3.0)
    entry = record.follow(UtteranceEnded(utterance=0), 4.0)
    assert (entry.key, entry.cue.text) == (0, "Gutes Auto")
    assert [one.text for one in record.cues] == ["Gutes Auto"]
    assert record.follow(UtteranceDropped(utterance=0), 5.0) == CueWithdrawn(key=0)
    assert record.cues == []


def test_numbers_of_a_new_session_are_other_utterances():
    record = FedRecord(("", ""))
    opened(record, 0, "Good", "Gut", 1.0)
    record.follow(UtteranceEnded(utterance=0), 2.0)
    record.utterances.restart()
    assert record.follow(UtteranceEnded(utterance=0), 3.0) is None
    opened(record, 0, "Bad", "Schlecht", 4.0)
    assert record.follow(UtteranceEnded(utterance=0), 5.0).key == 1
    assert [one.text for one in record.cues] == ["Gut", "Schlecht"]
    record.clear()
    assert record.cues == []
    earlier = {record.utterances.new_key(): cue(0)}
    record.resume(earlier, 0.0)
    record.bring_back()
    assert record.cues == [cue(0)], "what was cleared before another session does not come back"


def test_what_is_not_translated_to_its_end_is_kept_as_it_is():
    record = FedRecord()
    opened(record, 0, "Good", "Gut", 1.0)
    record.follow(UtteranceEnded(utterance=0), 2.0)
    opened(record, 1, "Bad", "Schl", 3.0)
    opened(record, 2, "Gone", "Weg", 3.0)
    assert record.follow(UtteranceDropped(utterance=2), 3.5) is None, "it was not complete"
    (entry,) = record.flush(4.0)
    assert (entry.key, entry.cue.text, entry.cue.end_s) == (1, "Schl", 3.0)
    assert [cue.text for cue in record.cues] == ["Gut", "Schl"]
    assert record.flush(5.0) == []
    record.follow(CaptionChanged(utterance=0, kept=1, text="enau", n_read=1), 6.0)
    assert [entry.cue.text for entry in record.flush(7.0)] == ["Genau"]
