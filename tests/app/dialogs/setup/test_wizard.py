from dataclasses import replace
from pathlib import Path

import pytest

from app.config.preferences import ListeningPreferences, Preferences, TranslationPreferences
from app.dialogs.setup.wizard import SetupWizard
from app.session.listening_service import ListeningService
from engine.audio.devices import DeviceKind
from engine.errors import HubError
from engine.hub.catalogue import MOONSHINE, SPEECH_CHOICES, SPEECH_MODELS, STREAMING_MODELS
from engine.messages import Code
from tests.support.app.fake_speech_engine import FakeSpeechEngine
from tests.support.app.setup_services import parts

N_OFFERED = len(SPEECH_CHOICES) + len(STREAMING_MODELS)
UNREACHABLE = Code.HUB_UNREACHABLE(host="huggingface.co", reason="no answer")


@pytest.fixture
def guide(qtbot, tmp_path):
    made = []

    def make(preferences=None, here=(), gflops=1000.0, **more):
        engine = FakeSpeechEngine(here=here)
        desk = ListeningService(engine.make, tmp_path, "cpu", lambda _command: None)
        one = SetupWizard(desk, parts(**more))
        qtbot.addWidget(one)
        one.engine, one.languages, one.recognizers = engine, [], []
        one.language_wanted.connect(one.languages.append)
        one.recognizer_wanted.connect(one.recognizers.append)
        made.append((one, desk))
        desk.measure_speed = lambda: None  # it depends on the machine
        one.open_guide(preferences or Preferences())
        qtbot.waitUntil(lambda: len(one.speech._found) >= len(SPEECH_CHOICES))
        if gflops is not None:
            desk.speed_measured.emit(gflops, False)
        one.desk = desk
        return one

    yield make
    for one, desk in made:
        one.engine.may_fetch.set()
        one.end()
        desk.close()


def cards(page):
    return dict(zip(page._listed, page.cards.words, strict=True))


def facts(page, name):
    return [fact.text for fact in cards(page)[name].facts]


def select(page, name):
    page.cards.choose(page._listed.index(name))


def go_to(one, page):
    while one.stack.currentWidget() is not page:
        one.next.click()


def test_speech_comes_second_and_can_be_put_off(guide):
    one = guide()
    one.next.click()
    assert one.stack.currentWidget() is one.speech
    assert one.next.text() == "Skip for &now"
    assert one.speech.row.download.isVisible()
    assert one.speech.row.download.hasFocus()
    assert not one.next.isDefault()
    one.next.click()
    assert not one.trial.switch.isEnabled()
    assert "needs a speech model" in one.trial.hint.text()
    one.trial.choose.click()
    assert one.stack.currentWidget() is one.speech
    one.next.click()
    assert one.next.text() == "C&lose"


@pytest.mark.parametrize(
    ("use", "n_pages", "last"),
    [
        ("call", 3, "C&lose"),
        ("voice", 3, "C&lose"),
        ("file", 2, "Choose a fi&le…"),
        ("typing", 1, "&Start typing"),
    ],
)
def test_what_is_to_be_captioned_needs_so_many_pages(guide, use, n_pages, last):
    one, ended = guide(here=["base.en"]), []
    one.ended.connect(ended.append)
    one.welcome.uses[use].click()
    for number in range(1, n_pages):
        assert one.step.text() == f"{number} of {n_pages}"
        assert one.next.text() == "&Next"
        one.next.click()
    assert one.next.text() == last
    one.next.click()
    assert ended == [use]
    assert not one.isVisible()


@pytest.mark.parametrize(
    ("use", "main", "start"),
    [
        ("call", DeviceKind.SYSTEM, "&Start captions of computer sound"),
        ("voice", DeviceKind.MICROPHONE, "&Start captions of the microphone"),
    ],
)
def test_what_was_tried_stays_on_and_the_button_says_of_what_captions_go_on(
    guide, use, main, start
):
    one, sources = guide(here=["base.en"]), []
    one.source_wanted.connect(lambda kind, on: sources.append((kind, on)))
    one.welcome.uses[use].click()
    go_to(one, one.trial)
    assert one.trial.switch is one.trial.switches[main]
    assert one.trial.switch.isDefault() is one.next.isDefault() is False
    one.trial.switch.click()
    assert one.next.text() == start
    assert one.next.isDefault()
    one.next.click()
    assert sources == [(main, True)]


@pytest.mark.parametrize("way", ["opened", "folder"])
def test_the_selected_speech_model_is_in_sight_on_a_small_screen(guide, qtbot, way):
    listening = ListeningPreferences(recognizer="/models/my-own")
    one = guide(replace(Preferences(), listening=listening) if way == "opened" else None)
    one.resize(one.minimumSizeHint())
    go_to(one, one.speech)
    if way == "folder":
        one.speech.choose("/models/my-own")
    offers = one.speech.cards

    def is_seen():
        card = offers.visualItemRect(offers.currentItem())
        return offers.viewport().visibleRegion().contains(card.center())

    qtbot.waitUntil(is_seen)


@pytest.mark.parametrize(("here", "wished"), [((), ["tiny.en"]), (("base.en",), [])])
def test_what_was_selected_without_a_download_is_what_the_main_window_offers(guide, here, wished):
    one = guide(here=here, gflops=SPEECH_CHOICES[1].pass_gflop)
    one.skip.click()
    assert one.recognizers == wished, "on a slow computer the fast one was recommended"


def test_a_language_counts_as_soon_as_it_is_chosen_and_what_is_built_in_is_said(guide):
    stored = Preferences(translation=TranslationPreferences(language="pl"))
    one = guide(stored, bundled=("es", "fr"))
    box, note = one.welcome.target, one.welcome.note
    assert one.welcome.language == "pl"
    assert [box.itemText(row) for row in range(4)] == ["French", "Spanish", "", "Arabic"]
    assert "Built-in translation: French, Spanish." in note.text()
    assert one.welcome.example.caption.isHidden()
    box.setCurrentIndex(box.findData("fr"))
    assert "everyday sentences" in note.text()
    assert one.welcome.example.caption.text().startswith("Bonjour")
    one.skip.click()
    assert one.languages == ["fr"]


def test_a_model_that_hears_at_once_is_offered_with_what_that_means_its_size_and_licence(guide):
    page = guide(here=["zipformer.en"]).speech
    words = cards(page)["zipformer.en"]
    assert words.title == "At once"
    said = "Words appear as they are said. English only."
    assert facts(page, "zipformer.en") == [said, "72.7 MB", "already here"]
    assert words.tip == "zipformer.en · Apache-2.0 licence"
    select(page, "zipformer.en")
    assert page.recognizer == "zipformer.en"
    assert page.is_here


def marked(page):
    return [name for name, words in cards(page).items() if words.is_best]


def test_the_three_models_are_told_apart_by_size_and_speed(guide):
    page = guide(here=["tiny.en"], gflops=1.5 * SPEECH_CHOICES[1].pass_gflop).speech
    texts = {name: facts(page, name)[0] for name in cards(page)}
    assert texts["tiny.en"].endswith("Fast on this computer.")
    assert facts(page, "tiny.en")[1:] == ["78.1 MB", "already here"]
    assert texts["base.en"].endswith("Fast enough on this computer.")
    assert texts["small.en"].endswith("Probably too slow for this computer.")
    assert marked(page) == ["base.en"]
    assert page.recognizer == "base.en"


def test_what_comes_along_is_selected_at_once_and_nothing_is_fetched(guide, monkeypatch):
    monkeypatch.setattr("engine.hub.catalogue.bundled_speech_model", lambda: Path("along"))
    one = guide(here=["moonshine.en"], gflops=None)
    page = one.speech
    go_to(one, page)
    assert marked(page) == [page.recognizer] == ["moonshine.en"]
    assert cards(page)["moonshine.en"].title == "Included"
    assert facts(page, "moonshine.en")[1:] == ["already here"]
    assert page.row.message.text() == "This speech model is on this computer."
    assert not page.row.download.isEnabled()
    one.skip.click()
    assert one.recognizers == [], "it is in use already"
    assert one.engine.fetched == []


def test_nothing_is_recommended_or_downloaded_before_the_measure_stands_and_nothing_moves_after(
    guide,
):
    one = guide(gflops=None)
    page, row, tell = one.speech, one.speech.row, one.desk.speed_measured.emit
    low, high = (SPEECH_CHOICES[1].pass_gflop * factor for factor in (1.0, 1.5))
    go_to(one, page)

    def seen():
        return marked(page), page.recognizer, row.download.isEnabled()

    assert seen() == ([], "", False)
    assert row.message.text() == "The speed of this computer is being measured: about 5 s."
    tell(low, True)
    assert seen() == ([], "", False)
    assert "Speed on this computer: being measured." in facts(page, "base.en")[0]
    assert "Fast enough on this computer." in facts(page, "tiny.en")[0], "at least"
    tell(low, False)
    assert seen() == (["tiny.en"], "tiny.en", True)
    assert row.message.isHidden()
    tell(high, False)
    assert seen() == (["tiny.en"], "tiny.en", True)
    assert "Fast enough on this computer." in facts(page, "base.en")[0]


def test_a_model_that_fell_behind_is_said_to_have_and_not_recommended(guide):
    one = guide()
    one.desk.pace.note_behind("base.en")
    one.speech.enter()
    assert marked(one.speech) == ["tiny.en"]
    for name, fell in (("tiny.en", False), ("base.en", True), ("small.en", True)):
        assert ("fell behind" in facts(one.speech, name)[0]) is fell


def test_a_model_is_downloaded_with_its_bytes_and_then_used(guide, qtbot):
    one = guide()
    go_to(one, one.speech)
    row = one.speech.row
    one.engine.may_fetch.clear()
    row.download.click()
    assert row.bar.cancel.isVisible()
    assert not row.download.isVisible()
    assert one.next.text() == "&Next", "the download goes on meanwhile"
    qtbot.waitUntil(lambda: "of 60 MB" in row.bar.sentence.text())
    one.next.click()
    assert "still being downloaded" in one.trial.hint.text()
    one.back.click()
    one.engine.may_fetch.set()
    qtbot.waitUntil(lambda: one.recognizers == ["base.en"])
    assert row.message.text() == "This speech model is on this computer."
    assert not row.download.isEnabled()
    one.next.click()
    assert one.trial.switch.isEnabled()
    assert one.trial.switch.hasFocus()


def test_a_download_that_fails_can_be_tried_again_and_keeps_the_keyboard(guide, qtbot):
    one = guide()
    go_to(one, one.speech)
    row = one.speech.row
    one.activateWindow()
    row.download.setFocus()
    qtbot.waitUntil(row.download.hasFocus)
    one.engine.may_fetch.clear()
    one.engine.fetch_failure = HubError(UNREACHABLE)
    row.download.click()
    qtbot.waitUntil(row.bar.cancel.hasFocus)
    one.engine.may_fetch.set()
    qtbot.waitUntil(lambda: row.download.text() == "&Try again")
    assert row.download.hasFocus(), "it does not choose a folder"
    assert row.message.text().startswith("Cannot reach huggingface.co")
    assert one.next.text() == "Skip for &now"
    one.desk.speed_measured.emit(2000.0, False)
    assert "Cannot reach" in row.message.text(), "what comes later does not replace it"
    one.engine.fetch_failure = None
    row.download.click()
    qtbot.waitUntil(lambda: one.recognizers == ["base.en"])


def test_a_download_can_be_cancelled(guide, qtbot):
    one = guide()
    go_to(one, one.speech)
    row = one.speech.row
    one.engine.may_fetch.clear()
    row.download.click()
    assert not one.speech.cards.isEnabled()
    row.bar.cancel.click()
    qtbot.waitUntil(row.download.isVisible)
    assert "will resume" in row.message.text()
    assert one.speech.cards.isEnabled()
    assert one.recognizers == []


def test_a_model_that_is_here_is_used_when_it_is_selected(guide):
    one = guide(here=["base.en", "small.en"], gflops=None)
    assert one.speech.recognizer == "base.en"
    one.desk.speed_measured.emit(1.0, False)
    assert one.speech.recognizer == "base.en", "whatever is measured"
    go_to(one, one.speech)
    assert one.next.text() == "&Next"
    select(one.speech, "small.en")
    assert one.recognizers == ["small.en"]
    select(one.speech, "tiny.en")
    assert one.recognizers == ["small.en"]
    assert one.next.text() == "Skip for &now"


def test_a_folder_is_used_once_it_was_found_to_hold_a_model(guide, qtbot, pick, monkeypatch):
    one = guide()
    go_to(one, one.speech)
    asked = pick(None)
    one.speech.row.folder.click()
    assert len(cards(one.speech)) == N_OFFERED
    pick("/some/pictures")
    has = one.engine.has
    monkeypatch.setattr(one.engine, "has", lambda name: "whisper" in name or has(name))
    before = one.speech.recognizer
    one.speech.row.folder.click()
    qtbot.waitUntil(lambda: "o speech model is called" in one.speech.row.message.text())
    assert one.speech.recognizer == before  # and no line is left of a folder without a model
    assert len(cards(one.speech)) == N_OFFERED
    assert one.speech.row.download.isEnabled()
    pick("/some/whisper")
    one.speech.row.folder.click()
    assert asked == [("Folder of a speech model", None)] * 3
    qtbot.waitUntil(lambda: one.recognizers == ["/some/whisper"])
    assert one.speech.is_here
    assert facts(one.speech, "/some/whisper")[0] == "whisper"


def test_who_asks_for_speech_models_is_offered_all(guide):
    one = guide()
    one.open_speech(Preferences())
    page = one.speech
    assert set(page._listed) == {*SPEECH_MODELS} - {MOONSHINE}
    assert cards(page)["large-v3"].title == "large-v3"
    assert facts(page, "large-v3") == ["More exact: words appear a second or two later"]
    select(page, "large-v3")
    assert page.row.download.isEnabled()
    one.open_guide(Preferences())
    assert len(cards(page)) == N_OFFERED


def test_another_speech_model_in_use_has_a_line_of_its_own(guide):
    listening = ListeningPreferences(recognizer="large-v3")
    one = guide(replace(Preferences(), listening=listening))
    go_to(one, one.speech)
    assert one.speech.recognizer == "large-v3"
    assert cards(one.speech)["large-v3"].title == "large-v3"
    other = guide()
    go_to(other, other.speech)
    assert len(cards(other.speech)) == N_OFFERED


def test_the_bundled_model_translates_into_a_language_that_it_knows(program):
    one = program(model=None).open().wait_until_ready()
    guide = one.application.setup
    guide.parts = parts(bundled=("de",))
    one.window.menu_actions.guide.trigger()
    guide.dialog.language_wanted.emit("fr")
    assert one.application.settings.translation.target_language == "de"
    one.application.settings.change("translation", language="fr")
    guide.dialog.language_wanted.emit("fr")
    assert one.stored()["translation"]["language"] == "de"


def test_captions_without_translation_are_a_choice_of_the_first_page(program):
    one = program(model=None).open().wait_until_ready()
    guide = one.application.setup
    guide.parts = parts()
    guide.open_guide()
    guide.dialog.welcome.target.setCurrentIndex(guide.dialog.welcome.target.findData(""))
    assert "word for word" in guide.dialog.welcome.note.text()
    guide.dialog.next.click()
    assert one.stored()["captions"]["mode"] == "captions only"
    guide.open_guide()
    assert guide.dialog.welcome.language == ""
    guide.dialog.welcome.target.setCurrentIndex(guide.dialog.welcome.target.findData("de"))
    guide.dialog.next.click()
    assert one.stored()["captions"]["mode"] == "translate"


def test_the_button_of_the_download_never_scrolls_away(guide):
    one = guide()
    one.resize(one.minimumSizeHint())
    download = one.speech.row.download
    for page in one.pages:
        go_to(one, page)
        is_whole = download.visibleRegion().boundingRect().size() == download.size()
        assert is_whole == (page is one.speech)
