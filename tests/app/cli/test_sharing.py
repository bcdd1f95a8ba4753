"""The further languages of ``--share``: who chooses them, and what a session is told."""

from argparse import Namespace

import pytest

from app.cli import sharing
from app.cli.exit_codes import UsageError
from app.cli.sharing import SharedRoom, ShareSettings, named_languages
from app.sharing import grace
from engine.commands import FurtherLanguage, UseLanguages
from engine.events import LanguageFailed, LanguagesChanged
from engine.messages import Code
from engine.settings import TranslationSettings
from tests.support.audience.fake_room import fake_rooms
from tests.support.sound_server import wait_until

FRENCH, SPANISH = FurtherLanguage("fr"), FurtherLanguage("es")


@pytest.fixture
def shared(monkeypatch):
    fake_rooms(monkeypatch)
    settings = ShareSettings(address="127.0.0.1", further=(FRENCH, SPANISH))
    shared = SharedRoom(settings, ("en", "de"))
    yield shared
    shared.close()


@pytest.fixture
def told(shared):
    """What a session was told since it began."""
    told = []
    shared.ask(told.append)
    return told


def read(shared, *codes):
    shared.room.read = codes
    shared.room.readers_changed()


def test_a_language_is_asked_for_from_its_first_reader_until_a_while_after_its_last(
    shared, told, monkeypatch
):
    assert shared.room.languages == {"source": "en", "caption": "de", "fr": "fr", "es": "es"}
    assert told == []
    read(shared, "fr")
    read(shared, "fr", "es")
    assert told == [UseLanguages((FRENCH,)), UseLanguages((FRENCH, SPANISH))]
    monkeypatch.setattr(grace, "GRACE_S", 0.05)
    read(shared, "es")
    wait_until(lambda: len(told) == 3)
    assert told[-1] == UseLanguages((SPANISH,))


def test_who_read_before_the_session_is_there_is_not_forgotten(shared):
    read(shared, "es")
    told = []
    shared.ask(told.append)
    assert told == [UseLanguages((SPANISH,))]


def test_one_language_more_than_is_computed_at_once_is_told_to_its_readers(
    shared, told, monkeypatch
):
    monkeypatch.setattr("app.captions.further.MOST_READ", 1)
    read(shared, "fr", "es")
    assert told == [UseLanguages((FRENCH,))]
    assert shared.room.full == ("es",)


def test_what_the_session_captions_is_told_and_what_fails_is_offered_no_more(shared, told):
    read(shared, "fr", "es")
    shared.take(LanguagesChanged(languages=("fr",)))
    assert shared.room.ready == ("fr",)
    shared.take(LanguageFailed(language="es", message=Code.LOADING()))
    assert shared.room.languages == {"source": "en", "caption": "de", "fr": "fr"}
    assert told[-1] == UseLanguages((FRENCH,))
    assert shared.room.full == ()


def test_after_the_end_nobody_is_asked_for_anything(shared, told, monkeypatch):
    read(shared, "fr")
    shared.close()
    monkeypatch.setattr(grace, "GRACE_S", 0.0)
    read(shared)
    assert told == [UseLanguages((FRENCH,))]
    assert shared._timer is None


def test_it_costs_nothing_where_no_further_language_is_named(monkeypatch):
    fake_rooms(monkeypatch)
    monkeypatch.setattr(sharing.threading, "Timer", None)
    shared = SharedRoom(ShareSettings(address="127.0.0.1"), ("en", "de"))
    assert not shared.has_further
    told = []
    shared.ask(told.append)
    read(shared, "fr")  # what is not offered
    shared.close()
    assert told == []


def test_the_model_that_is_named_for_a_language_translates_from_what_is_spoken(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("app.captions.models.bundled_models", list)
    asked = Namespace(share_languages=["fr"], model_library=tmp_path)
    for spoken, named in (("en", "opus-mt-en-fr"), ("de", "m2m100_418M")):
        settings = TranslationSettings(source_language=spoken, target_language="pl")
        with pytest.raises(UsageError, match=f"got 'fr': fetch one first.* --model [^ ]*{named} "):
            named_languages(asked, settings, own=())
