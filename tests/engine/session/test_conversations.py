"""Captions by a server are those of this computer, to the character, whatever breaks between."""

import queue
import random
import threading
from dataclasses import replace

import pytest

from engine.events import Clear, EndPassage, Failed, FeedWords, Flush, Flushed, Ready, untimed
from engine.messages import Code
from engine.remote.captioner import RemoteCaptioner
from engine.remote.service import Service
from engine.remote.wire import Asked, Failure, Opened, Settled, opening
from engine.session.conversations import Conversations
from engine.session.loaded_model import LoadedModel
from engine.session.session import Session
from engine.settings import TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.captioner import Change
from engine.translation.factory import make_system
from engine.translation.feed import feed_sentence
from tests.support.fakes import Receiver, random_word
from tests.support.network.house_server import house_server

SETTINGS = TranslationSettings(policy="read:2")


def drawn(seed, n_words=24):
    rng = random.Random(seed)
    words = [random_word(rng) for _ in range(n_words)]
    return [word + "." * (rng.random() < 0.15) for word in words]


def captions_of(model, words, before=lambda _: None):
    """Let a session caption words; call a function before each, with its number."""
    heard, receiver = queue.Queue(), Receiver()
    session = Session(model, SETTINGS, heard.put)
    session.start()

    def until(kind):
        while not isinstance(event := heard.get(timeout=300), kind):
            assert not isinstance(event, Failed), event
            if not isinstance(event, Ready):
                receiver(event)

    until(Ready)
    for number, word in enumerate(words):
        before(number)
        session.send(FeedWords(untimed([word])))
        if number % 5 == 4:
            session.send(Flush(number))
            until(Flushed)
    session.send(EndPassage())
    session.send(Flush(-1))
    until(Flushed)
    session.send(Clear())
    session.stop()
    return [receiver.captions[number] for number in receiver.order]


def test_many_desktops_at_once_get_the_captions_of_this_computer(far_model):
    wanted = [captions_of(far_model, drawn(seed)) for seed in range(4)]
    found = {}
    with house_server(far_model) as (_, server):

        def desktop(seed):
            found[seed] = captions_of(server, drawn(seed))

        desktops = [threading.Thread(target=desktop, args=(seed,)) for seed in range(4)]
        for one in desktops:
            one.start()
        for one in desktops:
            one.join()
    assert [found[seed] for seed in range(4)] == wanted


def test_a_server_that_is_replaced_within_sentences_loses_and_doubles_nothing(far_model):
    words = drawn(7, 30)
    wanted = captions_of(far_model, words)
    with house_server(far_model) as (first, server):
        port = int(server.address.rpartition(":")[2])
        running = [first]
        others = []

        def before(number):
            if number in (7, 13, 22):
                running[-1].close()
                others.append(house_server(far_model, port=port))
                running.append(others[-1].__enter__()[0])

        try:
            assert captions_of(server, words, before) == wanted
        finally:
            for one in others:
                one.__exit__(None, None, None)
    assert len(running) == 4


def test_a_session_whose_lane_went_to_another_is_opened_again_and_goes_on(far_model):
    words = tuple(drawn(3, 8))
    with house_server(far_model, n_most=1, idle_s=0.0) as (_, server):
        captioners = [RemoteCaptioner(Service(server), SETTINGS) for _ in range(2)]
        pairs = [(one, one.open()) for one in captioners]
        for n_words in range(1, len(words) + 1):
            sentence = Sentence(words[:n_words], ended=n_words == len(words))
            for _, utterance in pairs:  # each takes the only lane from the other
                utterance.set_source(sentence)
                shown = utterance.caption
                while (change := utterance.advance()) is not None:
                    assert change.kept == len(shown), "what is shown stays"
                    shown += change.text
        for one in captioners:
            one.close()
    assert pairs[0][1].caption == pairs[1][1].caption == _alone(far_model, words)


def _alone(model, words):
    from engine.metrics.event_log import EventLog  # noqa: PLC0415  with what loads a model
    from engine.runtime.loader import load_weights  # noqa: PLC0415

    system = make_system("auto", load_weights(model), SETTINGS, capacity=300, log=EventLog())
    utterance = system.open()
    for changes in feed_sentence(utterance, Sentence(words, ended=True)):
        for _ in changes:
            pass
    return utterance.caption


def test_a_lane_goes_to_another_after_a_quiet_time_and_no_lane_is_given_twice(far_model):
    now, answers = [0.0], queue.Queue()
    loaded = LoadedModel(far_model, lambda _: None)
    conversations = Conversations(loaded, 2, idle_s=5.0, clock=lambda: now[0])

    def opened(who):
        conversations.open(who, opening("one", SETTINGS), answers.put)
        return answers.get(timeout=300)

    conversations.start()
    assert [type(opened(who)) for who in "ab"] == [Opened, Opened]
    now[0] = 4.9
    assert opened("c") == Failure(Code.SERVER_FULL())
    assert isinstance(opened("a"), Opened)  # its own, which is used now
    now[0] = 5.0
    assert isinstance(opened("c"), Opened)
    assert [conversations.is_open((who, "one")) for who in "abc"] == [True, False, True]
    assert (conversations.n_sessions, conversations.n_in_use, conversations.is_alive) == (
        2,
        2,
        True,
    )
    conversations.ask("b", asked("one", "a"), answers.put)
    assert answers.get(timeout=300) == Failure(Code.SERVER_BUSY())
    now[0] = 64.95
    assert conversations.n_in_use == 1  # the other was quiet for a minute
    conversations.leave("a", "one")
    assert isinstance(opened("b"), Opened)
    assert conversations.n_sessions == 2
    unknown = opening("two", replace(SETTINGS, target_language="xx"))
    conversations.leave("b", "one")
    conversations.open("b", unknown, answers.put)
    assert isinstance(answers.get(timeout=300), Failure)
    conversations.open("b", replace(unknown, takes_any_language=True), answers.put)
    assert answers.get(timeout=300).target == "de"
    conversations.leave("b", "two")
    assert isinstance(opened("b"), Opened)  # what failed has given its lane back
    conversations.stop(patience_s=60)
    assert (conversations.is_alive, conversations.has_stopped) == (False, True)


@pytest.fixture
def conversations(far_model):
    found = Conversations(LoadedModel(far_model, lambda _: None), 12)
    found.start()
    yield found
    found.stop(patience_s=60)


def asked(session, *words, number=1):
    return Asked(session=session, number=number, words=words, ended=True)


def test_nothing_more_is_computed_for_who_has_gone(conversations):
    told, answers = [], queue.Queue()
    conversations.open("a", opening("one", SETTINGS), answers.put)
    assert isinstance(answers.get(timeout=300), Opened)
    words = tuple(drawn(3, 12))
    conversations.ask("a", asked("one", *words), told.append, lambda: len(told) < 2)
    conversations.ask("a", asked("one", "b", number=2), told.append, lambda: False)
    conversations.open("b", opening("two", SETTINGS), told.append, lambda: False)
    conversations.ask("a", asked("one", *words), answers.put)
    caption = ""
    while isinstance(answer := answers.get(timeout=300), Change):
        caption = caption[: answer.kept] + answer.text
    assert [type(one) for one in told] == [Change, Change]
    assert conversations.n_sessions == 1
    assert caption == _alone_of(conversations, words)


def _alone_of(conversations, words):
    answers, caption = queue.Queue(), ""
    conversations.open("alone", opening("new", SETTINGS), answers.put)
    answers.get(timeout=300)
    conversations.ask("alone", asked("new", *words), answers.put)
    while isinstance(answer := answers.get(timeout=300), Change):
        caption = caption[: answer.kept] + answer.text
    return caption


def test_who_opens_many_sessions_holds_up_no_sentence_of_another(conversations):
    told, begun, until = [], threading.Event(), threading.Event()

    def hold_up(_opened):
        begun.set()
        until.wait(60)

    conversations.open("a", opening("one", SETTINGS), hold_up)
    assert begun.wait(60)
    for number in range(10):
        conversations.open(f"{number}", opening("one", SETTINGS), told.append)
    ended = threading.Event()

    def note(answer):
        told.append(answer)
        if not isinstance(answer, Change):
            ended.set()

    conversations.ask("a", asked("one", *drawn(3, 12)), note)
    until.set()
    assert ended.wait(60)
    kinds = [type(one) for one in told]
    n_before = kinds.index(Change)
    assert n_before <= 2, "a sentence is begun before the openings that came before it"
    assert Opened in kinds[: kinds.index(Settled)], "nor do sentences hold up openings"


def test_of_requests_that_wait_there_are_not_more_than_can_be_kept(far_model):
    waiting = Conversations(LoadedModel(far_model, lambda _: None), 1)  # it was not started
    told = []
    for number in range(40):
        waiting.open("a", opening(f"{number}", SETTINGS), told.append)
        waiting.ask("a", asked("one", "a"), told.append)
        waiting.leave("a", "one")
    assert all(one == Failure(Code.SERVER_BUSY()) for one in told)
    assert 40 < len(told) < 80
