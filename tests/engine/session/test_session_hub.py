"""Sessions whose model is named as on the hub, which is on this computer here, or is the second."""

from dataclasses import replace

import pytest

from engine.errors import ModelError
from engine.events import Failed, LoadProgress, UtteranceEnded
from engine.files import ByteCount
from engine.messages import Code
from engine.session.loaded_model import check_room
from engine.session.session import Session
from engine.settings import ModelSettings, TranslationSettings
from engine.untrusted.faults import is_damage
from tests.support.commands import fed
from tests.support.sessions import Listener, at_once, running


@pytest.fixture
def model(tmp_path):
    return ModelSettings(directory=tmp_path / "models", hub_name="some/model", device="cpu")


def fetched(listener):
    """How far the fetch was told to be."""
    told = [event for event in listener.all_of(LoadProgress) if event.message.code is Code.FETCHING]
    assert all("some/model" in str(event.message) for event in told)
    return [event.fraction for event in told]


def test_a_model_is_fetched_with_its_progress_and_the_next_time_found_without_a_network(
    tiny_hub, model, tmp_path
):
    with running(model) as (session, listener):
        session.send(fed(["ab", "cd."]))
        listener.wait_for(UtteranceEnded)
        found = ModelSettings(directory=tmp_path / "tiny", device="cpu")
        assert listener.receiver.text == at_once(found, "ab cd.")
    fractions = fetched(listener)
    assert fractions == sorted(set(fractions))
    assert fractions[-1] == 1
    n_asked = len(tiny_hub.asked)
    with running(model) as (_, listener):
        assert fetched(listener) == []
    assert len(tiny_hub.asked) == n_asked


def test_stopping_cancels_the_fetch_quietly_and_the_next_session_goes_on_with_it(tiny_hub, model):
    tiny_hub.fault = lambda name, start: (
        "stall" if name == "model.safetensors" and not start else None
    )
    listener = Listener()
    session = Session(model, TranslationSettings(), listener)
    session.start()
    listener.wait_for(LoadProgress)
    session.stop()
    assert Failed not in listener.kinds
    tiny_hub.fault = lambda _name, _start: None
    with running(model) as (_, listener):
        assert fetched(listener)[-1] == 1


def failure(model):
    listener = Listener()
    session = Session(model, TranslationSettings(), listener)
    session.start()
    message = listener.wait_for(Failed).message
    session.stop()
    return message


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_model_whose_file_has_gone_bad_is_mended_where_that_is_asked_for(tiny_hub, model, name):
    with running(model):
        pass
    bad = model.directory / "some--model" / name
    bad.write_bytes(bad.read_bytes()[:-40])
    tiny_hub.asked.clear()
    assert is_damage(failure(model))
    assert tiny_hub.asked == []
    with running(replace(model, mends=True)) as (session, listener):
        session.send(fed(["ab", "cd."]))
        listener.wait_for(UtteranceEnded)
    assert len(tiny_hub.asked) == 2
    with running(model):
        pass


def test_what_is_refused_though_it_is_as_on_the_hub_is_not_fetched_again(tiny_hub, model):
    with running(model):
        pass
    content = (model.directory / "some--model" / "tokenizer.json").read_bytes()[:-40]
    tiny_hub.files["tokenizer.json"] = content
    mending = replace(model, mends=True)
    assert is_damage(failure(mending))
    tiny_hub.asked.clear()
    assert is_damage(failure(mending))
    assert len(tiny_hub.asked) == 1  # the list of its files


@pytest.mark.parametrize("name", ["model.safetensors", "ctranslate2-int8/model.bin"])
def test_a_second_model_is_refused_before_it_is_loaded_if_twice_its_files_have_no_room(
    tmp_path, name
):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"w" * 1000)
    check_room(tmp_path, 2000)
    check_room(tmp_path, None)
    with pytest.raises(ModelError) as refused:
        check_room(tmp_path, 1999)
    assert refused.value.message.code is Code.NO_ROOM_FOR_TWO
    assert all(isinstance(size, ByteCount) for size in refused.value.message.values.values())
