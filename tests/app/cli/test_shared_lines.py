"""Sentences of a text on the phones in a room, with a session that says what it is told to."""

import pytest

from app.cli import shared_lines
from app.cli.shared_lines import SharedLines
from app.cli.sharing import SharedRoom, ShareSettings
from app.sharing.room_feed import MOST_ROWS
from engine.commands import EndPassage, FeedWords, FurtherLanguage, UseLanguages
from engine.events import (
    FurtherCaptionChanged,
    LanguageFailed,
    LanguagesChanged,
    UtteranceOpened,
)
from engine.messages import Code
from engine.settings import TranslationSettings
from engine.words import untimed
from tests.support.audience.fake_room import fake_rooms

SETTINGS = TranslationSettings(target_language="de")


class FakeSession:
    def __init__(self, _load, settings, take):
        self.settings, self.take = settings, take
        self.sent, self.patience_s, self.began = [], [], 0

    def start(self):
        self.began += 1

    def send(self, command):
        self.sent.append(command)

    def stop(self, patience_s):
        self.patience_s.append(patience_s)


@pytest.fixture
def sessions(monkeypatch):
    made = []

    def make(*arguments):
        made.append(FakeSession(*arguments))
        return made[-1]

    monkeypatch.setattr(shared_lines, "Session", make)
    return made


@pytest.fixture
def share(monkeypatch, sessions):  # noqa: ARG001  none is started
    rooms = []

    def make(*codes, tell=pytest.fail):
        fake_rooms(monkeypatch)
        further = tuple(map(FurtherLanguage, codes))
        room = SharedRoom(ShareSettings(address="127.0.0.1", further=further), ("en", "de"))
        rooms.append(room)
        views = []
        room.room.show_views = lambda shown: views.append(tuple(shown))
        return SharedLines(room, SETTINGS, tell), room, views

    yield make
    for room in rooms:
        room.close()


def test_without_a_room_nothing_is_shown_and_no_session_begins(sessions):
    lines = SharedLines(None, SETTINGS, pytest.fail)
    lines.show("good morning", "guten Morgen", ended=True)
    lines.close()
    assert not sessions


def test_a_caption_grows_in_its_row_and_the_next_sentence_has_another(share, sessions):
    lines, _, views = share()
    for source, caption, ended in (
        ("one two.", "eins", False),
        ("one two.", "eins zwei.", True),
        ("three.", "", False),
    ):
        lines.show(source, caption, ended=ended)
    told = [[(view.key, view.source, view.caption, view.ended) for view in each] for each in views]
    assert told == [
        [(0, "one two.", "eins", False)],
        [(0, "one two.", "eins zwei.", True)],
        [(0, "one two.", "eins zwei.", True), (1, "three.", "", False)],
    ]
    assert {view.language for view in views[-1]} == {"de"}
    lines.close()
    assert not sessions


def test_the_oldest_sentences_make_room_for_the_newest(share):
    lines, _, views = share()
    for number in range(MOST_ROWS + 3):
        lines.show(str(number), "", ended=True)
    assert [view.key for view in views[-1]] == list(range(3, MOST_ROWS + 3))
    assert [view.source for view in views[-1]][:2] == ["3", "4"]


def test_each_sentence_is_told_once_to_the_session_of_the_further_languages(share, sessions):
    lines, _, _ = share("fr")
    (session,) = sessions
    assert session.began == 1
    assert session.settings == SETTINGS
    lines.show("one two.", "eins", ended=False)
    lines.show("one two.", "eins zwei.", ended=True)
    lines.show("three.", "drei.", ended=True)
    assert session.sent == [
        FeedWords(untimed(["one", "two."]), lane="0"),
        EndPassage(lane="0"),
        FeedWords(untimed(["three."]), lane="1"),
        EndPassage(lane="1"),
    ]


def test_further_captions_stand_with_their_sentence_in_the_order_of_its_parts(share, sessions):
    lines, _, views = share("fr", "es")
    (session,) = sessions
    lines.show("one. two.", "", ended=True)
    lines.show("three.", "", ended=True)
    for number, lane in ((0, "0"), (1, "0"), (2, "1")):
        session.take(UtteranceOpened(utterance=number, lane=lane))
    for number, kept, text, code in (
        (0, 0, "un", "fr"),
        (1, 0, " deux.", "fr"),
        (0, 2, "e.", "fr"),
        (2, 0, "tres.", "es"),
        (1, 0, "dos.", "es"),
    ):
        session.take(
            FurtherCaptionChanged(utterance=number, kept=kept, text=text, n_read=1, language=code)
        )
    assert [view.further for view in views[-1]] == [
        (("fr", "une. deux."), ("es", "dos.")),
        (("es", "tres."),),
    ]


def test_a_further_caption_of_a_sentence_that_has_left_is_not_shown(share, sessions):
    lines, _, views = share("fr")
    (session,) = sessions
    for number in range(MOST_ROWS + 1):
        lines.show(str(number), "", ended=True)
    n_shown = len(views)
    session.take(UtteranceOpened(utterance=0, lane="0"))
    session.take(FurtherCaptionChanged(utterance=0, kept=0, text="zéro", n_read=1, language="fr"))
    assert len(views) == n_shown
    session.take(UtteranceOpened(utterance=1, lane="1"))
    session.take(FurtherCaptionChanged(utterance=1, kept=0, text="un", n_read=1, language="fr"))
    assert len(views) == n_shown + 1
    assert views[-1][0].further == (("fr", "un"),)
    session.take(
        UtteranceOpened(utterance=MOST_ROWS + 1, lane=str(MOST_ROWS))
    )  # its parts replace those of 1
    session.take(FurtherCaptionChanged(utterance=1, kept=2, text="e", n_read=1, language="fr"))
    assert len(views) == n_shown + 1


def test_a_language_that_fails_is_told_by_its_code_and_reason(share, sessions):
    told = []
    _, room, _ = share("fr", tell=told.append)
    (session,) = sessions
    session.take(LanguagesChanged(languages=("fr",)))
    assert room.room.ready == ("fr",)
    session.take(LanguageFailed(language="fr", message=Code.AS_SAID(sentence="the disk is full")))
    assert told == ["there are no captions in fr any more: the disk is full"]
    assert "fr" not in room.room.languages


@pytest.mark.parametrize(("read", "patience_s"), [((), [0.0]), (("fr",), [10.0])])
def test_its_end_waits_for_further_languages_that_are_read(share, sessions, read, patience_s):
    lines, room, _ = share("fr")
    (session,) = sessions
    room.room.read = read
    room.room.readers_changed()
    told = [command for command in session.sent if isinstance(command, UseLanguages)]
    assert told == [UseLanguages((FurtherLanguage("fr"),))] * bool(read)
    lines.close()
    assert session.patience_s == patience_s
