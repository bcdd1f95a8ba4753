import os
import time
from datetime import UTC, datetime

import pytest

from app.captions.journal import SessionJournal, past_sessions
from app.config.preferences import PrivacyPreferences
from engine.events import (
    CaptionChanged,
    FedWord,
    SourceChanged,
    UtteranceOpened,
    untimed,
)
from tests.support.app.journals import kept, say
from tests.support.utterances import FedKeeper


@pytest.fixture
def keepers(qapp, tmp_path):  # noqa: ARG001  signals need it
    made = []

    def make(choices=None):
        made.append(FedKeeper(tmp_path, choices or PrivacyPreferences()))
        return made[-1]

    yield make
    for keeper in made:
        keeper.close()


def test_what_is_wanted_may_change_at_any_time(keepers, tmp_path):
    keeper = keepers(PrivacyPreferences(journal=False))
    say(keeper, 0, "Ohne.")
    assert list(tmp_path.iterdir()) == [], "who wants no files gets none"
    keeper.use(PrivacyPreferences())
    say(keeper, 1, "Mit.")
    keeper.use(PrivacyPreferences(journal=False))
    say(keeper, 2, "Ohne.")
    keeper.close()
    (session,) = past_sessions(tmp_path / "sessions")
    assert [cue.text for cue in session.cues] == ["Mit."]


def crashed(tmp_path, number):
    journal = SessionJournal(tmp_path / "sessions", datetime.now(UTC))
    journal.write(kept(number))
    os.close(journal._file)


def test_a_session_is_offered_no_more_after_a_start_that_ended_well(keepers, tmp_path):
    crashed(tmp_path, 3)
    keepers().close()
    assert keepers().lost_session is None
    assert len(past_sessions(tmp_path / "sessions")) == 1


def test_an_end_without_patience_keeps_the_sentence_as_far_as_it_came(qapp, tmp_path):  # noqa: ARG001
    keeper = FedKeeper(tmp_path, PrivacyPreferences())
    for event in (
        UtteranceOpened(utterance=0),
        SourceChanged(utterance=0, words=untimed(("Good", "morn"))),
        CaptionChanged(utterance=0, kept=0, text="Guten", n_read=1),
    ):
        keeper.follow(event)
    keeper.close()
    ((cue,),) = (
        session.cues for session in past_sessions(tmp_path / "sessions") if session.ended_well
    )
    assert (cue.speaker, cue.source, cue.text) == ("", "Good morn", "Guten")


def sources(tmp_path):
    """What the journals hold, the oldest first."""
    return [[cue.text for cue in one.cues] for one in past_sessions(tmp_path / "sessions")][::-1]


def test_a_cleared_session_stays_on_the_disk_and_comes_back_into_the_window(
    keepers, qtbot, tmp_path
):
    keeper, changes = keepers(), []
    say(keeper, 0, "Eins.")
    qtbot.waitUntil(lambda: keeper.running_journal is not None)  # another thread opens it
    first = keeper.running_journal
    keeper.cues_changed.connect(lambda: changes.append(len(keeper.cues)))
    keeper.follow(UtteranceOpened(utterance=1))
    half = FedWord("half", committed_at_s=time.monotonic())
    keeper.follow(SourceChanged(utterance=1, words=(half,)))
    keeper.clear()
    assert (keeper.cues, changes[-1]) == ([], 0)
    assert keeper.running_journal != first
    say(keeper, 2, "Zwei.")
    keeper.bring_back()
    assert changes[-1] == len(keeper.cues) == 3
    keeper.close()
    assert sorted(sources(tmp_path)) == [["Eins.", ""], ["Zwei."]]


def test_bookmarks_and_what_the_user_deletes_are_in_the_journal(keepers, tmp_path):
    keeper = keepers()
    for number in range(3):
        say(keeper, number, f"{number}")
    keeper.mark(2, marked=True)
    keeper.remove([0, 1])
    keeper.put_back([1])
    keeper.mark(9, marked=True)
    keeper.close()
    (session,) = past_sessions(tmp_path / "sessions")
    assert [(cue.text, cue.marked) for cue in session.cues] == [("1", False), ("2", True)]


@pytest.mark.parametrize("stored", [True, False])
def test_an_earlier_session_goes_on_in_a_journal_of_its_own(keepers, tmp_path, stored):
    crashed(tmp_path, 3)
    keeper, changes = keepers(PrivacyPreferences(journal=stored)), []
    say(keeper, 0, "Eins.")
    keeper.cues_changed.connect(lambda: changes.append(len(keeper.cues)))
    (key,) = keeper.resume(keeper.lost_session)
    assert changes == [1]
    assert keeper.started == keeper.lost_session.started
    keeper.mark(key, marked=True)
    say(keeper, 1, "Zwei.")
    assert [cue.marked for cue in keeper.cues] == [True, False]
    assert keeper.cues[0].end_s <= keeper.cues[1].start_s
    keeper.close()
    kept_now = sorted(sources(tmp_path))
    earlier = kept(3).cue.text
    assert kept_now == ([["Eins."], [earlier, "Zwei."]] if stored else [[earlier]])
    assert keeper.is_stored is stored
