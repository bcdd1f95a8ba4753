"""Sessions that fall behind, run out of memory, or are given more than anybody could translate."""

import json

import pytest
import torch

from engine.events import EndPassage, Failed, PaceChanged, Refused, Statistics, UtteranceEnded
from engine.runtime.torch.torch_store import TorchStore
from engine.session import session as session_module
from engine.session.session import CommandQueue, Session
from engine.settings import ModelSettings, TranslationSettings
from tests.support.commands import fed, typed
from tests.support.sessions import Listener, at_once, running

SENTENCES = ["ab cd ef gh.", "hh gg ff ee dd.", "abc d ef gg."]
TEXT = " ".join(SENTENCES)


# --- falling behind -------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["read:1", "wait:1", "offline"])
def test_words_that_wait_are_all_translated_in_larger_steps_and_it_is_told(model, policy, tmp_path):
    translation = TranslationSettings(policy=policy, catch_up_words=4)
    n_words = len(TEXT.split())
    with running(model, translation=translation, log=tmp_path / "log") as (session, listener):
        session.send(fed(TEXT.split()))
        listener.wait_for(UtteranceEnded, len(SENTENCES))
        listener.wait_for(Statistics)
        words = [word for words, _ in listener.receiver.text for word in words]
    assert words == TEXT.split()
    first, *_, last = listener.all_of(PaceChanged)
    assert (first.factor, first.backlog_words) == (4, n_words)
    assert (last.factor, last.backlog_words) == (1, 0)
    assert listener.all_of(Statistics)[-1].backlog_words == 0
    logged = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    paces = [(one["factor"], one["backlog_words"]) for one in logged if one["event"] == "pace"]
    told = [(one.factor, one.backlog_words) for one in listener.all_of(PaceChanged)]
    assert paces == told


def test_words_that_came_together_are_read_together(model):
    """Sentences of few words: read:1 reads each of them whole before it writes."""
    with running(model, translation=TranslationSettings(policy="read:1")) as (session, listener):
        session.send(fed(TEXT.split()))
        session.send(EndPassage())
        listener.wait_for(UtteranceEnded, len(SENTENCES))
        together = listener.receiver.text
    assert together == at_once(model, TEXT, policy="read:9")
    assert together != at_once(model, TEXT, policy="read:1", together=1)


def test_words_beyond_what_may_wait_are_refused_and_counted(model, monkeypatch):
    monkeypatch.setattr(session_module, "CommandQueue", lambda: CommandQueue(10))
    with running(model) as (session, listener):
        session.send(fed(["ab"] * 11))
        session.send(fed(["ab."]))
        refused = listener.wait_for(Refused)
        assert "10 words wait already, and no more were taken (left out: 11)" in str(
            refused.message
        )
        listener.wait_for(UtteranceEnded)
        assert listener.receiver.text == at_once(model, "ab.")


# --- running out of memory ------------------------------------------------------------------------

ERRORS = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nSee the manual."),
    RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
    MemoryError(),
]


def scarce(scarcity):
    """The store's ``feed``; one forward pass fails with each error that is put there."""
    feed = TorchStore.feed

    def fed(store, asked):
        if scarcity:
            raise scarcity.pop()
        return feed(store, asked)

    return fed


@pytest.mark.parametrize(
    ("system", "error"), [("slots", ERRORS[0]), ("slots", ERRORS[1]), ("retranslate", ERRORS[2])]
)
def test_a_sentence_that_needs_too_much_memory_is_given_up_and_the_next_is_translated(
    model, system, error, monkeypatch
):
    model = ModelSettings(directory=model.directory, device="cpu", system=system)
    expected = [at_once(model, sentence)[0] for sentence in SENTENCES]
    scarcity = []
    monkeypatch.setattr(TorchStore, "feed", scarce(scarcity))
    with running(model) as (session, listener):
        session.send(fed(SENTENCES[0].split()))
        listener.wait_for(UtteranceEnded)
        scarcity.append(error)
        session.send(fed(SENTENCES[1].split()))
        message = str(listener.wait_for(Refused).message)
        session.send(fed(SENTENCES[2].split()))
        listener.wait_for(UtteranceEnded)
        text = listener.receiver.text
    assert "could not be translated to its end" in message
    assert "\n" not in message
    assert text == [expected[0], (tuple(SENTENCES[1].split()), ""), expected[2]]
    assert Failed not in listener.kinds


def test_a_sentence_that_was_given_up_is_translated_when_it_is_corrected(model, monkeypatch):
    scarcity = []
    monkeypatch.setattr(TorchStore, "feed", scarce(scarcity))
    with running(model) as (session, listener):
        scarcity.append(ERRORS[0])
        session.send(typed(SENTENCES[0].split()))
        listener.wait_for(Refused)
        session.send(typed("hh cd ef gh.".split()))
        listener.wait_for(UtteranceEnded)
        assert listener.receiver.text == at_once(model, "hh cd ef gh.")


def test_steps_are_small_again_when_nothing_waits_behind_a_sentence_that_was_given_up(
    model, monkeypatch
):
    scarcity = []
    monkeypatch.setattr(TorchStore, "feed", scarce(scarcity))
    with running(model, translation=TranslationSettings(catch_up_words=2)) as (session, listener):
        scarcity.append(ERRORS[0])
        session.send(fed(SENTENCES[1].split()))
        listener.wait_for(Refused)
        listener.wait_for(PaceChanged)
        first, last = listener.all_of(PaceChanged)
    assert first.factor > 1
    assert (last.factor, last.backlog_words) == (1, 0)


class PanicException(BaseException):
    """What libraries in Rust raise: no ``Exception``."""


@pytest.mark.parametrize("kind", [RuntimeError, PanicException, SystemExit])
def test_what_nobody_expected_still_ends_the_session(model, monkeypatch, kind):
    def broken(_store, _asked):
        msg = "something else"
        raise kind(msg)

    with running(model) as (session, listener):
        monkeypatch.setattr(TorchStore, "feed", broken)
        session.send(fed(SENTENCES[0].split()))
        assert "something else" in str(listener.wait_for(Failed).message)


def test_too_little_memory_for_the_first_word_is_one_sentence(model, monkeypatch):
    monkeypatch.setattr(TorchStore, "feed", scarce([MemoryError()]))
    listener = Listener()
    session = Session(model, TranslationSettings(), listener)
    session.start()
    message = str(listener.wait_for(Failed).message)
    session.stop()
    assert message.startswith("memory ran out (")
    assert "\n" not in message
