"""A server that comes and goes: what is captioned, what is told, and when it is given up."""

from dataclasses import replace

import pytest

from engine.errors import ServerError, ServerGoneError
from engine.events import (
    CaptionChanged,
    Configure,
    EndPassage,
    FeedWords,
    FurtherLanguage,
    Notice,
    NotTranslated,
    Refused,
    UseAdapter,
    UseLanguages,
    UtteranceEnded,
    n_same,
    untimed,
)
from engine.messages import Code
from engine.remote.captioner import RemoteCaptioner
from engine.remote.service import Service, SessionUnknownError
from engine.remote.wire import MOST_CAPTION, Failure, Opened, Settled
from engine.session.serving import Serving
from engine.session.session import CommandQueue
from engine.settings import ServerSettings, TranslationSettings
from engine.translation.captioner import Change

SERVER = ServerSettings(address="http://localhost:1")


class Loud(Service):
    """A server whose translation are the words in capitals.

    Attributes:
        away_s: so long it does not answer.
        breaks_after: characters of an answer after which it goes away for that long.
        n_signs: signs of life before an answer.
    """

    def __init__(self, settings):
        super().__init__(settings)
        self.away_s, self.breaks_after, self.knows = 0.0, None, set()
        self.requests, self.opened = [], []
        self.n_signs, self.sleep = 0, None

    def open(self, opening):
        self._answer()
        self.knows.add(opening.session)
        self.opened.append(opening)
        notices = (Code.SERVER_FULL(),)
        return Opened(model="loud", languages={"it": "Italian"}, target="it", notices=notices)

    def ask(self, asked, has_waited):
        self._answer()
        for _ in range(self.n_signs):
            self.sleep(3)
            has_waited()
        if asked.session not in self.knows:
            raise SessionUnknownError
        self.requests.append(asked)
        whole = " ".join(asked.words).upper()
        kept = n_same(asked.caption, whole)
        for number, letter in enumerate(whole[kept:]):
            if number == self.breaks_after:
                self.breaks_after = None
                self._answer(gone=True)
            yield Change(kept + number, letter, len(asked.words))
        if len(asked.caption) > len(whole) == kept:
            yield Change(kept, "", len(asked.words))
        yield Settled(n_read=len(asked.words), finished=asked.ended)

    def _answer(self, *, gone=False):
        if gone or self.away_s > 0:
            raise ServerGoneError(Code.CONNECTION_REFUSED())

    def leave(self, session):
        self.knows.discard(session)


class Desk:
    """A desktop that asks a server, one step after the other; its clock goes while it waits."""

    def __init__(self, settings, server=SERVER):
        self.now_s = 100.0
        self.server, self.events = Loud(server), []
        self.server.sleep = self._wait
        self.captioner = RemoteCaptioner(self.server, settings, lambda: self.now_s)
        self.captioner._interrupted.wait = self._wait
        self.captions = Serving(
            self.captioner, self.captioner.settings, self.events.append, by=self.captioner
        )

    def _wait(self, seconds):
        self.now_s += seconds
        self.server.away_s -= seconds
        return False

    def say(self, *words, ends=False, steps=200):
        commands = CommandQueue()
        commands.put(FeedWords(untimed(words)))
        if ends:
            commands.put(EndPassage())
        self.captions.obey_waiting(commands)
        self.work(steps)

    def work(self, steps=200):
        for _ in range(steps):
            if not self.captions.has_work:
                return
            self.captions.advance()

    @property
    def shown(self):
        captions = {}
        for event in self.events:
            if isinstance(event, CaptionChanged):
                before = captions.get(event.utterance, "")
                captions[event.utterance] = before[: event.kept] + event.text
        return [captions[number] for number in sorted(captions)]

    @property
    def told(self):
        return [event.message.code for event in self.events if isinstance(event, Notice)]

    @property
    def n_ended(self):
        return sum(isinstance(event, UtteranceEnded) for event in self.events)


@pytest.fixture
def desk():
    return Desk(TranslationSettings())


def test_a_short_pause_of_the_server_is_not_told_and_nothing_is_shown_twice(desk):
    desk.server.breaks_after, desk.server.away_s = 3, 0.0
    desk.say("one", "two")
    assert desk.shown == ["ONE TWO"]
    desk.server.away_s = 4.0
    desk.say("three.")
    assert desk.shown == ["ONE TWO THREE."]
    assert desk.told == []
    assert desk.n_ended == 1
    kept = [(event.kept, event.text) for event in desk.events if isinstance(event, CaptionChanged)]
    assert [kept for kept, _ in kept] == list(range(14))


def test_a_server_that_is_waited_for_is_told_of_once(desk):
    desk.server.away_s = 40.0
    desk.say("one.")
    assert desk.told == [Code.SERVER_GONE]
    assert desk.shown == ["ONE."]


def test_a_server_that_only_gives_signs_of_life_is_told_of_while_its_caption_is_waited_for(desk):
    desk.server.n_signs = 1
    desk.say("one.")
    assert (desk.shown, desk.told) == (["ONE."], [])
    desk.server.n_signs = 4
    desk.say("two.")
    desk.say("three.")
    assert desk.shown == ["ONE.", "TWO.", "THREE."]
    assert desk.told == [Code.SERVER_GONE] * 2, "between them it was quick"


@pytest.mark.parametrize(("patience_s", "told"), [(5.0, []), (60.0, [Code.SERVER_GONE])])
def test_a_session_whose_server_stays_away_fails_and_gives_up_no_sentence(patience_s, told):
    desk = Desk(TranslationSettings(), replace(SERVER, patience_s=patience_s))
    desk.server.away_s = 1000.0
    with pytest.raises(ServerGoneError, match="localhost:1 cannot be reached"):
        desk.say("one.")
    assert patience_s <= desk.now_s - 100.0 < patience_s + 5.0
    assert desk.told == told
    assert desk.n_ended == 0
    with pytest.raises(ServerGoneError, match="localhost:1 cannot be reached"):
        desk.captions._obey(Configure(TranslationSettings()))


def test_who_waits_can_be_let_go(desk):
    desk.server.away_s = 1000.0
    del desk.captioner._interrupted.wait
    desk.captions.interrupt()
    with pytest.raises(ServerGoneError):
        desk.say("one.")
    assert desk.now_s == 100.0


def test_how_a_server_deviates_from_other_settings_is_told(desk):
    assert desk.told == [], "those of the first stand in Ready"
    desk.captions._obey(Configure(TranslationSettings(policy="read:2")))
    assert desk.told == [Code.SERVER_FULL]


def test_a_language_that_the_server_does_not_know_is_another_only_where_that_is_allowed():
    for takes_any, wanted in ((False, "de"), (True, "it")):
        desk = Desk(TranslationSettings(), replace(SERVER, takes_any_language=takes_any))
        assert desk.server.opened[0].takes_any_language == takes_any
        assert desk.captioner.settings.target_language == wanted
        desk.captioner.configure(TranslationSettings(target_language="fr"))
        assert desk.captioner.settings.target_language == "fr"


@pytest.mark.parametrize("ends", [False, True])
def test_a_sentence_that_has_ended_is_not_left_without_a_caption(desk, monkeypatch, ends):
    monkeypatch.setattr(desk.server, "ask", lambda *_: iter([Settled(n_read=0, finished=False)]))
    desk.say("one", ends=ends)
    assert desk.shown == []
    refused = [event.message.code for event in desk.events if isinstance(event, Refused)]
    assert refused == [Code.SERVER_MISUNDERSTOOD] * ends


def test_a_caption_that_does_not_end_is_given_up(desk, monkeypatch):
    parts = [Change(0, "a" * MOST_CAPTION, 1), Change(MOST_CAPTION, "a", 1)]
    monkeypatch.setattr(desk.server, "ask", lambda *_: iter(parts))
    desk.say("one.")
    refused = [event.message for event in desk.events if isinstance(event, Refused)]
    assert [one.code for one in refused] == [Code.SERVER_MISUNDERSTOOD]
    assert f"a caption is longer than {MOST_CAPTION} characters" in str(refused[0])


def test_a_server_captions_in_a_further_language_by_a_session_of_its_own():
    desk = Desk(TranslationSettings(), replace(SERVER, takes_any_language=True))
    desk.captions._obey(UseLanguages((FurtherLanguage("fr"),)))
    desk.say("one.")
    (other,) = desk.captioner._others
    asked = other._opening.target, other._opening.takes_any_language
    assert asked == ("fr", False), "another one than was chosen would be none"
    changes = [event for event in desk.events if isinstance(event, CaptionChanged)]
    letters = {code: [it.text for it in changes if it.language == code] for code in ("", "fr")}
    assert letters == {"": [*"ONE."], "fr": [*"ONE."]}
    assert [it.language for it in changes] == [""] * 4 + ["fr"] * 4, "the first never waits"
    desk.captions.interrupt()
    assert other._interrupted.is_set()
    desk.captions._obey(UseLanguages(()))
    assert other._service.knows == set(), "its place at the server is free again"


def test_an_adapter_of_this_computer_is_refused_by_one_sentence(desk):
    commands = CommandQueue()
    commands.put(UseAdapter("talks"))
    desk.captions.obey_waiting(commands)
    assert [event.message.code for event in desk.events] == [Code.SERVER_HAS_ITS_ADAPTER]


def test_a_server_that_knows_the_session_no_more_is_told_of_it_again(desk):
    desk.say("one", "two")
    desk.server.knows.clear()
    desk.say("three.")
    assert desk.shown == ["ONE TWO THREE."]
    assert len(desk.server.opened) == 2
    assert desk.server.opened[0] == desk.server.opened[1]
    assert [one.caption for one in desk.server.requests] == ["", "ONE TWO"]


def test_settings_that_the_server_refuses_leave_those_before(desk):
    captioner, before = desk.captioner, desk.captioner.settings

    def refuse(_opening):
        raise ServerError(Code.SERVER_MISUNDERSTOOD(detail="no"))

    desk.server.open = refuse
    with pytest.raises(ServerError):
        captioner.configure(TranslationSettings(target_language="fr"))
    assert captioner.settings is before
    desk.say("one.")
    assert desk.shown == ["ONE."]


def test_a_sentence_that_the_server_gives_up_stays_and_the_next_is_translated(desk):
    ask = desk.server.ask
    desk.server.ask = lambda *_: iter([Change(0, "BRO", 1), Failure(Code.SERVER_BUSY())])
    desk.say("broken.")
    desk.server.ask = ask
    desk.say("whole.")
    assert desk.shown == ["BRO", "WHOLE."]
    assert desk.n_ended == 2


@pytest.mark.parametrize(("source", "asked"), [("en", False), ("ru", True)])
def test_a_sentence_in_another_script_is_sent_only_where_it_may_be_the_source(source, asked):
    desk = Desk(TranslationSettings(source_language=source))
    desk.say("доброе", "утро", "всем.")
    assert desk.shown == (["ДОБРОЕ УТРО ВСЕМ."] if asked else [])
    assert any(isinstance(event, NotTranslated) for event in desk.events) != asked
