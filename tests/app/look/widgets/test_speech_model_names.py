"""How speech models are called in the windows."""

import pytest

from app.look.widgets.names import speech_id, speech_name, speech_words
from engine.hub.catalogue import SPEECH_CHOICES, STREAMING_MODELS


@pytest.mark.usefixtures("qapp")
def test_those_that_are_offered_have_words_in_their_order_and_others_none():
    offered = [speech_words(choice.name) for choice in SPEECH_CHOICES]
    assert offered == ["Fast", "Balanced", "Accurate"]
    assert {speech_words(name) for name in STREAMING_MODELS} == {"At once"}
    assert not speech_words("some/model")
    assert not speech_words("")


@pytest.mark.usefixtures("qapp")
def test_beside_the_words_stands_the_name_and_of_a_folder_its_last_part(tmp_path):
    choice = SPEECH_CHOICES[0]
    assert speech_name(choice.name) == f"Fast ({choice.name})"
    assert speech_name("some/model") == "some/model"
    assert speech_name(str(tmp_path / "mine")) == speech_id(str(tmp_path / "mine")) == "mine"
