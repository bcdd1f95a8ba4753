from dataclasses import replace

import pytest

from engine.events import CaptionChanged, Configure, ContextChanged, Refused
from engine.messages import Code
from engine.models.model_card import read_card
from engine.settings import ModelSettings, TranslationSettings
from engine.text.glossary import MAX_TERMS
from engine.text.prompt import MAX_ROWS
from tests.support.commands import fed
from tests.support.fakes import save_tiny_model
from tests.support.sessions import running

PLAIN = TranslationSettings(policy="read:2")
TOLD = replace(PLAIN, glossary=(("slot", "Platz"), ("adapter", "Aufsatz")))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model that knows slots."""
    folder = tmp_path_factory.mktemp("trained")
    save_tiny_model(folder)
    return ModelSettings(directory=folder, device="cpu", capacity=1024)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model that finds its glossary in the prompt."""
    folder = tmp_path_factory.mktemp("model")
    save_tiny_model(folder)
    replace(read_card(folder), policies=()).save(folder)
    return ModelSettings(directory=folder, device="cpu", capacity=1024)


def test_a_model_that_knows_slots_is_told_no_glossary(trained):
    many = tuple((f"term{number}", "word") for number in range(MAX_TERMS + 1))
    with running(trained, translation=PLAIN) as (session, listener):
        session.send(Configure(TOLD))
        assert listener.wait_for(ContextChanged).rows == 0
        session.send(Configure(replace(PLAIN, glossary=many)))
        assert listener.wait_for(Refused).message.code is Code.GLOSSARY_TOO_LARGE


def test_what_a_glossary_costs_is_told_when_it_is_taken_and_when_it_is_gone(model):
    with running(model, translation=PLAIN) as (session, listener):
        session.send(Configure(TOLD))
        assert listener.wait_for(ContextChanged).rows > 5
        session.send(Configure(replace(TOLD, policy="read:3")))  # the same terms: nothing to tell
        session.send(Configure(PLAIN))
        assert listener.wait_for(ContextChanged).rows == 0
        assert len(listener.all_of(ContextChanged)) == 2


def test_a_glossary_that_is_too_long_is_refused_and_captions_go_on(model):
    long = tuple((f"term{number}", "word") for number in range(MAX_ROWS))
    with running(model, translation=PLAIN) as (session, listener):
        session.send(Configure(replace(PLAIN, glossary=long)))
        assert listener.wait_for(Refused).message.code is Code.GLOSSARY_TOO_LONG
        session.send(fed(["Good", "morning."]))
        listener.wait_for(CaptionChanged)
        assert listener.all_of(ContextChanged) == []
