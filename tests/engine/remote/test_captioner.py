"""A server that comes and goes: what is captioned meanwhile, and what is told. Clocks by hand."""

import pytest

from engine.commands import EndPassage, FeedWords, UseAdapter
from engine.errors import ServerError, ServerGoneError
from engine.events import CaptionChanged, Notice, NotTranslated, Refused, UtteranceEnded
from engine.messages import Code
from engine.remote.captioner import PATIENCE_S, RemoteCaptioner
from engine.remote.service import SessionUnknownError
from engine.remote.wire import Changed, Failure, Offer, Opened, Settled
from engine.session.command_queue import CommandQueue
from engine.session.remote_captions import RemoteCaptions
from engine.settings import TranslationSettings
from engine.words import n_same, untimed


class Loud:
    """A server whose translation are the words in capitals.

    Attributes:
        is_away: it does not answer.
        breaks_after: characters of an answer after which it goes away.
        n_signs: signs of life before an answer; of twenty, none follows.
    """

    server = "loud:1"

    def __init__(self):
        self.is_away, self.breaks_after, self.knows = False, None, set()
        self.requests, self.opened = [], []
        self.n_signs, self.sleep = 0, None

    def open(self, opening):
        self._answer()
        self.knows.add(opening.session)
        self.opened.append(opening)
        return Opened()

    def ask(self, asked, has_waited):
        self._answer()
        for _ in range(self.n_signs):
            self.sleep(3)
            has_waited()
        if self.n_signs == 20:
            raise ServerGoneError(Code.HUB_TIMED_OUT())
        if asked.session not in self.knows:
            raise SessionUnknownError
        self.requests.append(asked)
        whole = " ".join(asked.sentence.words).upper()
        kept = n_same(asked.caption, whole)
        for number, letter in enumerate(whole[kept:]):
            if number == self.breaks_after:
                self.is_away = True
            self._answer()
            yield Changed(kept + number, letter, len(asked.sentence.words))
        if len(asked.caption) > len(whole) == kept:
            yield Changed(kept, "", len(asked.sentence.words))
        yield Settled(n_read=len(asked.sentence.words), finished=asked.sentence.ended)

    def _answer(self):
        if self.is_away:
            raise ServerGoneError(Code.CONNECTION_REFUSED())

    def offer(self):
        self._answer()
        return Offer(model="loud", languages={"de": "German"})

    def leave(self, session):
        self.knows.discard(session)

    def close(self):
        pass


class Desk:
    """A desktop that asks a server, one step after the other."""

    def __init__(self, monkeypatch, settings):
        self.now_s = 100.0
        monkeypatch.setattr("engine.session.remote_captions.time.sleep", self._sleep)
        self.server, self.events = Loud(), []
        self.server.sleep = self._sleep
        captioner = RemoteCaptioner(self.server, settings, lambda: self.now_s)
        self.captions = RemoteCaptions(captioner, self.events.append)

    def _sleep(self, seconds):
        self.now_s += seconds

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
def desk(monkeypatch):
    return Desk(monkeypatch, TranslationSettings())


def test_a_short_pause_of_the_server_is_not_told_and_loses_nothing(desk):
    desk.server.breaks_after = 3
    desk.say("one", "two", steps=6)
    assert desk.shown == ["ONE"]
    desk.server.is_away, desk.server.breaks_after = False, None
    desk.say("three.")
    assert desk.shown == ["ONE TWO THREE."]
    assert desk.told == []
    assert desk.n_ended == 1
    kept = [(event.kept, event.text) for event in desk.events if isinstance(event, CaptionChanged)]
    assert [kept for kept, _ in kept] == list(range(14)), "nothing is shown twice"


def test_a_long_absence_is_told_once_and_new_sentences_are_in_their_own_words(desk):
    desk.server.breaks_after = 3
    desk.say("one", "two.", steps=6)
    desk.say("three", "four.")
    desk.say("five", "six.")
    desk.now_s += PATIENCE_S
    desk.work()
    assert desk.told == [Code.SERVER_GONE]
    assert desk.shown == ["ONE", "three four.", "five six."]
    desk.server.is_away, desk.server.breaks_after = False, None
    desk.now_s += 10
    desk.work()
    assert desk.shown == ["ONE TWO.", "three four.", "five six."], "what is shown stays"
    assert desk.told == [Code.SERVER_GONE, Code.SERVER_BACK]
    desk.say("seven.")
    assert desk.shown[-1] == "SEVEN."
    assert desk.n_ended == 4


def test_a_server_that_only_gives_signs_of_life_is_told_of_while_its_caption_is_waited_for(desk):
    desk.server.n_signs = 1
    desk.say("one.")
    assert (desk.shown, desk.told) == (["ONE."], [])
    desk.server.n_signs = 4
    desk.say("two.")
    assert desk.shown == ["ONE.", "TWO."]
    assert desk.told == [Code.SERVER_GONE, Code.SERVER_BACK]


def test_a_server_that_never_answers_is_not_waited_for_longer_than_a_minute(desk):
    desk.server.n_signs = 20
    desk.say("one.")
    assert desk.shown == ["one."]
    assert desk.told == [Code.SERVER_GONE]


@pytest.mark.parametrize("ends", [False, True])
def test_a_sentence_that_has_ended_is_not_left_without_a_caption(desk, monkeypatch, ends):
    monkeypatch.setattr(desk.server, "ask", lambda *_: iter([Settled(n_read=0, finished=False)]))
    desk.say("one", ends=ends)
    assert desk.shown == []
    refused = [event.message.code for event in desk.events if isinstance(event, Refused)]
    assert refused == [Code.SERVER_MISUNDERSTOOD] * ends


def test_the_return_of_a_server_is_told_while_nothing_is_said(desk):
    desk.server.is_away = True
    desk.say("one.")
    desk.now_s += PATIENCE_S
    desk.work()
    assert desk.shown == ["one."]
    assert desk.told == [Code.SERVER_GONE]
    desk.captions.obey_waiting(woken())
    desk.work()
    assert desk.told == [Code.SERVER_GONE], "it is still away"
    desk.server.is_away = False
    desk.now_s += 10
    desk.captions.obey_waiting(woken())
    desk.work()
    assert desk.told == [Code.SERVER_GONE, Code.SERVER_BACK]
    assert desk.shown == ["one."], "what is shown stays"
    assert not desk.captions.has_work
    desk.captions.close()


def woken():
    commands = CommandQueue()
    commands.put(None)
    return commands


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
    captioner = desk.captions._captioner
    before = captioner.settings

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
    desk.server.ask = lambda *_: iter([Changed(0, "BRO", 1), Failure(Code.SERVER_BUSY())])
    desk.say("broken.")
    desk.server.ask = ask
    desk.say("whole.")
    assert desk.shown == ["BRO", "WHOLE."]
    assert desk.n_ended == 2


@pytest.mark.parametrize(("source", "asked"), [("en", False), ("ru", True)])
def test_a_sentence_in_another_script_is_sent_only_where_it_may_be_the_source(
    monkeypatch, source, asked
):
    desk = Desk(monkeypatch, TranslationSettings(source_language=source))
    desk.say("доброе", "утро", "всем.")
    assert desk.shown == (["ДОБРОЕ УТРО ВСЕМ."] if asked else [])
    assert any(isinstance(event, NotTranslated) for event in desk.events) != asked
