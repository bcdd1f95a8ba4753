import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.config.settings_in_force import ModelChoice
from app.dialogs.setup.models_dialog import ModelsDialog, ModelService
from engine.events import LoadProgress
from engine.hub.catalogue import KNOWN_MODELS, TRANSLATION_MODELS, bundled_models
from engine.messages import Code
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.setup_services import MACHINE, parts, says


@pytest.fixture
def desk(qapp, tmp_path, monkeypatch):  # noqa: ARG001  signals need an application
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    desks = []

    def make():
        one = ModelService(tmp_path / "models")
        one.lists = []
        one.listed.connect(one.lists.append)
        desks.append(one)
        return one

    yield make
    for one in desks:
        one.close()


def test_the_bundled_model_and_those_of_the_library_are_here_and_others_are_not(qtbot, desk):
    one = desk()
    known = one.library / KNOWN_MODELS[1].name.replace("/", "--")
    for folder in (known, one.library / "mine", one.library / ".begun"):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    (one.library / "mine" / "README.md").write_text("---\nlicense: mit\n---\n")
    one.refresh()
    qtbot.waitUntil(lambda: bool(one.lists))
    (offers,) = one.lists
    here = {offer.name: offer for offer in offers if offer.is_here}
    bundled = [folder.name for folder in bundled_models()]
    assert set(here) == {*bundled, "mine", KNOWN_MODELS[1].name}
    for name in bundled:
        assert here[name].choice is None
        assert here[name].n_bytes > 1e7
        assert here[name].licence == "CC-BY-SA-4.0"
    assert here["mine"].licence == "MIT"
    assert len(offers) == len(TRANSLATION_MODELS) + len(bundled) + 1


SMALL = KNOWN_MODELS[0].name
N_GERMAN = 1 + sum(
    model.translates("en", "de") and (model.footprint is not None or len(model.targets) == 1)
    for model in TRANSLATION_MODELS
)
"""The bundled one, and the others but translators of many languages, which are not needed here."""
CRASH = "import os; os.abort()"
HANG = "import time; time.sleep(99)"


@pytest.fixture
def made(qtbot, tmp_path, monkeypatch):
    """Keep the dialogs that a test makes, and end them."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    dialogs = []

    def keep(one):
        qtbot.addWidget(one)
        dialogs.append(one)
        return one

    yield keep
    for one in dialogs:
        one.end()


@pytest.fixture
def models(made, tmp_path):
    def make(code=None, model=None):
        one = made(ModelsDialog(tmp_path / "models", parts(code)))
        one.uses = []
        one.wanted.connect(one.uses.append)
        now = ModelChoice(model=model, language="de")
        one.open_models(now, now)
        return one

    return make


def listed(qtbot, one):
    qtbot.waitUntil(lambda: len(one._offers) == N_GERMAN)
    return one


def row_of(page, name):
    return [offer.name for offer in page._offers].index(name)


def select(page, name):
    page.cards.choose(row_of(page, name))


def facts(page, name):
    return [fact.text for fact in page.cards.words[row_of(page, name)].facts]


def test_what_the_computer_has_and_what_fits_stands_beside_the_models(models, qtbot):
    page = models()
    qtbot.waitUntil(lambda: "8 cores" in page.machine.text())
    qtbot.waitUntil(lambda: "Runs (speed not known)" in facts(page, SMALL))
    first, *others = page.cards.words
    assert first.title == "English → German, built in"
    assert first.is_best
    assert first.detail == "surtitle-en-de · CC-BY-SA-4.0"
    assert not any(words.is_best for words in others)
    assert all("to download" in str(words.facts) for words in others)
    assert "free on the disk" in page.room.text()


def test_the_others_stand_below_the_recommended_model_and_arrow_keys_pass_their_heading(models):
    cards = polish(models(says(MACHINE))).cards
    assert cards.item(1).text() == "More models"
    cards.choose(0)
    QTest.keyClick(cards, Qt.Key.Key_Down)
    assert cards.chosen == 1
    QTest.keyClick(cards, Qt.Key.Key_Up)
    assert cards.chosen == 0
    assert len(cards.words) == cards.count() - 1


def test_one_bar_alone_scrolls_in_a_small_window_and_what_is_asked_stays(models, qtbot):
    one = models(says(MACHINE))
    one.resize(592, 320)
    page = polish(one)
    cards, bar = page.cards, one.area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > cards.height() // 2)
    assert cards.verticalScrollBar().maximum() == 0
    last = cards.item(cards.count() - 1)
    assert cards.viewport().rect().contains(cards.visualItemRect(last))
    cards.setFocus()
    for _ in range(cards.count()):
        QTest.keyClick(cards, Qt.Key.Key_Down)
    assert cards.currentItem() is last
    seen = one.area.viewport().rect()
    card = cards.visualItemRect(last)
    assert seen.contains(cards.viewport().mapTo(one.area.viewport(), card.center()))
    for part in (page.room, page.folder, one.apply):
        assert part.visibleRegion().boundingRect().size() == part.size()


def test_a_check_that_crashes_is_one_sentence_is_tried_again_and_a_model_can_be_chosen(
    models, qtbot
):
    one = models(CRASH)
    qtbot.waitUntil(lambda: "crashed" in one.machine.text())
    one.retry.click()
    assert not one.retry.isVisible()
    qtbot.waitUntil(one.retry.isVisible)
    select(listed(qtbot, one), KNOWN_MODELS[1].name)
    one.apply.click()
    assert one.uses == [ModelChoice(model=Path(KNOWN_MODELS[1].name), language="de")]
    assert not one.isVisible()


def test_the_window_is_closed_while_a_check_hangs(models, qtbot):
    one = models(HANG)
    qtbot.waitUntil(lambda: one._check.is_running)
    one.end()
    assert not one._check.is_running


def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(models, qtbot, monkeypatch):
    roomy = models()
    select(listed(qtbot, roomy), SMALL)
    assert roomy.apply.isEnabled()
    one = models()
    monkeypatch.setattr(type(one.service), "free_bytes", 1_000)
    page = listed(qtbot, one)
    select(page, SMALL)
    assert not one.apply.isEnabled()
    assert "Not enough for this model" in page.room.text()


def polish(one):
    choose(one.target, "pl")
    return one


def choose(box, code):
    box.setCurrentIndex(box.findData(code))


FAST = {"kind": "computing", "gflops": 1000.0}


def test_two_languages_lead_to_the_models_that_translate_between_them(models, qtbot):
    page = polish(models(says(MACHINE, FAST)))
    qtbot.waitUntil(lambda: "8 cores" in page.machine.text())
    first = page.cards.words[0]
    assert first.is_best
    assert first.detail == "facebook/m2m100_418M · MIT"
    quality, size, speed, use = facts(page, "facebook/m2m100_418M")
    assert (quality, size) == ("Quality: ●●○○ fair", "1.9 GB to download")
    assert speed.startswith("Fast enough (uses ")
    assert use == "Free for any use"
    assert page.apply.text() == "Download and &use (1.9 GB)"
    assert "46.5 chrF on FLORES-200" in first.tip
    assert "A second of speech takes about 0." in first.tip
    assert page.offer.name == "facebook/m2m100_418M"
    assert not any(offer.choice is None for offer in page._offers)
    choose(page.target, "de")
    assert page.offer.choice is None
    assert page.apply.text() == "&Use this model"


def test_another_spoken_language_leads_to_other_models_and_one_chosen_twice_is_exchanged(models):
    one = models(says(MACHINE, FAST))
    page = one
    choose(page.source, "fr")
    assert (page.spoken, page.language) == ("fr", "de")
    assert not any(offer.choice is None for offer in page._offers)
    choose(page.target, "fr")
    assert (page.spoken, page.language) == ("de", "fr")
    choose(page.target, "en")
    assert "Helsinki-NLP/opus-mt-de-en" in [offer.name for offer in page._offers]
    select(page, "Helsinki-NLP/opus-mt-de-en")
    one.apply.click()
    wanted = ModelChoice(model=Path("Helsinki-NLP/opus-mt-de-en"), language="en", source="de")
    assert one.uses == [wanted]


def test_the_model_in_use_is_marked_and_there_is_nothing_to_use(models, qtbot, pick):
    one = models()
    qtbot.waitUntil(lambda: one.offer is not None)
    marked = [words.title for words in one.cards.words if words.facts[0].text == "In use now"]
    assert marked == ["English → German, built in"]
    one.choose(None)
    assert not one.apply.isEnabled()
    for folder in (None, "/my/own"):
        asked = pick(folder)
        one.folder.click()
        assert one.apply.isEnabled() == (folder is not None)
    assert asked == [("Folder of a translation model", None)] * 2
    one.apply.click()
    assert [use.model for use in one.uses] == [Path("/my/own")]


@pytest.mark.parametrize(
    ("gflops", "again", "marked"), [(1.0, True, False), (1.0, False, False), (1e6, False, True)]
)
def test_nothing_is_recommended_beside_a_doubt_that_it_is_fast_enough(
    models, qtbot, gflops, again, marked
):
    page = polish(models(says(MACHINE)))
    qtbot.waitUntil(lambda: "8 cores" in page.machine.text())
    page.take_speed(gflops, again)
    assert page.cards.words[0].is_best is marked


def test_the_model_in_use_stays_selected_when_another_one_is_recommended(models, qtbot):
    page = models(says(MACHINE, FAST), model=Path("/my/own"))
    qtbot.waitUntil(lambda: "8 cores" in page.machine.text())
    assert page.offer.choice == Path("/my/own")


def test_what_a_source_without_blanks_means_is_said_beside_its_models(models):
    page = models()
    for spoken, is_said in (("ja", True), ("pl", False)):
        page.show_languages(spoken, "de")
        assert ("written without blanks between words" in page.room.text()) == is_said


def test_the_window_of_the_models_measures_the_speed_again_whenever_it_is_opened(one):
    guide, desk, asked = one.application.setup, one.application.listening.service, []
    desk.measure_speed = lambda: asked.append(True)
    guide.parts = parts()
    for n_opened in (1, 2):
        guide.open_models()
        assert len(asked) == n_opened
        assert guide.report.measures_again
        desk.speed_measured.emit(10.0 * n_opened, False)
        one.wait(lambda n=n_opened: guide.report.gflops == 10.0 * n)
        assert not guide.report.measures_again


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


def test_the_command_line_wins_over_a_model_that_is_chosen_and_that_is_said(program):
    one = program(language="fr").open().wait_until_ready()
    one.application.setup.parts = parts()
    one.window.menu_actions.models.trigger()
    one.application.setup.models.wanted.emit(ModelChoice(model=Path("some/model"), language="es"))
    assert len(one.engine.models) == 1
    assert one.stored()["model"] == "some/model"
    assert "the model that was named when it was started" in one.window.banner.sentence.text()
