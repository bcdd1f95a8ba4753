"""Adapters that are loaded, switched and refused while a session runs."""

import shutil

import pytest

from engine.events import (
    AdapterChanged,
    EndPassage,
    Failed,
    LoadAdapter,
    Notice,
    Refused,
    Statistics,
    UnloadAdapter,
    UseAdapter,
    UtteranceEnded,
)
from engine.messages import Code
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import Language
from engine.settings import ModelSettings
from tests.support.adapter_folders import CONFIG, factors, tiny_card, write_adapter
from tests.support.chat_templates import CHATML
from tests.support.commands import fed, typed
from tests.support.fakes import save_tiny_model
from tests.support.sessions import at_once, running

TEXT = "ab cd ef gh."
OTHER = "abc d ef hh gg."


def add_adapter(folder, base, name, *, scale=0.2, **changes):
    """An adapter that changes what is said without breaking it."""
    tensors = {key: value * scale for key, value in factors(base, CONFIG).items()}
    card = tiny_card(base, name=name, **changes)
    return write_adapter(folder / name, base, tensors=tensors, card=card)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The base, and adapters by name."""
    root = tmp_path_factory.mktemp("models")
    saved = save_tiny_model(root / "base")
    base = read_fingerprint(saved)
    french = {"fr": Language(name="French", system="<|fr|>")}
    return {
        None: saved,
        "one": add_adapter(root, base, "one"),
        "two": add_adapter(root, base, "two", scale=-0.3, slot_length=5),
        "french": add_adapter(root, base, "french", languages=french),
        "stranger": write_adapter(root / "stranger"),  # over another tokenizer
    }


def model(folders, adapter=None):
    return ModelSettings(
        directory=folders[None], adapter=adapter and folders[adapter], device="cpu"
    )


@pytest.fixture(scope="module")
def fresh(folders):
    """What a session says that begins with an adapter: by adapter and text."""
    found = {}
    for adapter in (None, "one", "two"):
        with running(model(folders, adapter)) as (session, listener):
            for text in (TEXT, OTHER):
                found[adapter, text] = translated(session, listener, text)
    assert len({caption for ((_, caption),) in found.values()}) == 6
    return found


def translated(session, listener, text):
    """Feed a text and take its captions."""
    before = len(listener.receiver.text)
    session.send(fed(text.split()))
    listener.wait_for(UtteranceEnded)
    return listener.receiver.text[before:]


def test_captions_after_a_switch_are_those_of_a_fresh_load_to_the_character(folders, fresh):
    assert fresh[None, TEXT] == at_once(model(folders), TEXT)
    assert fresh["one", TEXT] == at_once(
        model(folders, "one"), TEXT
    )  # merged, as the terminal does
    with running(model(folders)) as (session, listener):
        assert translated(session, listener, TEXT) == fresh[None, TEXT]
        session.send(LoadAdapter(folders["one"]))
        assert translated(session, listener, TEXT) == fresh["one", TEXT]
        session.send(LoadAdapter(folders["two"], use=False))
        assert translated(session, listener, OTHER) == fresh["one", OTHER]
        for name in ("two", None, "one", "two"):
            session.send(UseAdapter(name))
            assert translated(session, listener, TEXT) == fresh[name, TEXT]
        session.send(UnloadAdapter("one"))
        changed = listener.wait_for(AdapterChanged)
    assert (changed.names, changed.used) == (("two",), "two")
    used = [event.used for event in listener.all_of(AdapterChanged)]
    assert used == [None, "one", "one", "two", None, "one", "two", "two"]
    assert Refused not in listener.kinds
    counted = [event.tokens_fed for event in listener.all_of(Statistics)]
    assert counted == sorted(counted)  # work is counted on over a switch
    assert len(set(listener.receiver.order)) == 7


def test_a_session_that_begins_with_an_adapter_can_do_without_it(folders, fresh):
    with running(model(folders, "one")) as (session, listener):
        changed = listener.wait_for(AdapterChanged)
        assert (changed.names, changed.used) == (("one",), "one")
        assert changed.languages == {"de": "German"}
        session.send(UseAdapter(None))
        assert translated(session, listener, TEXT) == fresh[None, TEXT]
        assert listener.all_of(AdapterChanged)[-1].languages == {"de": "German", "fr": "French"}


def test_a_sentence_that_is_half_said_is_translated_as_it_began(folders, fresh):
    with running(model(folders)) as (session, listener):
        session.send(fed(["ab", "cd"]))
        session.send(LoadAdapter(folders["one"]))
        session.send(fed(["ef", "gh.", *OTHER.split()]))
        session.send(EndPassage())
        session.send(fed(["ab"]))
        session.send(EndPassage())
        listener.wait_for(UtteranceEnded, 3)
        assert listener.receiver.text == [
            *at_once(model(folders), TEXT, together=2),
            *fresh["one", OTHER],
            *at_once(model(folders, "one"), "ab"),
        ]
    numbers = listener.receiver.order
    assert len(set(numbers)) == 3


def test_what_was_translated_before_a_switch_is_final(folders, fresh):
    with running(model(folders)) as (session, listener):
        session.send(typed([*TEXT.split(), *OTHER.split()]))
        listener.wait_for(UtteranceEnded, 2)
        before = listener.receiver.text
        session.send(LoadAdapter(folders["one"]))
        listener.wait_for(AdapterChanged, 2)
        session.send(typed(["hh", *TEXT.split()[1:], *OTHER.split(), *TEXT.split()]))
        listener.wait_for(UtteranceEnded)
        assert listener.receiver.text == [*before, *fresh["one", TEXT]]
        session.send(typed([*TEXT.split(), *OTHER.split(), *OTHER.split()]))
        listener.wait_for(UtteranceEnded)
        assert listener.receiver.text == [*before, *fresh["one", OTHER]]


def test_what_cannot_be_done_is_one_sentence_and_the_old_adapter_goes_on(folders, fresh):
    with running(model(folders, "one")) as (session, listener):
        for command, words in (
            (LoadAdapter(folders["stranger"]), "another model"),
            (LoadAdapter(folders["one"] / "nowhere"), "folder cannot be read"),
            (LoadAdapter(folders["one"]), "is loaded"),
            (LoadAdapter(folders["french"]), "not to 'de'"),
            (UseAdapter("nobody"), "no adapter nobody"),
            (UnloadAdapter("nobody"), "no adapter nobody"),
            (UnloadAdapter("one"), "is in use"),
        ):
            n_refused = len(listener.all_of(Refused))
            session.send(command)
            refused = listener.wait_for(Refused)
            assert words in str(refused.message)
            assert "\n" not in str(refused.message)
            assert translated(session, listener, TEXT) == fresh["one", TEXT]
            assert len(listener.all_of(Refused)) == n_refused + 1
        assert {event.used for event in listener.all_of(AdapterChanged)} == {"one"}
        assert Failed not in listener.kinds


def test_an_adapter_for_slots_ends_a_policy_of_drafts_and_says_so(folders, tmp_path):
    plain = shutil.copytree(folders[None], tmp_path / "plain")
    (plain / "surtitle.json").unlink()
    (plain / "chat_template.jinja").write_text(CHATML, encoding="utf-8")
    settings = ModelSettings(directory=plain, device="cpu")
    with running(settings, policy="stable:2") as (session, listener):
        assert listener.events[-1].makes_drafts
        session.send(LoadAdapter(folders["one"]))
        assert listener.wait_for(Notice).message.code is Code.POLICY_REPLACED
        changed = listener.wait_for(AdapterChanged)
        assert (changed.used, changed.makes_drafts) == ("one", False)
        session.send(UseAdapter(None))
        assert listener.wait_for(AdapterChanged).makes_drafts
        assert len(listener.all_of(Notice)) == 1
        assert Refused not in listener.kinds
