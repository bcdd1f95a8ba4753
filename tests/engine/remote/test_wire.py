from dataclasses import replace

import pytest

from engine.events import Confidence
from engine.messages import Code
from engine.remote.wire import (
    MOST_CAPTION,
    MOST_LINE_BYTES,
    MOST_REQUEST_BYTES,
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
    policy="read:4",
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
                arrivals=(1, 2),
            ),
            write_asked,
            read_asked,
        ),
        (SESSION, write_leave, read_leave),
        (Opened(context_rows=9, notices=(NOTE,)), write_opened, read_opened),
        (
            Offer(model="m", languages={"de": "German"}, notices=(NOTE,)),
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


ASKED = Asked(session=SESSION, number=1, sentence=Sentence(("a",), ended=False))


@pytest.mark.parametrize(
    ("known", "other"),
    [
        ({"session": "a" * 22}, {"session": "a" * 21}),
        ({"session": "a" * 64}, {"session": "a" * 65}),
        ({"session": SESSION}, {"session": "a" * 24 + "/"}),
        ({"haste": 1}, {"haste": 0}),
        ({"haste": 8}, {"haste": 9}),
        ({"arrivals": ()}, {"arrivals": (2,)}),
        ({"arrivals": (1,)}, {"arrivals": (0, 1)}),
        ({"number": 0}, {"number": -1}),
        ({"caption": "a" * MOST_CAPTION}, {"caption": "a" * (MOST_CAPTION + 1)}),
    ],
)
def test_a_request_is_taken_up_to_its_bounds_and_refused_beyond(known, other):
    asked = replace(ASKED, **known)
    assert read_asked(write_asked(asked)) == asked
    with pytest.raises(ValueError, match=next(iter(other))):
        read_asked(write_asked(replace(ASKED, **other)))


@pytest.mark.parametrize(
    ("known", "other"),
    [
        ({"context_sentences": 8}, {"context_sentences": 9}),
        ({"target_language": "zh_Hant-TW"}, {"target_language": "d"}),
        ({"source_language": "en-1-2-3"}, {"source_language": "en-1-2-3-4"}),
        ({"policy": "a" * 40}, {"policy": "a" * 41}),
        ({"glossary": (("a", "b"),) * 1000}, {"glossary": (("a", "b"),) * 1001}),
        ({"glossary": (("a" * 100, "b"),)}, {"glossary": (("a" * 101, "b"),)}),
        ({"glossary": (("a", "b"),)}, {"glossary": (("a", ""),)}),
        ({"glossary": (("a b", "b"),)}, {"glossary": (("a\nb", "b"),)}),
    ],
)
def test_an_opening_is_taken_up_to_its_bounds_and_refused_beyond(known, other):
    opening = Opening(session=SESSION, settings=replace(SETTINGS, **known))
    assert read_opening(write_opening(opening)) == opening
    with pytest.raises(ValueError, match=r"should be|at most|longer"):
        read_opening(write_opening(replace(opening, settings=replace(SETTINGS, **other))))


def test_whoever_leaves_or_opens_is_a_session():
    for name in ("", "a" * 21, "a" * 65, "../" * 8):
        with pytest.raises(ValueError, match="'session' should be 22 to 64 letters and digits"):
            read_leave(write_leave(name))
        with pytest.raises(ValueError, match="'session' should be 22 to 64 letters and digits"):
            read_opening(write_opening(Opening(session=name, settings=SETTINGS)))


@pytest.mark.parametrize(
    ("write", "read", "most"),
    [
        (write_leave(SESSION), read_leave, MOST_REQUEST_BYTES),
        (write_opened(Opened()), read_opened, MOST_LINE_BYTES),
        (write_answer(Changed(0, "a", 1)), read_answer, MOST_LINE_BYTES),
    ],
)
def test_as_many_bytes_as_are_allowed_are_read_and_not_one_more(write, read, most):
    full = write.rstrip(b"\n").ljust(most)
    assert read(full) == read(write)
    with pytest.raises(ValueError, match=f"is longer than {most} bytes"):
        read(full + b" ")
