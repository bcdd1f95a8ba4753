"""The passages of a session, by the commands that change them."""

import pytest

from engine.events import TYPED, Clear, EndPassage, FedWord, FeedWords, SetWords, Skip, untimed
from engine.metrics.event_log import EventLog
from engine.session.serving import Local, Passages, Serving
from engine.session.session import CommandQueue
from engine.settings import TranslationSettings
from engine.translation.passage import Passage
from engine.translation.targets import Targets
from tests.support.fakes import Receiver, hashing_translator


@pytest.mark.parametrize(
    "words", [SetWords(untimed(("ab", "cd.", "ef"))), FeedWords(untimed(("ab", "cd.")), "me")]
)
def test_clearing_drops_what_has_ended_and_waits_to_be_translated(words):
    targets, receiver = Targets(hashing_translator()), Receiver()
    passages = Passages(lambda lane: Passage(targets, lane))
    for command in (words, EndPassage(), Clear()):
        for event in passages.change(command):
            receiver(event)
    assert passages.backlog_words == 0
    assert receiver.text == []
    assert not any(passage.advance() for passage in passages)


def take(receiver, events):
    for event in events:
        receiver(event)


def at_once(text):
    passage, receiver = Passage(Targets(hashing_translator("read:1"))), Receiver()
    take(receiver, passage.splice(0, None, untimed(text.split())))
    take(receiver, iter(passage.advance, None))
    return [caption for _, caption in receiver.text]


def test_what_waits_is_skipped_and_what_comes_then_is_translated_with_no_row_twice():
    translator, receiver = hashing_translator("read:1"), Receiver()
    passage = Passage(Targets(translator))
    take(receiver, passage.splice(0, None, untimed("head bed. ef gh. ab ef.".split())))
    take(receiver, [passage.advance()])
    passage.skip()
    take(receiver, passage.splice(6, None, untimed(["de", "fg."])))
    take(receiver, iter(passage.advance, None))
    wanted = at_once("head bed. ef gh. ab ef. de fg.")
    assert [caption for _, caption in receiver.text] == [wanted[0], "", "", wanted[3]]
    assert receiver.ended == set(receiver.order)
    assert translator.counters.tokens_recomputed == 0


def test_a_sentence_that_was_skipped_is_translated_once_it_is_corrected():
    passage, receiver = Passage(Targets(hashing_translator("read:1"))), Receiver()
    take(receiver, passage.splice(0, None, untimed("head bed. ef gh.".split())))
    passage.skip()
    take(receiver, passage.splice(2, 3, untimed(["de"])))
    take(receiver, iter(passage.advance, None))
    assert (
        [caption for _, caption in receiver.text]
        == ["", at_once("head bed. de gh.")[1]]
        != ["", ""]
    )


@pytest.mark.parametrize(("typed", "left"), [(False, ["bed."]), (True, ["head.", "bed."])])
def test_typed_sentences_are_skipped_only_where_that_is_asked(typed, left):
    events, translator = [], hashing_translator("read:1")
    serving = Serving(translator, TranslationSettings(), events.append)
    commands = CommandQueue()
    commands.put(SetWords(untimed(["head."])))
    commands.put(EndPassage(TYPED))
    commands.put(FeedWords((FedWord("bed.", number=1, spoken_at_s=1.0),), "me"))
    commands.put(EndPassage("me"))
    commands.put(Skip(typed=typed))
    serving.obey_waiting(commands)
    while serving.has_work:
        serving.advance()
    receiver = Receiver()
    take(receiver, events)
    uncaptioned = [source for (source,), caption in receiver.text if not caption]
    assert uncaptioned == left


def _visits(n_passages, monkeypatch):
    """Return how often passages are asked to advance when ``n_passages`` sentences wait."""
    n_visits = 0
    advance = Passage.advance

    def counted(passage):
        nonlocal n_visits
        n_visits += 1
        return advance(passage)

    settings = TranslationSettings(catch_up_words=None)
    system = hashing_translator("read:3")
    local = Local(None, system, EventLog())
    serving = Serving(system, settings, lambda _event: None, by=local)
    commands = CommandQueue()
    for _ in range(n_passages):
        commands.put(FeedWords(untimed(("three", "short", "words.")), "me"))
    serving.obey_waiting(commands)
    with monkeypatch.context() as patches:
        patches.setattr(Passage, "advance", counted)
        while serving.has_work:
            serving.advance()
    return n_visits


def test_a_passage_that_is_translated_is_not_visited_again(monkeypatch):
    few, many = _visits(20, monkeypatch), _visits(100, monkeypatch)
    assert many <= 5 * few + 10
