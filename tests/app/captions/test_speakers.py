import pytest

from app.captions.model import SpeakerNames, UtteranceView


@pytest.fixture
def names():
    return SpeakerNames({"me": "Me", "them": "Them"})


def view(key, lane="me"):
    return UtteranceView(key=key, lane=lane)


def test_one_speaker_has_no_name_and_typed_words_never(names):
    names.hear(["me"])
    assert names.name_of(view(0)) == ""
    names.hear(["me", "them"])
    assert names.name_of(view(1, "")) == ""
    assert names.name_of(view(2, "other")) == ""


def test_two_speakers_have_names_and_keep_them_when_one_goes(names):
    names.hear(["me", "them"])
    assert [names.name_of(view(0)), names.name_of(view(1, "them"))] == ["Me", "Them"]
    names.hear(["me"])
    assert names.name_of(view(2)) == "Me"


def test_a_second_speaker_moves_no_text_of_the_first(names):
    names.hear(["me"])
    assert names.name_of(view(0)) == ""
    names.hear(["me", "them"])
    assert names.name_of(view(0)) == ""
    assert names.name_of(view(1)) == "Me"


def test_a_name_that_the_user_gave_is_shown_at_once_and_always(names):
    assert names.name_of(view(0)) == ""
    names.give({"me": "Ada"})
    assert names.name_of(view(0)) == "Ada"
    assert names.name_of(view(1, "them")) == ""
    names.hear(["me", "them"])
    assert names.name_of(view(2, "them")) == "Them"


def test_tentative_words_are_named_like_the_utterance_that_they_become(names):
    assert names.name_of(view(-1_000_000)) == ""
    names.hear(["me", "them"])
    assert names.name_of(view(-1_000_000)) == "Me"
