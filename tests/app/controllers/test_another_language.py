"""From the first start to captions in a language that the included model does not know."""

import re
import threading
from pathlib import Path

import pytest

from app.captions.models import MachineReport, known_offers
from app.config.settings_in_force import ModelChoice
from engine.messages import Code
from engine.models.encoder_decoder.record import Record
from engine.untrusted.faults import Fault
from engine.untrusted.plain_files import folder_of
from tests.support.app.bundle import bundle
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.setup_services import MACHINE, parts, says

NAME = "facebook/m2m100_418M"
FAST = {"kind": "computing", "gflops": 1000.0}


@pytest.fixture
def first_start(program, tmp_path, monkeypatch):
    monkeypatch.setattr("engine.hub.catalogue.bundled_models", lambda: [tmp_path])
    one = program(model=None).open().wait_until_ready()
    setup = one.application.setup
    setup.parts = parts(says(MACHINE, FAST))
    setup.open_guide()
    return one, setup


def choose(box, code):
    """Two clicks: open the list, choose."""
    box.setCurrentIndex(box.findData(code))
    return 2


def click(*buttons):
    for button in buttons:
        assert button.isEnabled()
        button.click()
    return len(buttons)


def test_a_model_for_polish_is_the_choice_after_a_guide_into_polish(first_start):
    one, setup = first_start
    guide = setup.dialog
    n_clicks = choose(guide.welcome.target, "pl")
    assert "you choose a translation model after this set-up" in guide.welcome.note.text()
    n_clicks += click(guide.next, guide.next, guide.next, guide.next)
    models = setup.models
    assert models.isVisible()
    assert models.language == "pl"
    one.wait(lambda: models.offer is not None and models.offer.name == NAME)
    n_clicks += click(models.apply)
    assert n_clicks == 7
    assert not models.isVisible()
    one.wait(lambda: one.application.settings.model == Path(NAME))
    assert one.stored()["model"] == NAME
    assert one.stored()["translation"]["language"] == "pl"
    one.wait(lambda: len(one.engine.models) == 2)
    assert one.engine.models[1].hub_name == NAME
    assert one.engine.translations[1].target_language == "pl"


def test_a_ready_made_model_that_does_not_know_the_language_gives_way_after_the_set_up(program):
    one = program(model=None).open().wait_until_ready()
    french = Path("Helsinki-NLP/opus-mt-en-fr")
    one.application.settings.adopt_model(ModelChoice(model=french, language="fr"))
    setup = one.application.setup
    setup.parts = parts(says(MACHINE, FAST), bundled=("de",))
    setup.open_guide()
    choose(setup.dialog.welcome.target, "pl")
    click(*[setup.dialog.next] * 4)
    assert (one.stored()["model"], one.stored()["translation"]["language"]) == (str(french), "fr")
    assert setup.models.isVisible()
    assert setup.models.language == "pl"
    one.wait(lambda: setup.models.offer.name == NAME)


NLLB = Path("facebook/nllb-200-distilled-600M")
FORBIDS = Code.LICENCE_FORBIDS_COMMERCE(name="nllb", licence="cc-by-nc-4.0")


def test_a_licence_that_was_not_accepted_is_asked_for_and_kept(program):
    one = program(FakeEngine(failures=[FORBIDS]), model=NLLB).open()
    banner = one.window.banner
    one.wait(banner.offer.isVisible)
    assert "forbids commercial use" in banner.sentence.text()
    assert not one.engine.models[0].accepts_licence
    banner.offer.click()
    one.wait_until_ready()
    assert one.engine.models[1].accepts_licence
    assert one.stored()["accepted"] == str(NLLB)
    again = program(model=NLLB).open().wait_until_ready()
    assert again.engine.models[0].accepts_licence


def test_what_is_spoken_is_told_to_the_model_and_the_transcript(program):
    one = program(model=None).open().wait_until_ready()
    guide = one.application.setup
    guide.parts = parts()
    one.window.menu_actions.models.trigger()
    choose(guide.models.source, "pl")
    choose(guide.models.target, "en")
    guide.models.choose(Path(NAME))
    click(guide.models.apply)
    one.wait(lambda: one.application.settings.model == Path(NAME))
    assert one.engine.translations[1].source_language == "pl"
    assert one.window.choices.languages[0] == "Polish"


def test_the_languages_of_a_model_are_offered_before_it_is_loaded_without_the_spoken_one(
    program, tmp_path
):
    tokens = {code: f"__{code}__" for code in ("en", "de", "pl")}
    record = Record(
        name="three",
        family="m2m100",
        sources=tokens,
        targets=tokens,
        source_pieces="pieces.model",
        target_pieces="pieces.model",
        licence="mit",
    )
    record.save(tmp_path)
    may_load = threading.Event()
    one = program(FakeEngine(may_load=may_load)).open()
    one.wait(lambda: bool(one.engine.translations))
    assert [code for _, code in one.window.choices.language.entries] == ["de", "pl"]
    may_load.set()
    one.wait_until_ready()


KNOWS_NO_FRENCH = {
    "en": "The model surtitle-en-de does not know the language French; the captions are in German.",
    "de": "Das Modell surtitle-en-de kennt die Sprache Französisch nicht; "
    "die Untertitel sind auf Deutsch.",
}
CUT = Code.CANNOT_LOAD(folder="models", reason=Fault.DAMAGED(detail="cut"))


def test_a_model_that_does_not_know_the_language_says_so_once_it_is_in_use_and_not_before(
    program, tmp_path, monkeypatch, language
):
    german = bundle(tmp_path, monkeypatch)["de"]
    one = program(model=None).open().wait_until_ready()
    one.window.choices.language.pick("fr")
    one.wait(lambda: one.application.settings.translation.target_language == "fr")
    one.engine._failures = [CUT]
    banner = one.window.banner
    one.application.settings.choose_model(ModelChoice(model=german, language="fr"))
    one.wait(banner.back.isVisible)
    banner.back.click()
    assert not banner.isVisible(), "captions are in French as before"
    one.application.settings.choose_model(ModelChoice(model=german, language="fr"))
    one.wait(lambda: one.application.settings.model == german)
    one.wait(banner.isVisible)
    assert banner.sentence.text() == KNOWS_NO_FRENCH[language]
    assert one.application.settings.translation.target_language == "de"
    one.application.settings.choose_model(ModelChoice(model=None, language="fr"))
    one.wait(lambda: one.application.settings.model is None)
    one.wait_until_ready()
    assert not banner.isVisible(), "it was of the model before"


def test_a_model_that_fails_at_the_start_says_nothing_of_its_languages_after_another_came(
    program, tmp_path, monkeypatch
):
    german = bundle(tmp_path, monkeypatch)["de"]
    first = program(model=None).open().wait_until_ready()
    first.application.settings.adopt_model(ModelChoice(model=german, language="fr"))
    one = program(FakeEngine(failures=[CUT]), model=None).open()
    banner = one.window.banner
    one.wait(banner.back.isVisible)
    banner.back.click()
    assert not banner.isVisible()
    one.wait_until_ready()
    assert not banner.isVisible()
    assert one.application.settings.translation.target_language == "fr"


def test_the_language_menu_leads_to_other_languages_with_the_size_of_their_models(program):
    one = program(model=None).open().wait_until_ready()
    guide = one.application.setup
    guide.parts = parts()
    menu = one.window.choices.language
    menu.aboutToShow.emit()
    texts = {action.text(): action for action in menu.others}
    (polish,) = (action for text, action in texts.items() if text.startswith("Polish"))
    told = r"Polish \(quality: (weak|fair|good|very good), download 1.9 GB\)…"
    assert re.fullmatch(told, polish.text())
    assert polish.toolTip() == "Download 1.9 GB, then use"
    (danish,) = (action for text, action in texts.items() if text.startswith("Danish"))
    assert re.fullmatch(r"Danish \(download 300 MB\)…", danish.text())
    assert danish.toolTip() == "Download 300 MB, then use; its quality is not published"
    names = [text for text, _ in menu.entries]
    assert not [text for text in texts if text.split(" (")[0] in names], "those are above the line"
    assert "&More languages…" in texts
    menu.show_entries([("German", "de", "")])
    actions = menu.actions()
    assert actions[0].text() == "German"
    assert actions[1].isSeparator()
    polish.trigger()
    assert guide.models.isVisible()
    assert guide.models.language == "pl"
    assert one.application.settings.model is None, "nothing is chosen yet"


def test_a_language_whose_model_is_here_is_one_click_away(program, tmp_path):
    one = program(model=None).open().wait_until_ready()
    best = MachineReport().recommended(known_offers(), "pl")
    (tmp_path / "models" / folder_of(best.name)).mkdir(parents=True)
    menu = one.window.choices.language
    menu.aboutToShow.emit()
    (polish,) = (action for action in menu.others if action.text().startswith("Polish"))
    assert "download" not in polish.text()
    polish.trigger()
    one.wait(lambda: one.application.settings.model == best.choice)
    assert one.application.setup.models is None
    assert one.application.settings.translation.target_language == "pl"


def test_languages_of_every_bundled_model_are_in_the_menu_and_load_theirs(
    program, tmp_path, monkeypatch
):
    folders = bundle(tmp_path, monkeypatch)
    one = program(model=None).open().wait_until_ready()
    every = [("French", "fr"), ("German", "de"), ("Spanish", "es")]
    assert one.window.choices.language.entries == every
    one.window.choices.language.pick("es")
    one.wait(lambda: one.application.settings.translation.target_language == "es")
    assert one.engine.models[-1].directory == folders["es"]
    assert one.engine.translations[-1].target_language == "es"
    assert one.application.settings.model is None
