import pytest
from PySide6.QtWidgets import QApplication

from app.config.translations import speak
from app.look.widgets.names import language_name, language_names
from engine.files import ASSETS
from engine.models.model_card import LANGUAGE_NAMES


@pytest.fixture
def german(qapp):
    translators = speak(QApplication.instance(), "de", ASSETS / "languages")
    yield
    for translator in translators:
        qapp.removeTranslator(translator)


def test_languages_are_called_as_models_are_asked_for_them():
    assert language_names() == LANGUAGE_NAMES


@pytest.mark.usefixtures("german")
def test_every_language_has_a_german_name_and_they_stand_in_its_order():
    names = language_names()
    assert set(names) == set(LANGUAGE_NAMES)
    assert names["de"] == "Deutsch"
    assert list(names.values()) == sorted(names.values(), key=str.casefold)
    alike = {code for code, name in names.items() if name == LANGUAGE_NAMES[code]}
    assert alike == {"hi"}


def test_a_language_without_a_name_is_called_as_the_model_calls_it():
    assert language_name("xx", "Volapük") == "Volapük"
    assert language_name("xx") == "xx"
