from dataclasses import replace
from functools import partial

import pytest

from engine.events import Confidence
from engine.messages import Code
from engine.remote.wire import (
    MOST_CAPTION,
    MOST_LINE_BYTES,
    MOST_REQUEST_BYTES,
    Asked,
    Failure,
    Leaving,
    Opened,
    Opening,
    Settled,
    opening,
    read_answer,
    read_opened,
    read_request,
    write,
)
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.captioner import Change

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


ASKED = Asked(session=SESSION, number=1, words=("a",), ended=False)
LANGUAGES = {f"aa-{number}": "" for number in range(1000)}
OPENED = Opened(model="m", languages={"de": "German"}, target="de", notices=(NOTE,))


@pytest.mark.parametrize(
    "value",
    [
        opening(SESSION, SETTINGS, takes_any_language=True),
        Asked(
            session=SESSION,
            number=7,
            words=("Straße", "漢字", "🙂."),
            ended=True,
            caption='He said "so"\n',
            haste=4,
            arrivals=(1, 2),
        ),
        Leaving(session=SESSION),
        OPENED,
        Change(3, ' "ä\u2028"\n', 5),
        Settled(n_read=5, finished=False),
        Settled(n_read=5, finished=True, confidence=Confidence(0.25, is_low=True)),
        Failure(NOTE),
    ],
)
def test_what_is_written_is_read_as_it_was(value):
    line = write(value)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    match value:
        case Opening() | Asked() | Leaving():
            assert read_request(type(value), line) == value
        case Opened():
            assert read_opened(line) == value
        case _:
            assert read_answer(line) == value


def test_layout_and_limits_are_those_of_the_server():
    own = replace(SETTINGS, layout=LayoutSettings(slot_length=9), catch_up_words=None)
    assert read_request(Opening, write(opening(SESSION, own))).settings == SETTINGS


@pytest.mark.parametrize(
    "words", [("a",) * 65, ("a" * 201,), ("ab" * 20,) * 30, ("two words",), ("",)]
)
def test_more_than_a_sentence_is_refused(words):
    with pytest.raises(ValueError, match="'words' should be at most"):
        read_request(Asked, write(replace(ASKED, words=words)))


def test_a_message_that_cannot_be_shown_is_not():
    for sentence in ("\x1b[2J", "two\nlines", "x" * 701):
        told = Code.AS_SAID(sentence=sentence)
        failed = read_answer(write(Failure(told)))
        assert failed.message.code is Code.SERVER_MISUNDERSTOOD
        assert not read_opened(write(replace(OPENED, notices=(told,)))).notices


@pytest.mark.parametrize(
    ("known", "other"),
    [
        ({"model": "m" * 200}, {"model": "m" * 201}),
        ({"model": "m"}, {"model": "\x1b[2J"}),
        ({"target": "zh_Hant-TW"}, {"target": "d"}),
        ({"languages": {"de": ""}}, {"languages": {"../x": ""}}),
        ({"languages": LANGUAGES}, {"languages": LANGUAGES | {"zz": "one more"}}),
    ],
)
def test_what_a_server_offers_is_taken_up_to_its_bounds_and_refused_beyond(known, other):
    assert read_opened(write(replace(OPENED, **known))) == replace(OPENED, **known)
    with pytest.raises(ValueError, match=r"should|cannot be shown|more than 1000 languages"):
        read_opened(write(replace(OPENED, **other)))


def test_a_confidence_is_a_share():
    for value in (0.0, 1.0):
        settled = Settled(n_read=1, finished=True, confidence=Confidence(value))
        assert read_answer(write(settled)) == settled
    for value in (-0.1, 1.1):
        with pytest.raises(ValueError, match="'confidence' should be from 0 to 1"):
            read_answer(write(replace(settled, confidence=Confidence(value))))


def test_another_version_is_told_from_ours():
    said = "is of version 2, and this Surtitle speaks version 1"
    with pytest.raises(ValueError, match=said):
        read_opened(write(replace(OPENED, version=2)))
    with pytest.raises(ValueError, match=said):
        read_request(Asked, write(replace(ASKED, version=2)))
    with pytest.raises(ValueError, match="lacks 'version'"):
        read_request(Leaving, b'{"session": "%s"}' % SESSION.encode())


@pytest.mark.parametrize(
    ("known", "other"),
    [
        ({"session": "a" * 22}, {"session": "a" * 21}),
        ({"session": "a" * 64}, {"session": "a" * 65}),
        ({"session": SESSION}, {"session": "a" * 24 + "/"}),
        ({"haste": 1}, {"haste": 0}),
        ({"haste": 8}, {"haste": 9}),
        ({"arrivals": (1, 64)}, {"arrivals": (1, 65)}),
        ({"arrivals": (1,)}, {"arrivals": (0, 1)}),
        ({"number": 0}, {"number": -1}),
        ({"caption": "a" * MOST_CAPTION}, {"caption": "a" * (MOST_CAPTION + 1)}),
    ],
)
def test_a_request_is_taken_up_to_its_bounds_and_refused_beyond(known, other):
    asked = replace(ASKED, **known)
    assert read_request(Asked, write(asked)) == asked
    with pytest.raises(ValueError, match=next(iter(other))):
        read_request(Asked, write(replace(ASKED, **other)))


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
    settings = replace(SETTINGS, **known)
    assert read_request(Opening, write(opening(SESSION, settings))).settings == settings
    with pytest.raises(ValueError, match=r"should|cannot be shown"):
        read_request(Opening, write(opening(SESSION, replace(SETTINGS, **other))))


def test_whoever_leaves_or_opens_is_a_session():
    for name in ("", "a" * 21, "a" * 65, "../" * 8):
        with pytest.raises(ValueError, match="'session' should be 22 to 64 letters and digits"):
            read_request(Leaving, write(Leaving(session=name)))
        with pytest.raises(ValueError, match="'session' should be 22 to 64 letters and digits"):
            read_request(Opening, write(opening(name, SETTINGS)))


@pytest.mark.parametrize(
    ("value", "read", "most"),
    [
        (ASKED, partial(read_request, Asked), MOST_REQUEST_BYTES),
        (OPENED, read_opened, MOST_LINE_BYTES),
        (Change(0, "a", 1), read_answer, MOST_LINE_BYTES),
    ],
)
def test_as_many_bytes_as_are_allowed_are_read_and_not_one_more(value, read, most):
    full = write(value).rstrip(b"\n").ljust(most)
    assert read(full) == value
    with pytest.raises(ValueError, match=f"is longer than {most} bytes"):
        read(full + b" ")
