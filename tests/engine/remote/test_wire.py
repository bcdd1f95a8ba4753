from dataclasses import replace

import pytest

from engine.events import Confidence
from engine.messages import Code
from engine.remote.wire import (
    Asked,
    Changed,
    Failure,
    Offer,
    Opened,
    Opening,
    Settled,
    read_answer,
    read_asked,
    read_leave,
    read_offer,
    read_opened,
    read_opening,
    write_answer,
    write_asked,
    write_leave,
    write_offer,
    write_opened,
    write_opening,
)
from engine.settings import LayoutSettings, TranslationSettings
from engine.text.sentences import Sentence

SESSION = "Aa0-_" * 5
SETTINGS = TranslationSettings(
    target_language="pt-BR",
    source_language="en",
    policy="adaptive:0.5",
    glossary=(("head of state", "Staatsoberhaupt"),),
    context_sentences=2,
    constrained=False,
)
NOTE = Code.SERVER_SENTENCE_GIVEN_UP(reason=Code.SERVER_FULL())


@pytest.mark.parametrize(
    ("value", "write", "read"),
    [
        (Opening(session=SESSION, settings=SETTINGS), write_opening, read_opening),
        (
            Asked(
                session=SESSION,
                number=7,
                sentence=Sentence(("Straße", "漢字", "🙂."), ended=True),
                caption='He said "so"\n',
                haste=4,
            ),
            write_asked,
            read_asked,
        ),
        (SESSION, write_leave, read_leave),
        (Opened(context_rows=9, notices=(NOTE,)), write_opened, read_opened),
        (
            Offer(model="m", languages={"de": "German"}, lags={"0.5": 2.0}, notices=(NOTE,)),
            write_offer,
            read_offer,
        ),
        (Changed(3, ' "ä\u2028"\n', 5), write_answer, read_answer),
        (Settled(n_read=5, finished=False), write_answer, read_answer),
        (
            Settled(n_read=5, finished=True, confidence=Confidence(0.25, is_low=True)),
            write_answer,
            read_answer,
        ),
        (Failure(NOTE), write_answer, read_answer),
    ],
)
def test_what_is_written_is_read_as_it_was(value, write, read):
    line = write(value)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert read(line) == value


def test_layout_and_limits_are_those_of_the_server():
    own = replace(SETTINGS, layout=LayoutSettings(slot_length=9), catch_up_words=None)
    found = read_opening(write_opening(Opening(session=SESSION, settings=own))).settings
    assert found == SETTINGS


@pytest.mark.parametrize(
    "sentence",
    [
        Sentence(("a",) * 65, ended=False),
        Sentence(("a" * 201,), ended=False),
        Sentence(("ab" * 20,) * 30, ended=False),
        Sentence(("two words",), ended=False),
        Sentence(("",), ended=False),
    ],
)
def test_more_than_a_sentence_is_refused(sentence):
    with pytest.raises(ValueError, match="'words' should be at most"):
        read_asked(write_asked(Asked(session=SESSION, number=1, sentence=sentence)))


def test_a_message_that_cannot_be_shown_is_not():
    for sentence in ("\x1b[2J", "two\nlines", "x" * 701):
        failed = read_answer(write_answer(Failure(Code.AS_SAID(sentence=sentence))))
        assert failed.message.code is Code.SERVER_MISUNDERSTOOD
        opened = read_opened(write_opened(Opened(notices=(Code.AS_SAID(sentence=sentence),))))
        assert not opened.notices


def test_another_version_is_told_from_ours():
    line = write_offer(Offer(model="m", languages={})).replace(b'"version": 1', b'"version": 2')
    with pytest.raises(ValueError, match="is of version 2, and this Surtitle speaks version 1"):
        read_offer(line)
