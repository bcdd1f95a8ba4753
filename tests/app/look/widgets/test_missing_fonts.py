import pytest
from PySide6.QtGui import QFontDatabase

from app.look.widgets.desktop import lacks_font
from engine.events import Ready

ONLY_LATIN = {QFontDatabase.WritingSystem.Latin}


@pytest.fixture
def fonts(monkeypatch):
    """Fonts of these scripts and no other; the test may add some."""
    scripts = set(ONLY_LATIN)
    monkeypatch.setattr(
        QFontDatabase,
        "families",
        lambda script=None: ["A font"] if script is None or script in scripts else [],
    )
    return scripts


@pytest.mark.usefixtures("fonts")
@pytest.mark.parametrize("language", ["ar", "fa", "ru", "he", "hi", "ja", "ko", "zh-Hant", "TH"])
def test_a_language_in_letters_that_no_font_has_is_found(language):
    assert lacks_font(language)


@pytest.mark.usefixtures("fonts")
@pytest.mark.parametrize("language", ["de", "en", "pt-BR", "sw", "xx", ""])
def test_latin_letters_and_languages_that_nobody_knows_are_not_warned_of(language):
    assert not lacks_font(language)


def test_with_a_font_for_them_nothing_is_said(fonts):
    fonts.add(QFontDatabase.WritingSystem.Arabic)
    assert not lacks_font("ar")
    assert lacks_font("ru")


@pytest.mark.usefixtures("fonts")
def test_one_sentence_says_so_when_such_a_language_is_chosen(program):
    one = program().open().wait_until_ready()
    banner = one.window.banner
    assert not banner.isVisible()
    languages = {"de": "German", "ar": "Arabic"}
    one.application.bridge.event_came.emit(Ready(model="m", languages=languages, load_s=1))
    one.window.choices.language.pick("ar")
    assert banner.sentence.text().startswith("No font here has the letters of ar, ")
    again = program().open()
    again.wait(lambda: "letters of ar" in again.window.banner.sentence.text())
