"""What works stays in use until the new model works."""

import threading
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.config.settings_in_force import ModelChoice
from app.controllers.model_change import model_folder
from app.main_window.transcript_model import CAPTION
from engine.events import LoadProgress
from engine.messages import Code
from engine.settings import ModelSettings
from engine.untrusted.faults import Fault
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.setup_services import parts
from tests.support.app.whole_program import cells

POLISH = ModelChoice(model=Path("some/polish"), language="pl")
UNREACHABLE = Code.HUB_UNREACHABLE(host="huggingface.co", reason="no answer")
NO_ROOM = Code.NO_ROOM_FOR_TWO(needed="4 GB", free="1 GB")


@pytest.fixture
def german(program, tmp_path, monkeypatch):
    """Make the program with its bundled model in use, and sessions after it that wait or fail."""
    monkeypatch.setattr("engine.hub.catalogue.bundled_models", lambda: [tmp_path])
    monkeypatch.setattr("app.controllers.model_controller.bundled_languages", lambda: ("de",))

    def make(*failures, may_load=None):
        engine = FakeEngine()
        one = program(engine, model=None).open().wait_until_ready()
        engine._failures, engine._may_load = list(failures), may_load
        return one

    return make


def choose(one, choice=POLISH):
    one.application.settings.choose_model(choice)
    one.wait(lambda: len(one.engine.sessions) > 1)


def stored_model(one):
    return tomllib.loads(one.file.read_text()).get("model") if one.file.exists() else None


def captions(one):
    return [caption for _, caption in cells(one.window.transcript)]


def say(one, text):
    n_rows = len(captions(one))
    one.say(text)
    one.wait(lambda: captions(one)[n_rows:] == [text.upper()])


def test_captions_go_on_in_the_old_language_while_the_new_model_is_fetched_and_loaded(german):
    may_load = threading.Event()
    one = german(may_load=may_load)
    first = one.session
    choose(one)
    bar = one.window.next_bar
    one.wait(bar.isVisible)
    fetching = Code.FETCHING(name="some/polish", done=0.1, total=0.9)
    one.application.bridge.next_came.emit(LoadProgress(message=fetching, fraction=0.1))
    assert "0.10 of 0.90 GB. Captions go on in German until then." in bar.sentence.text()
    say(one, "good morning")
    assert first.calls, "the old model has it"
    assert one.window.choices.language.value == "de"
    assert stored_model(one) is None
    may_load.set()
    one.wait(lambda: stored_model(one) == "some/polish")
    assert not bar.isVisible()
    assert one.application.settings.translation.target_language == "pl"
    say(one, "and on")
    assert captions(one) == ["GOOD MORNING", "AND ON"]
    assert [view.language for view in one.window.transcript.rows.views] == ["de", "pl"]
    rows = one.window.transcript.rows
    title = rows.headerData(CAPTION, Qt.Orientation.Horizontal)
    assert title.startswith("German · "), "rows keep the language that they were translated to"
    assert one.engine.sessions[1].calls


def test_where_it_fails_captions_go_on_and_nothing_is_stored(german, program):
    one = german(UNREACHABLE)
    choose(one)
    banner = one.window.banner
    one.wait(banner.back.isVisible)
    assert "Captions go on in German." in banner.sentence.text()
    assert banner.back.text() == "&Stay with German"
    assert one.window.status.is_ready
    say(one, "good morning")
    assert stored_model(one) is None
    banner.back.click()
    assert not banner.isVisible()
    assert one.window.choices.language.value == "de"
    assert program(model=None).application.settings.model is None, "nor after a restart"


def test_a_licence_that_forbids_commerce_is_asked_for_beside_the_model_in_use(german):
    one = german(Code.LICENCE_FORBIDS_COMMERCE(name="polish", licence="cc-by-nc-4.0"))
    choose(one)
    offer = one.window.banner.offer
    one.wait(offer.isVisible)
    assert offer.text() == "Not used c&ommercially"
    offer.click()
    one.wait(lambda: stored_model(one) == "some/polish")
    assert one.engine.models[-1].accepts_licence


def test_what_failed_can_be_tried_again(german):
    one = german(UNREACHABLE)
    choose(one)
    banner = one.window.banner
    one.wait(banner.retry.isVisible)
    one.engine._may_load = threading.Event()
    banner.retry.click()
    one.wait(one.window.next_bar.isVisible)
    assert not banner.isVisible(), "while it is tried, it has not failed"
    one.engine._may_load.set()
    one.wait(lambda: stored_model(one) == "some/polish")
    assert not banner.isVisible()


DAMAGED = Code.CANNOT_LOAD(folder="models", reason=Fault.DAMAGED(detail="cut"))


@pytest.mark.parametrize(("failure", "mends"), [(DAMAGED, True), (UNREACHABLE, False)])
def test_what_was_damaged_is_fetched_again_where_it_is_tried_again(german, failure, mends):
    one = german(failure, failure)
    choose(one)
    banner = one.window.banner
    for n_sessions in (3, 4):
        one.wait(banner.retry.isVisible)
        banner.retry.click()
        one.wait(lambda n_sessions=n_sessions: len(one.engine.sessions) == n_sessions)
    one.wait(lambda: stored_model(one) == "some/polish")
    assert [model.mends for model in one.engine.models[1:]] == [False, mends, mends]
    one.application.model.start_over()
    one.wait(lambda: len(one.engine.models) == 5)
    assert not one.engine.models[4].mends


@pytest.mark.parametrize(("failure", "mends"), [(DAMAGED, True), (UNREACHABLE, False)])
def test_so_it_is_where_the_stored_model_was_damaged(program, failure, mends):
    one = program(FakeEngine(failures=[failure]), model=Path("some/polish")).open()
    one.wait(one.window.banner.retry.isVisible)
    one.window.banner.retry.click()
    one.wait_until_ready()
    assert [model.mends for model in one.engine.models] == [False, mends]


def test_after_a_fetch_that_failed_another_model_or_a_folder_can_be_chosen_at_once(german):
    one = german(UNREACHABLE)
    guide = one.application.setup
    guide.parts = parts()
    choose(one)
    banner = one.window.banner
    one.wait(banner.isVisible)
    assert "choose a model folder on this computer" in banner.sentence.text()
    assert banner.other.text() == "A&nother model or folder…"
    banner.other.click()
    assert guide.models.isVisible()
    assert guide.models.language == "pl"
    assert guide.models.folder.isVisible()
    assert banner.retry.isVisible(), "until another one is chosen"
    guide.models.choose(Path("some/polish"))
    guide.models.wanted.emit(POLISH)
    one.wait(lambda: stored_model(one) == "some/polish")
    assert not banner.isVisible()


def test_a_model_of_the_command_line_that_fails_offers_no_other_one(program):
    one = program(FakeEngine(failures=[UNREACHABLE])).open()
    banner = one.window.banner
    one.wait(banner.retry.isVisible)
    assert not banner.other.isVisible(), "that would not be used before the end"


def test_a_change_that_is_cancelled_changes_nothing(german):
    one = german(may_load=threading.Event())
    choose(one)
    one.wait(one.window.next_bar.isVisible)
    one.window.next_bar.cancel.click()
    assert not one.window.next_bar.isVisible()
    say(one, "good morning")
    assert stored_model(one) is None


def test_without_room_for_two_the_old_model_gives_way_once_all_files_are_here(german):
    one = german(NO_ROOM)
    choose(one)
    one.wait(lambda: stored_model(one) == "some/polish")
    assert [model.is_second for model in one.engine.models] == [False, True, False]
    say(one, "good morning")
    assert one.engine.sessions[-1].calls


def test_without_room_for_two_the_old_model_comes_back_if_the_new_one_fails(german):
    one = german(NO_ROOM, Code.ENGINE_STOPPED(reason="damaged"))
    choose(one)
    one.wait(one.window.banner.back.isVisible)
    assert "damaged" in one.window.banner.sentence.text()
    one.wait_until_ready()
    assert len(one.engine.sessions) == 4
    say(one, "good morning")
    assert stored_model(one) is None


@pytest.mark.parametrize(("stored", "offered"), [("pl", "German"), ("fr", "French")])
def test_a_stored_model_that_fails_at_the_start_offers_a_bundled_one_for_its_language(
    german, program, monkeypatch, stored, offered
):
    german().application.settings.adopt_model(replace(POLISH, language=stored))
    known = ("de", "es", "fr")
    monkeypatch.setattr("app.controllers.model_controller.bundled_languages", lambda: known)
    one = program(FakeEngine(failures=[UNREACHABLE]), model=None).open()
    banner = one.window.banner
    one.wait(banner.back.isVisible)
    assert banner.back.text() == f"&Use {offered} instead"
    assert banner.other.isVisible()
    banner.back.click()
    one.wait_until_ready()
    assert stored_model(one) is None
    say(one, "good morning")


def test_a_translator_that_is_chosen_translates_where_nothing_was_translated(german):
    one = german()
    one.application.settings.choose_mode("captions only")
    one.wait_until_ready()
    choose(one)
    one.wait(lambda: stored_model(one) == "some/polish")
    assert one.application.settings.translates
    assert len(one.engine.sessions) == 2, "it is loaded once"


def test_a_model_of_the_hub_is_in_a_folder_of_its_name_in_the_library(tmp_path):
    assert model_folder(ModelSettings(directory=tmp_path)) == tmp_path
    of_hub = ModelSettings(directory=tmp_path, hub_name="some/model")
    assert model_folder(of_hub) == tmp_path / "some--model"
