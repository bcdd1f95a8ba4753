"""How policies and lanes are named, and what the desktop opens."""

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QFontDatabase
from PySide6.QtWidgets import QApplication

from app.config.translations import speak
from app.look.widgets.desktop import lacks_font, open_folder, open_page
from app.look.widgets.dialog_text import as_sentence
from app.look.widgets.names import (
    lane_colour,
    lane_name,
    language_name,
    language_names,
    policy_names,
    speech_id,
    speech_name,
    speech_words,
)
from engine.events import Ready
from engine.files import ASSETS
from engine.hub.catalogue import MOONSHINE, SPEECH_CHOICES, STANDARD_WHISPER, STREAMING_MODELS
from engine.models.model_card import LANGUAGE_NAMES
from engine.models.resolve import check_policy


def test_there_are_three_timings_and_two_where_drafts_must_agree():
    names = [name for _, name, _ in policy_names()]
    assert names == ["Early", "Balanced (recommended)", "Sure"]
    assert policy_names(makes_drafts=True) == policy_names()[1:]


def test_every_timing_on_offer_is_a_policy_that_runs():
    for policy, _, explanation in policy_names():
        assert policy == "" or check_policy(policy) == policy
        assert explanation


@pytest.mark.parametrize(
    ("recognizer", "step_s", "heard", "told"),
    [
        (MOONSHINE, 0.28, None, ["About 1.5", "About 1.9", "About 2.7"]),
        (STANDARD_WHISPER, 0.28, None, ["About 2.5", "About 3.0", "About 3.6"]),
        (MOONSHINE, 0.28, ("", 2.6), ["About 2.2", "Measured here: 2.6", "About 3.4"]),
        (MOONSHINE, 0.28, ("offline", 1.0), ["About 0.0", "About 0.2", "Measured here: 1.0"]),
        (MOONSHINE, 0.28, ("read:9", 9.0), ["About 1.5", "About 1.9", "About 2.7"]),
        ("of somebody", 0.28, None, ["", "", ""]),
        ("of somebody", 0.28, ("offline", 4.0), ["", "", "Measured here: 4.0"]),
    ],
)
def test_a_timing_tells_seconds_as_measured_and_the_others_by_what_the_table_has_between_them(
    recognizer, step_s, heard, told
):
    bare = [tip for _, _, tip in policy_names()]
    tips = [tip for _, _, tip in policy_names(recognizer, step_s, heard)]
    assert tips == [
        f"{before} {now} seconds from a word to its caption." if now else before
        for before, now in zip(bare, told, strict=True)
    ]


def test_of_drafts_only_what_was_measured_is_told():
    tips = [policy_names(MOONSHINE, 0.28, heard, makes_drafts=True) for heard in (None, ("", 1.5))]
    assert tips[0] == policy_names(makes_drafts=True)
    assert ["Measured here: 1.5" in tip for _, _, tip in tips[1]] == [True, False]


def test_a_lane_has_the_name_that_was_given_and_a_colour_beside_it(qapp):  # noqa: ARG001
    assert [lane_name(lane) for lane in ("me", "them", "", "x")] == ["Me", "Them", "", "x"]
    assert lane_name("me", {"me": "Grace"}) == "Grace"
    assert lane_name("me", {"them": "Grace"}) == "Me"
    assert [bool(lane_colour(lane)) for lane in ("", "x", "me", "them")] == [
        False,
        False,
        True,
        True,
    ]
    assert lane_colour("me") != lane_colour("them")


@pytest.mark.parametrize("opens", [True, False])
def test_what_the_desktop_cannot_open_is_told(qapp, tmp_path, monkeypatch, opens):  # noqa: ARG001
    asked = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: (asked.append(url), opens)[1])
    told = "" if opens else "Your desktop has no program that opens it; it is {}"
    assert open_folder(tmp_path) == told.format(tmp_path)
    assert open_page("https://x.example/") == told.format("https://x.example/")
    assert asked == [QUrl.fromLocalFile(str(tmp_path)), QUrl("https://x.example/")]
    assert open_folder(tmp_path / "no") == f"There is no folder {tmp_path / 'no'} yet"


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


@pytest.mark.usefixtures("qapp")
def test_those_that_are_offered_have_words_in_their_order_and_others_none():
    offered = [speech_words(choice.name) for choice in SPEECH_CHOICES]
    assert offered == ["Fast", "Balanced", "Accurate"]
    assert {speech_words(name) for name in STREAMING_MODELS} == {"At once"}
    assert not speech_words("some/model")
    assert not speech_words("")


@pytest.mark.usefixtures("qapp")
def test_beside_the_words_stands_the_name_and_of_a_folder_its_last_part(tmp_path):
    choice = SPEECH_CHOICES[0]
    assert speech_name(choice.name) == f"Fast ({choice.name})"
    assert speech_name("some/model") == "some/model"
    assert speech_name(str(tmp_path / "mine")) == speech_id(str(tmp_path / "mine")) == "mine"


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("the model cannot be read", "The model cannot be read."),
        ("it's gone: wait", "It's gone: wait."),
        ("Done!", "Done!"),
        ("Looking…", "Looking…"),
        ("ev.en has 4 lines and short.de has 1", "ev.en has 4 lines and short.de has 1."),
        ("surtitle-en-de-wait-k is being loaded", "surtitle-en-de-wait-k is being loaded."),
        ("über alles", "Über alles."),
        ("7 captions were written", "7 captions were written."),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_letter_unless_it_begins_with_a_name(message, sentence):
    assert as_sentence(message) == sentence


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
def test_one_sentence_says_so_when_such_a_language_is_chosen(program, one):
    banner = one.window.banner
    assert not banner.isVisible()
    languages = {"de": "German", "ar": "Arabic"}
    one.application.bridge.event_came.emit(Ready(model="m", languages=languages, load_s=1))
    one.window.choices.language.pick("ar")
    assert banner.sentence.text().startswith("No font here has the letters of ar, ")
    again = program().open()
    again.wait(lambda: "letters of ar" in again.window.banner.sentence.text())
