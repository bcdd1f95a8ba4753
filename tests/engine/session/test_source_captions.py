"""Captions without a model are the words themselves."""

import random
import threading

import pytest

from engine.events import (
    CaptionChanged,
    Clear,
    Configure,
    EndPassage,
    Failed,
    FeedWords,
    Flush,
    Flushed,
    LoadAdapter,
    Ready,
    Refused,
    SetWords,
    UtteranceDropped,
    UtteranceEnded,
    untimed,
)
from engine.session.session import MAX_WORDS, Session
from engine.settings import TranslationSettings, UtteranceLimits
from engine.utterances import UtteranceTracker
from tests.support.commands import typed

PATIENCE_S = 60.0
POLISH = TranslationSettings(source_language="pl")


class Heard:
    """A session and what it reports."""

    def __init__(self):
        self.events = []
        self.flushed = threading.Semaphore(0)
        self.tracker = UtteranceTracker()
        self.utterances = {}
        self.session = Session(None, TranslationSettings(), self.take)

    def take(self, event):
        self.events.append(event)
        if isinstance(event, Flushed):
            self.flushed.release()
        utterance = self.tracker.take(event, 0.0)
        if isinstance(event, UtteranceDropped):
            del self.utterances[utterance.key]
        elif utterance is not None:
            self.utterances[utterance.key] = utterance

    def run(self, *commands, rests=False):
        """Send commands, with ``rests`` each when all before is captioned."""
        self.session.start()
        for number, command in enumerate(commands):
            self.session.send(command)
            if rests:
                self.session.send(Flush(number=number))
                assert self.flushed.acquire(timeout=PATIENCE_S)
        self.session.stop(PATIENCE_S)
        return [(one.lane, one.source, one.caption, one.ended) for one in self.utterances.values()]


def test_its_captions_are_in_the_language_of_the_source():
    one = Heard()
    one.run(typed(["ab"]), EndPassage(), Configure(POLISH), typed(["cd"]))
    assert [it.languages for it in one.utterances.values()] == [("en", "en"), ("pl", "pl")]


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


def test_sentences_of_all_lanes_become_captions_and_end():
    one = Heard()
    rows = one.run(
        FeedWords(untimed(("we", "went")), "me"),
        FeedWords(untimed(("Yes.", "And")), "them"),
        FeedWords(untimed(("home.",)), "me"),
        SetWords(untimed(("typed", "words"))),
        EndPassage(),
        EndPassage("them"),
    )
    assert rows == [
        ("me", "we went home.", "we went home.", True),
        ("them", "Yes.", "Yes.", True),
        ("them", "And", "And", True),
        ("", "typed words", "typed words", True),
    ]
    assert len(of(Ready, one.events)) == 1


def test_whatever_is_typed_and_corrected_the_caption_is_the_source():
    rng = random.Random(0)
    commands, words = [], []
    for _ in range(300):
        if words and rng.random() < 0.3:
            words[rng.randrange(len(words))] = "".join(rng.choices("ab.", k=3))
        elif rng.random() < 0.1:
            words = []
            commands.append(EndPassage())
        else:
            words.append("".join(rng.choices("abé漢.", k=rng.randrange(1, 4))))
        commands.append(SetWords(untimed(words)))
    one = Heard()
    rows = one.run(*commands, EndPassage(), rests=True)
    assert rows
    assert all(source == caption and ended for _, source, caption, ended in rows)
    cut = [event for event in of(CaptionChanged, one.events) if not event.text]
    assert cut, "corrections cut captions back"


def test_cleared_passages_do_not_end():
    one = Heard()
    one.run(SetWords(untimed(("gone",))), Clear(), FeedWords(untimed(("here.",)), "me"))
    assert len(of(UtteranceEnded, one.events)) == 1


def test_other_limits_hold_from_the_next_words_on(tmp_path):
    limits = UtteranceLimits(soft_words=2, max_words=2)
    rows = Heard().run(
        Configure(TranslationSettings(limits=limits)),
        LoadAdapter(tmp_path),  # it has no model for one
        FeedWords(untimed("abcd"), "me"),
        EndPassage("me"),
    )
    assert [caption for _, _, caption, _ in rows] == ["a b", "c d"]


def test_too_many_words_are_refused_in_one_sentence():
    one = Heard()
    one.run(FeedWords(untimed(("a",) * (MAX_WORDS + 1)), "me"))
    (refused,) = of(Refused, one.events)
    assert f"{MAX_WORDS + 1}" in str(refused.message).replace(",", "")


def test_what_it_cannot_bear_is_reported_and_ends_it(caplog, monkeypatch):
    def fail(*_arguments):
        msg = "it broke"
        raise RuntimeError(msg)

    monkeypatch.setattr("engine.session.serving.Passages.change", fail)
    one = Heard()
    one.run(SetWords(untimed(("a",))))
    (failed,) = of(Failed, one.events)
    assert "it broke" in str(failed.message)
    assert "the engine stopped" in caplog.text
    caplog.clear()


@pytest.mark.parametrize("patience_s", [0.0, PATIENCE_S])
def test_it_ends_with_its_thread(patience_s):
    session = Session(None, TranslationSettings(), lambda _event: None)
    session.start()
    session.stop(patience_s)
    assert "surtitle-engine" not in {thread.name for thread in threading.enumerate()}


def test_it_is_stopped_without_having_been_started():
    Session(None, TranslationSettings(), lambda _event: None).stop(PATIENCE_S)
