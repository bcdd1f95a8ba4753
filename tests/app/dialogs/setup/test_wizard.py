import threading
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.config.preferences import Preferences, TranslationPreferences
from app.dialogs.setup.wizard import SetupWizard
from engine.commands import Configure
from engine.events import LoadProgress
from engine.hub.catalogue import KNOWN_MODELS
from engine.messages import Code
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.setup_services import parts, says

FORECAST = {"kind": "forecast", "n_words": 9, "median_s": 1.9, "p95_s": 3.1, "computing_s": 0.2}
CRASH = "import os; os.abort()"
HANG = "import time; time.sleep(99)"


@pytest.fixture
def guide(qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    guides = []

    def make(code=None, preferences=None, **more):
        one = SetupWizard(tmp_path / "models", parts(code, **more))
        qtbot.addWidget(one)
        one.starts = []
        one.start_wanted.connect(lambda *start: one.starts.append(start))
        one.open_guide(preferences or Preferences())
        guides.append(one)
        return one

    yield make
    for one in guides:
        one.end()


def go_to(one, page):
    while one.stack.currentWidget() is not page:
        one.next.click()


def measured(qtbot, one):
    go_to(one, one.speed_page)
    one.speed_page.measure.click()
    qtbot.waitUntil(one.speed_page.measure.isVisible, timeout=30_000)
    return one.speed_page.result.text()


def test_every_page_can_be_passed_over_and_the_bundled_model_begins(guide):
    one = guide()
    for number in range(len(one.pages)):
        assert one.step.text() == f"{number + 1} of 4"
        assert one.start_now.isVisible()
        one.next.click()
    assert one.starts == [(None, "de")]
    assert not one.isVisible()


@pytest.mark.parametrize("n_pages", range(4))
def test_the_bundled_model_can_be_begun_with_at_every_page(guide, n_pages):
    one = guide(preferences=Preferences(model=Path("some/model")))
    for _ in range(n_pages):
        one.next.click()
    one.start_now.click()
    assert one.starts == [(None, "de")]


def test_without_a_bundled_model_nothing_is_offered_that_is_not_there(guide):
    assert not guide(bundled=()).start_now.isVisible()


def test_closing_it_begins_nothing(guide, qtbot):
    one = guide()
    with qtbot.waitSignal(one.left):
        qtbot.keyClick(one, Qt.Key.Key_Escape)
    assert one.starts == []


def test_the_language_is_chosen_and_what_the_bundled_model_knows_is_said(guide):
    one = guide(preferences=Preferences(translation=TranslationPreferences(language="fr")))
    assert one.welcome.language == "fr"
    assert "translates into German only" in one.welcome.note.text()
    one.welcome.target.setCurrentIndex(one.welcome.target.findData("de"))
    assert "everyday sentences" in one.welcome.note.text()


def test_the_bundled_model_begins_in_a_language_it_knows_and_the_button_says_so(guide):
    french = Preferences(translation=TranslationPreferences(language="fr"))
    one = guide(preferences=french)
    assert "German" in one.start_now.text()
    one.start_now.click()
    one.open_guide(french)
    go_to(one, one.speed_page)
    one.next.click()
    one.welcome.target.setCurrentIndex(one.welcome.target.findData("de"))
    assert "German" not in one.start_now.text()
    assert one.starts == [(None, "de")] * 2


def test_the_meters_move_as_long_as_they_are_seen(guide, qtbot):
    one = guide()
    go_to(one, one.sound_page)
    meter = one.sound_page.meters["microphone"]
    qtbot.waitUntil(lambda: meter.filled > 0.5)
    qtbot.waitUntil(lambda: "start one." in one.sound_page.messages["system"].text())
    assert one.sound_page.messages["system"].text() == "No sound server answers: start one."
    assert one.sound_page.meters["system"].filled == 0
    one.next.click()
    assert meter.filled == 0


def test_what_the_computer_has_and_what_fits_stands_beside_the_models(guide, qtbot):
    one = guide()
    go_to(one, one.model_page)
    page = one.model_page
    qtbot.waitUntil(lambda: "8 cores" in page.machine.text(), timeout=30_000)
    qtbot.waitUntil(lambda: page.table.item(1, 4).text() == "yes, on the processor", timeout=30_000)
    assert page.table.item(0, 0).text() == "surtitle-en-de (recommended)"
    assert page.table.item(0, 2).text() == "CC-BY-SA-4.0"
    assert page.table.item(0, 3).text() == "bundled"
    assert page.table.item(1, 3).text() == "to fetch"
    assert "free on the disk" in page.room.text()


@pytest.mark.parametrize(("code", "words"), [(CRASH, "crashed"), ("raise SystemExit(1)", "error")])
def test_a_check_that_crashes_is_one_sentence_and_a_model_can_be_chosen(guide, qtbot, code, words):
    one = guide(code)
    go_to(one, one.model_page)
    qtbot.waitUntil(lambda: words in one.model_page.machine.text(), timeout=30_000)
    qtbot.waitUntil(lambda: one.model_page.table.rowCount() == 8, timeout=30_000)
    one.model_page.table.selectRow(2)
    go_to(one, one.speed_page)
    one.next.click()
    assert one.starts == [(Path(KNOWN_MODELS[1].name), "de")]


def test_the_window_is_closed_while_a_check_hangs(guide, qtbot):
    one = guide(HANG)
    go_to(one, one.model_page)
    qtbot.waitUntil(lambda: one._machine_check.is_running)
    one.end()
    assert not one._machine_check.is_running


def test_a_model_that_the_owner_must_be_asked_for_says_so(guide, qtbot):
    one = guide()
    go_to(one, one.model_page)
    qtbot.waitUntil(lambda: one.model_page.table.rowCount() == 8, timeout=30_000)
    one.model_page.table.selectRow(7)
    assert "First ask its owner" in one.model_page.room.text()


def test_what_is_fetched_is_shown_and_can_be_stopped(guide, qtbot, monkeypatch):
    one = guide()
    go_to(one, one.model_page)
    page, desk = one.model_page, one.desk
    qtbot.waitUntil(lambda: page.table.rowCount() == 8, timeout=30_000)
    asked = []
    monkeypatch.setattr(desk, "fetch", asked.append)
    page.table.selectRow(1)
    name = KNOWN_MODELS[0].name
    page.fetch.click()
    assert asked == [name]
    assert page.cancel.isVisible()
    desk.progressed.emit(name, 500_000_000, 3_000_000_000)
    assert page.message.text() == f"{name}: 500 MB of 3.0 GB downloaded."
    assert page.progress.value() == 167
    desk.failed.emit("")
    assert "will resume from here" in page.message.text()
    assert not page.cancel.isVisible()
    page.fetch.click()
    desk.failed.emit("the hub stopped sending: try again")
    assert page.message.text() == "The hub stopped sending: try again."
    page.fetch.click()
    desk.fetched.emit(name)
    assert page.message.text() == f"{name} is downloaded."


def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(guide, qtbot, monkeypatch):
    one = guide()
    monkeypatch.setattr(type(one.desk), "free_bytes", 1_000)
    go_to(one, one.model_page)
    qtbot.waitUntil(lambda: one.model_page.table.rowCount() == 8, timeout=30_000)
    one.model_page.table.selectRow(1)
    assert not one.model_page.fetch.isEnabled()
    assert "Not enough for this model" in one.model_page.room.text()


@pytest.mark.parametrize(
    ("load", "words"), [(0.3, "It keeps up"), (0.9, "tight"), (1.4, "too slow: captions would")]
)
def test_the_lag_is_foretold_in_seconds_with_advice(guide, qtbot, load, words):
    one = guide(says({**FORECAST, "load": load}))
    text = measured(qtbot, one)
    assert text == "Captions will lag about 1.9 s behind their words, 3.1 s at worst."
    assert words in one.speed_page.advice.text()


def test_a_measurement_that_fails_is_one_sentence(guide, qtbot):
    one = guide(says({"kind": "failed", "message": "the model is cut off: get it again"}))
    assert measured(qtbot, one) == "The model is cut off: get it again."
    other = guide(CRASH)
    assert "crashed" in measured(qtbot, other)


def test_a_measurement_can_be_stopped(guide, qtbot):
    one = guide(HANG)
    go_to(one, one.speed_page)
    one.speed_page.measure.click()
    qtbot.waitUntil(one.speed_page.cancel.isVisible)
    one.speed_page.cancel.click()
    assert one.speed_page.measure.isVisible()
    assert one.speed_page.result.text() == ""


def test_what_is_not_here_cannot_be_measured(guide, qtbot):
    one = guide()
    go_to(one, one.model_page)
    qtbot.waitUntil(lambda: one.model_page.table.rowCount() == 8, timeout=30_000)
    one.model_page.table.selectRow(1)
    go_to(one, one.speed_page)
    assert not one.speed_page.measure.isEnabled()
    assert "not here yet" in one.speed_page.advice.text()


def test_the_guide_comes_by_itself_the_first_time_only(program, monkeypatch):
    monkeypatch.setattr("app.application.setup_controller.bundled_models", lambda: [Path("some")])
    one = program(first_run=True)
    one.application.side_windows.guide.parts = parts()
    one.application.show()
    guide = one.application.side_windows.guide.dialog
    assert guide.isVisible()
    assert not one.file.exists() or "model" not in tomllib.loads(one.file.read_text())
    guide.start_now.click()
    assert one.file.exists()  # so a start after this one is not the first
    assert not guide.isVisible()


def test_the_overlay_gives_way_to_the_guide_and_comes_back(program):
    one = program(first_run=True)
    one.application.side_windows.guide.parts = parts()
    one.application.show()
    guide = one.application.side_windows.guide.dialog
    assert not one.overlay.isVisible()
    guide.close()
    assert one.overlay.isVisible()
    one.window.controls.overlay.click()
    one.window.menu_actions.guide.trigger()
    guide.close()
    assert not one.overlay.isVisible()


def test_what_is_chosen_in_the_guide_is_stored_and_loaded(program, tmp_path, monkeypatch):
    monkeypatch.setattr("app.application.model_controller.bundled_models", lambda: [tmp_path])
    one = program(model=None).open().wait_until_ready()
    one.application.side_windows.guide.parts = parts()
    one.window.menu_actions.guide.trigger()
    guide = one.application.side_windows.guide.dialog
    guide.start_wanted.emit(Path("some/model"), "fr")
    assert one.stored()["model"] == "some/model"
    assert one.stored()["translation"]["language"] == "fr"
    one.wait(lambda: len(one.engine.models) == 2)
    assert one.engine.models[1].hub_name == "some/model"
    assert one.engine.translations[1].target_language == "fr"


def test_a_model_that_gives_way_is_not_asked_for_the_language_of_the_next(program):
    one = program(model=None).open().wait_until_ready()
    first = one.session
    one.application.side_windows.guide.parts = parts()
    one.window.menu_actions.guide.trigger()
    one.application.side_windows.guide.dialog.start_wanted.emit(Path("some/model"), "es")
    one.wait(lambda: len(one.engine.models) == 2)
    assert one.engine.translations[1].target_language == "es"
    assert not [call for call in first.calls if isinstance(call, Configure)]


def test_the_command_line_wins_over_what_is_chosen_in_the_guide(program):
    one = program(language="fr").open().wait_until_ready()
    one.application.side_windows.guide.parts = parts()
    one.window.menu_actions.guide.trigger()
    one.application.side_windows.guide.dialog.start_wanted.emit(Path("some/model"), "es")
    assert len(one.engine.models) == 1
    assert not [call for call in one.session.calls if isinstance(call, Configure)]
    assert one.stored()["model"] == "some/model"


def test_a_model_that_is_just_being_loaded_is_not_waited_for_by_the_window(program):
    may_load = threading.Event()
    one = program(FakeEngine(may_load=may_load), model=None).open()
    one.wait(lambda: one.window.banner.progress.value() == 500)
    chosen = one.application.settings
    chosen.choose(replace(chosen.preferences, model=Path("some/model")))
    one.application.model.start_over()  # would stand still here
    further = LoadProgress(message=Code.MAKING_CACHE(), fraction=0.8)
    one.application.bridge.event_came.emit(further)
    assert len(one.engine.models) == 1
    may_load.set()
    one.wait(lambda: len(one.engine.models) == 2)
    one.wait_until_ready()
    assert one.engine.models[1].hub_name == "some/model"
    assert len(one.engine.models) == 2


def test_a_model_that_is_being_fetched_gives_way_at_once(program):
    one = program(FakeEngine(may_load=threading.Event())).open()
    one.wait(lambda: one.window.banner.progress.value() == 500)
    one.application.model.start_over()
    progress = LoadProgress(
        message=Code.FETCHING(name="some/model", done=1.0, total=2.0), fraction=0.5
    )
    one.application.bridge.event_came.emit(progress)
    one.wait(lambda: len(one.engine.models) == 2)
