from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, Qt

from app.config.settings_in_force import ModelChoice
from engine.events import AdapterChanged, LoadAdapter, UseAdapter
from engine.models.adapters.adapter import AdapterScore
from engine.models.fingerprint import read_fingerprint
from engine.settings import ModelSettings
from tests.support.adapter_folders import BASE, CONFIG, factors, tiny_card, write_adapter
from tests.support.app.bundle import bundle as bundle_models
from tests.support.app.fake_engine import LANGUAGES
from tests.support.app.whole_program import Program, cells
from tests.support.fakes import save_tiny_model
from tests.support.sessions import at_once


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """Bundles adapters that gain so much BLEU; the model at hand fits them."""
    assets = tmp_path / "assets"
    monkeypatch.setattr("engine.hub.catalogue.ASSETS", assets)
    monkeypatch.setattr("app.dialogs.adapter_service.read_fingerprint", lambda _folder: BASE)

    def make(name, policy, gain):
        score = AdapterScore(
            test_set="some",
            lines=9,
            language="de",
            policy=policy,
            bleu=20 + gain,
            laal=3,
            base_bleu=20,
        )
        card = tiny_card(name=name, scores=(score,))
        return write_adapter(assets / "adapters" / name, card=card)

    return make


def loaded(one):
    return [call.folder.name for call in one.session.calls if isinstance(call, LoadAdapter)]


def tell(one, used, *names):
    languages = LANGUAGES | ({"nl": "Dutch"} if used else {})
    event = AdapterChanged(names=names or (used,), used=used, languages=languages)
    one.application.bridge.event_came.emit(event)


def choose_policy(one, written):
    one.window.choices.timing.pick(written)


def close_adapters(one):
    """Wait until all that was begun has been found, and is taken."""
    one.application.adapters.close()
    QCoreApplication.sendPostedEvents()


def test_a_bundled_adapter_that_helps_is_loaded_unasked_and_not_stored(program, bundle):
    bundle("little", "read:3", 0.4)
    bundle("much", "read:3", 2)
    one = program().open().wait_until_ready()
    one.wait(lambda: loaded(one) == ["much"])
    tell(one, "much")
    assert one.application.settings.adapter_in_use == "much"
    one.window.controls.overlay.click()
    assert one.stored()["translation"]["adapter"] == ""


def test_another_family_of_policies_gets_its_own_adapter_and_back(program, bundle):
    bundle("reader", "read:3", 2)
    bundle("waiter", "wait:3", 2)
    one = program().open().wait_until_ready()
    one.wait(lambda: loaded(one) == ["reader"])
    tell(one, "reader")
    dialog = one.application.adapters.dialog
    dialog.open_list()
    one.wait(lambda: dialog.table.rowCount() == 2)
    choose_policy(one, "wait:5")
    assert dialog.reason.text().startswith("Trained for another timing")
    one.wait(lambda: loaded(one) == ["reader", "waiter"])
    tell(one, "waiter", "reader", "waiter")
    choose_policy(one, "read:5")
    one.wait(lambda: one.session.calls[-1] == UseAdapter("reader"))
    tell(one, "reader", "reader", "waiter")
    choose_policy(one, "offline")
    one.wait(lambda: one.session.calls[-1] == UseAdapter(None))


@pytest.mark.parametrize("settings", [{"no_adapter": True}, {"adapter": "own"}])
def test_what_the_command_line_says_wins(program, bundle, tmp_path, settings):
    bundle("much", "read:3", 2)
    if "adapter" in settings:
        settings = {"adapter": tmp_path / "own"}
    one = program(**settings).open().wait_until_ready()
    choose_policy(one, "read:5")
    close_adapters(one)
    assert loaded(one) == [path.name for path in settings.values() if path is not True]


def test_the_bare_model_stays_once_a_person_asked_for_it(program, bundle):
    bundle("much", "read:3", 2)
    one = program().open().wait_until_ready()
    one.wait(lambda: loaded(one) == ["much"])
    tell(one, "much")
    one.application.adapters.dialog.use_wanted.emit("")
    choose_policy(one, "read:5")
    assert one.stored()["translation"]["adapter"] == "none"
    again = program().open().wait_until_ready()
    close_adapters(again)
    assert loaded(again) == []


def test_what_a_person_loads_stays_and_is_stored_when_it_translates(program, bundle, tmp_path):
    bundle("much", "read:3", 2)
    one = program().open().wait_until_ready()
    one.wait(lambda: loaded(one) == ["much"])
    one.application.adapters.dialog.load_wanted.emit(tmp_path / "mine")
    tell(one, "mine", "much", "mine")
    assert ("Dutch", "nl") in one.window.choices.language.entries
    assert one.stored()["translation"]["adapter"] == "mine"
    choose_policy(one, "wait:5")
    close_adapters(one)
    assert loaded(one) == ["much", "mine"]


@pytest.fixture
def two_models(tmp_path, monkeypatch):
    """A German and a Spanish model are bundled; a person has an adapter for the German one."""
    bundle_models(tmp_path, monkeypatch, ("de", "es"))
    spanish = replace(BASE, tokenizer_sha256="1e" * 32)
    monkeypatch.setattr(
        "app.dialogs.adapter_service.read_fingerprint",
        lambda folder: BASE if folder.name.endswith("de") else spanish,
    )
    write_adapter(tmp_path / "adapters" / "mine", card=tiny_card(name="mine"))


@pytest.mark.usefixtures("two_models")
def test_a_chosen_adapter_is_not_loaded_into_another_model_and_is_again_into_its_own(program):
    one = program(model=None).open().wait_until_ready()
    settings = one.application.settings
    settings.choose_adapter("mine")
    for language, expected in (("es", []), ("de", ["mine"])):
        n_sessions = len(one.engine.sessions)
        settings.choose_model(ModelChoice(model=None, language=language))
        one.wait(lambda n_sessions=n_sessions: len(one.engine.sessions) > n_sessions)
        one.wait(lambda language=language: settings.translation.target_language == language)
        desk = one.application.adapters.service
        with one.qtbot.waitSignal(desk.listed):  # after what was begun before
            desk.refresh()
        assert loaded(one) == expected
    assert not one.window.banner.isVisible()


def test_a_bundled_adapter_that_is_found_too_late_changes_nothing(one, bundle, tmp_path):
    adapters = one.application.adapters
    adapters.dialog.load_wanted.emit(tmp_path / "mine")
    adapters.service.default_found.emit(bundle("much", "read:3", 2), "much")
    assert loaded(one) == ["mine"]


def test_adapters_that_fit_are_plain_choices_and_the_main_window_tells_it(program, bundle):
    bundle("lectures", "read:3", 0)
    one = program().open().wait_until_ready()
    choices, button = one.window.choices, one.window.status.choices
    one.wait(lambda: len(choices.purpose.entries) == 2)
    assert [text for text, _ in choices.purpose.entries] == ["&Everything", "lectures"]
    assert (choices.purpose.value, button.text()) == ("", "English → German")
    choices.purpose.pick("lectures")
    one.wait(lambda: loaded(one) == ["lectures"])
    tell(one, "lectures")
    assert button.text() == "English → German · lectures"
    choices.purpose.pick("")
    one.wait(lambda: one.session.calls[-1] == UseAdapter(None))
    tell(one, None, "lectures")
    assert button.text() == "English → German"
    assert one.stored()["translation"]["adapter"] == "none"


def test_adapters_are_offered_in_the_languages_that_they_know(program, bundle):
    bundle("much", "read:3", 0)
    one = program().open().wait_until_ready()
    purpose = one.window.choices.purpose
    one.wait(lambda: len(purpose.entries) == 2)
    for language, n_choices in (("fr", 1), ("de", 2)):
        one.window.choices.language.pick(language)
        one.wait(lambda n_choices=n_choices: len(purpose.entries) == n_choices)


def test_an_adapter_is_offered_once_it_is_added_and_no_longer_once_it_is_removed(one, bundle):
    desk, choices = one.application.adapters.service, one.window.choices
    desk.add(bundle("lectures", "read:3", 0))
    one.wait(lambda: [name for _, name in choices.purpose.entries] == ["", "lectures"])
    desk.remove("lectures")
    one.wait(lambda: len(choices.purpose.entries) == 1)


TEXT = "ab cd ef gh."


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("models") / "base")


@pytest.fixture(scope="module")
def adapter(base, tmp_path_factory):
    return adapter_for(base, tmp_path_factory.mktemp("adapters") / "whole")


def adapter_for(base, folder, *, scale=0.2):
    """An adapter of the base that makes it say something else."""
    shape = read_fingerprint(base)
    tensors = {key: value * scale for key, value in factors(shape, CONFIG).items()}
    card = tiny_card(shape, name="whole")
    return write_adapter(folder, shape, tensors=tensors, card=card)


@pytest.fixture
def nothing_bundled(monkeypatch):
    """What is added stands alone in the table."""
    monkeypatch.setattr("app.controllers.tools.bundled_adapters", list)
    monkeypatch.setattr("engine.hub.catalogue.bundled_adapters", list)


@pytest.fixture
def person(qtbot, tmp_path, base, nothing_bundled):  # noqa: ARG001  before the first is made
    """Somebody before the window with a real model."""
    made = []

    def make():
        settings = {"model": base, "device": "cpu", "policy": "read:2"}
        made.append(Program(qtbot, tmp_path / "home", **settings).open().wait_until_ready())
        return made[-1]

    yield make
    for one in made:
        one.window.close()


def caption_of(one, text):
    """Type a line; return its caption."""
    one.say_whole(text)
    return cells(one.window.transcript)[-1][1]


def said(base, adapter=None):
    """What the model says without any window to what is typed key by key."""
    settings = ModelSettings(directory=base, adapter=adapter, device="cpu")
    ((_, caption),) = at_once(settings, TEXT, together=1)
    return caption.strip()


def test_an_adapter_is_added_loaded_compared_and_kept_and_captions_are_those_of_the_engine(
    person, base, adapter
):
    bare, adapted = said(base), said(base, adapter)
    assert bare != adapted
    one = person()
    assert caption_of(one, TEXT) == bare
    one.window.menu_actions.adapters.trigger()
    dialog, settings = one.application.adapters.dialog, one.application.settings
    dialog.add(adapter)
    one.wait(lambda: dialog.table.rowCount() > 0)
    for used, expected in (("whole", adapted), (None, bare), ("whole", adapted)):
        one.qtbot.keyClick(dialog.table, Qt.Key.Key_Space)
        one.wait(lambda used=used: settings.adapter_in_use == used)
        assert caption_of(one, TEXT) == expected
    one.window.close()
    again = person()
    again.wait(lambda: again.application.settings.adapter_in_use == "whole")
    assert caption_of(again, TEXT) == adapted
