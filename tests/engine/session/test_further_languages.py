"""Sessions that caption in further languages beside the one of their settings."""

import contextlib
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from engine.events import (
    AdapterChanged,
    CaptionChanged,
    Clear,
    EndPassage,
    Flush,
    Flushed,
    FurtherCaptionLeftOut,
    FurtherLanguage,
    LanguageFailed,
    LanguagesChanged,
    LoadAdapter,
    UseLanguages,
    UtteranceEnded,
)
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import Language
from engine.session.loaded_model import LoadedModel
from engine.session.session import Session
from engine.settings import ModelSettings, TranslationSettings
from engine.utterances import UtteranceTracker
from tests.support.adapter_folders import CONFIG, factors, tiny_card, write_adapter
from tests.support.commands import fed, typed
from tests.support.fakes import save_tiny_model
from tests.support.sessions import Listener, at_once, running

TEXT = "ab cd ef gh."
OTHER = "abc d ef hh gg."
FRENCH = FurtherLanguage("fr")


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("second"))
    return ModelSettings(directory=folder, device="cpu", is_second=True)


@contextlib.contextmanager
def in_french(model):
    """A session that captions in French, too."""
    with running(model) as (session, listener):
        session.send(UseLanguages((FRENCH,)))
        listener.wait_for(LanguagesChanged)
        yield session, listener


def captions_of(listener):
    """The captions of all utterances: source, those of the settings, and the further ones."""
    tracker = UtteranceTracker()
    for event in listener.events:
        tracker.take(event, 0.0)
    return [
        (one.source, one.caption, {code: it.caption for code, it in one.further.items()})
        for one in tracker._utterances.values()
    ]


def said(model, text, language="de", *, together=None):
    ((_, caption),) = at_once(model, text, language=language, together=together)
    return caption


def test_one_model_captions_in_two_languages_as_it_would_in_each_alone(model):
    with running(model) as (session, listener):
        session.send(UseLanguages((FRENCH,)))
        assert listener.wait_for(LanguagesChanged).languages == ("fr",)
        for text in (TEXT, OTHER):
            for word in text.split():
                session.send(fed([word]))
        listener.wait_for(UtteranceEnded, 2, language="fr")
        found = captions_of(listener)
    assert found == [
        (text, said(model, text, together=1), {"fr": said(model, text, "fr", together=1)})
        for text in (TEXT, OTHER)
    ]


def test_a_second_model_loads_beside_the_captions_and_then_captions_too(model, second):
    with running(model) as (session, listener):
        session.send(UseLanguages((FurtherLanguage("fr", second), FurtherLanguage("de", second))))
        assert listener.wait_for(LanguagesChanged).languages == ("fr", "de")
        session.send(fed(TEXT.split()))
        for language in ("fr", "de"):
            listener.wait_for(UtteranceEnded, language=language)
        found = captions_of(listener)
    further = {"fr": said(second, TEXT, "fr"), "de": said(second, TEXT)}
    assert found == [(TEXT, said(model, TEXT), further)]


def test_what_was_said_while_a_language_loaded_has_its_captions_once_it_is_there(
    model, second, monkeypatch
):
    may_load = threading.Event()
    load = LoadedModel.__init__

    def wait(one, settings, *others):
        if settings == second:
            may_load.wait(20)
        load(one, settings, *others)

    with running(model) as (session, listener):
        monkeypatch.setattr(LoadedModel, "__init__", wait)
        session.send(UseLanguages((FurtherLanguage("fr", second),)))
        session.send(typed(TEXT.split()))
        session.send(EndPassage())
        session.send(fed(OTHER.split()))
        listener.wait_for(UtteranceEnded, 2)
        session.send(Flush(1))
        listener.wait_for(Flushed)
        assert not listener.all_of(CaptionChanged, "fr")
        may_load.set()
        listener.wait_for(UtteranceEnded, 2, language="fr")
        found = captions_of(listener)
    assert found == [
        (text, said(model, text), {"fr": said(second, text, "fr")}) for text in (TEXT, OTHER)
    ]


def test_captions_of_the_settings_never_wait_for_a_further_language(model):
    with in_french(model) as (session, listener):
        session.send(fed([*TEXT.split(), *OTHER.split()]))
        listener.wait_for(UtteranceEnded, 2, language="fr")
        ends = [listener.events.index(event) for event in listener.all_of(UtteranceEnded)]
        first = listener.events.index(listener.all_of(CaptionChanged, "fr")[0])
    assert len(ends) == 2
    assert max(ends) < first


@pytest.mark.parametrize("ends", [False, True])
def test_a_language_that_fell_behind_leaves_no_caption_empty_once_there_is_time(
    model, monkeypatch, ends
):
    monkeypatch.setattr("engine.translation.targets.MOST_WAITING", 12)
    sentences = [TEXT, OTHER] * 4
    with in_french(model) as (session, listener):
        session.send(fed([word for one in sentences for word in one.split()]))
        session.send(Flush(1))
        if ends:
            session.stop(60)  # the patience of who closes it
        else:
            listener.wait_for(UtteranceEnded, len(sentences), language="fr")
        found, events = captions_of(listener), listener.events
    assert listener.all_of(FurtherCaptionLeftOut)
    before = events[: listener.kinds.index(Flushed)]
    n_before = sum(isinstance(one, UtteranceEnded) and one.language == "fr" for one in before)
    assert n_before < len(sentences)  # who waits for what was said does not wait for that
    assert [source for source, _, _ in found] == sentences
    assert all(further["fr"] for _, _, further in found)


def test_a_language_that_comes_in_mid_sentence_captions_the_whole_of_it(model):
    with running(model) as (session, listener):
        session.send(fed(OTHER.split()))
        listener.wait_for(UtteranceEnded)
        session.send(fed(["ab", "cd"]))
        session.send(UseLanguages((FRENCH,)))
        listener.wait_for(LanguagesChanged)
        session.send(fed(["ef", "gh."]))
        listener.wait_for(UtteranceEnded, language="fr")
        found = captions_of(listener)
    assert found[0][2] == {}  # it had its caption before
    further = {"fr": said(model, TEXT, "fr", together=2)}
    assert found[1] == (TEXT, said(model, TEXT, together=2), further)


def test_an_edit_changes_the_captions_of_all_languages(model):
    with in_french(model) as (session, listener):
        session.send(typed(["ab", "cd", "hh"]))
        session.send(Flush(1))
        listener.wait_for(Flushed)
        session.send(typed(TEXT.split()))
        session.send(EndPassage())
        listener.wait_for(UtteranceEnded, language="fr")
        found = captions_of(listener)
        session.send(typed(["ab"]))
        session.send(Clear())
        session.send(Flush(2))
        listener.wait_for(Flushed)
        assert len(captions_of(listener)) == 1
    assert found == [(TEXT, said(model, TEXT), {"fr": said(model, TEXT, "fr")})]


@pytest.mark.parametrize(
    "wrong",
    [
        FurtherLanguage("pl"),
        FurtherLanguage("fr", ModelSettings(directory=Path("none"))),
    ],
)
def test_a_language_that_cannot_be_captioned_leaves_the_others_alone(model, wrong):
    with running(model) as (session, listener):
        session.send(UseLanguages((wrong, FurtherLanguage("de"))))
        failed = listener.wait_for(LanguageFailed)
        session.send(fed(TEXT.split()))
        listener.wait_for(UtteranceEnded, language="de")
        found = captions_of(listener)
    assert failed.language == wrong.code
    assert str(failed.message)
    assert found == [(TEXT, said(model, TEXT), {"de": said(model, TEXT)})]


def test_a_switch_of_adapters_switches_the_languages_of_the_same_model(model, tmp_path):
    base = read_fingerprint(model.directory)
    tensors = {key: value * 0.2 for key, value in factors(base, CONFIG).items()}
    languages = {code: Language(name=code, system=f"<|{code}|>") for code in ("de", "fr")}
    card = tiny_card(base, name="one", languages=languages)
    folder = write_adapter(tmp_path / "one", base, tensors=tensors, card=card)
    with in_french(model) as (session, listener):
        session.send(fed(["ab", "cd"]))
        session.send(LoadAdapter(folder))
        session.send(fed(["ef", "gh."]))
        session.send(fed(OTHER.split()))
        listener.wait_for(AdapterChanged, 2)
        listener.wait_for(UtteranceEnded, language="fr")
        found = captions_of(listener)
    adapted = replace(model, adapter=folder)
    assert found == [
        (TEXT, said(model, TEXT, together=2), {"fr": said(model, TEXT, "fr", together=2)}),
        (OTHER, said(adapted, OTHER), {"fr": said(adapted, OTHER, "fr")}),
    ]


def test_a_session_without_a_model_captions_in_further_languages_by_theirs(model):
    listener = Listener()
    session = Session(None, TranslationSettings(policy="read:2"), listener)
    session.start()
    session.send(UseLanguages((FurtherLanguage("fr", model),)))
    listener.wait_for(LanguagesChanged)
    session.send(fed(TEXT.split()))
    listener.wait_for(UtteranceEnded, language="fr")
    session.stop()
    assert captions_of(listener) == [(TEXT, TEXT, {"fr": said(model, TEXT, "fr")})]
