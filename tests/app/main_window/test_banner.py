import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from app.captions.model import UtteranceView
from app.config.translations import speak, worded
from app.look.widgets.dialog_text import as_sentence
from app.main_window.banner import Banner
from engine.files import ASSETS
from engine.messages import Code


@pytest.fixture
def banner(qtbot, said):  # noqa: ARG001  before the banner says something
    window = QWidget()
    column = QVBoxLayout(window)
    line, widget = QLineEdit(), Banner()
    column.addWidget(line)
    column.addWidget(widget)
    line.setFocus()  # somebody types
    qtbot.addWidget(window)
    window.show()
    yield widget
    window.close()


def test_a_notice_is_said_where_the_keyboard_is_elsewhere(banner, said):
    banner.show_notice("the first")
    banner.show_notice("the second")
    assert said[-1] == "The first."
    banner.dismiss.click()
    assert said[-1] == "The second."


def test_progress_is_said_once_and_not_with_every_step(banner, said):
    for step in range(20):
        banner.show_progress("Loading the model", step / 20)
    assert said == ["Loading the model… You can type already."]


def test_the_same_failure_is_said_again_when_it_comes_again(banner, said):
    banner.show()
    banner.show_failure("no memory")
    banner.show_loaded()
    banner.show_failure("no memory")
    assert said == ["No memory.", "No memory."]


def test_an_offer_that_is_taken_does_what_came_with_it(banner):
    taken = []
    banner.show_offer("one thing", "one", ("&Do it", lambda: taken.append("one")))
    banner.show_offer("another", "other", ("&Do that", lambda: taken.append("other")))
    banner.offer.click()
    banner.offer.click()
    assert taken == ["one", "other"]
    assert banner.isHidden()


def show_two_ways(banner, message, taken):
    again = "Try &again", lambda: taken.append("fetch")
    banner.show_offer(
        message, "fetch", again, ("Choose a &folder…", lambda: taken.append("choose"))
    )


def test_where_a_model_failed_another_one_can_be_chosen_and_the_other_ways_stay(banner):
    others, taken = [], []
    banner.other_clicked.connect(lambda: others.append("other"))
    show_two_ways(banner, "no network", taken)
    assert (banner.offer.text(), banner.other.text()) == ("Try &again", "Choose a &folder…")
    banner.show_progress("Loading", None)
    assert banner.other.isHidden()
    banner.show_failure("no memory", "&Stay with German", is_model=True)
    assert banner.other.text() == "A&nother model or folder…"
    banner.other.click()
    assert (others, taken) == (["other"], [])
    assert banner.retry.isVisible()
    assert banner.back.isVisible()
    banner.show_failure("the server is gone", "T&ranslate on this computer")
    assert not banner.other.isVisible()
    banner.show_loaded()
    assert banner.other.text() == "Choose a &folder…"
    banner.other.click()
    assert (others, taken) == (["other"], ["choose"])
    assert banner.isHidden()


NAME = "facebook/m2m100_418M"
FAILED_DOWNLOADS = [
    Code.HUB_UNREACHABLE(host="huggingface.co", reason=Code.HUB_TIMED_OUT()),
    Code.HUB_STOPPED(name=NAME, done="1.2 GB", total="1.9 GB", reason=Code.HUB_BROKE()),
    Code.HUB_FAILED(name=NAME, reason=Code.HUB_NO_ANSWER(seconds=30.0)),
    Code.HUB_REFUSED(name=NAME, reason="401"),
    Code.HUB_WEB_PAGE(name=NAME),
]


def test_a_failed_download_is_told_in_two_lines_in_german_too(qapp, window, qtbot):
    translators = speak(qapp, "de", ASSETS / "languages")
    goes_on = qapp.translate("ModelChange", "Captions go on in {}.").format("Deutsch")
    way_back = qapp.translate("ModelChange", "&Stay with {}").format("Deutsch")
    texts = [f"{as_sentence(worded(failure))} {goes_on}" for failure in FAILED_DOWNLOADS]
    for translator in translators:
        qapp.removeTranslator(translator)
    window.resize(960, 620)  # 1920 at 200 %
    sentence = window.banner.sentence
    line = sentence.fontMetrics().lineSpacing()
    for text in texts:
        window.banner.show_failure(text, way_back, is_model=True)
        qtbot.waitUntil(lambda: sentence.heightForWidth(sentence.width()) < 2.5 * line)


def test_a_banner_is_as_high_as_its_sentence_and_buttons_and_leaves_the_rest_to_the_rows(window):
    window.transcript.show_views([UtteranceView(key=key, source="Yes") for key in range(40)])
    window.resize(640, 480)
    text = as_sentence(worded(FAILED_DOWNLOADS[1]))
    window.banner.show_failure(f"{text} {text}", "&Stay with German", is_model=True)
    banner, sentence = window.banner, window.banner.sentence
    QApplication.processEvents()
    assert banner.retry.y() > sentence.geometry().bottom(), "the buttons are below it"
    assert sentence.height() == sentence.heightForWidth(sentence.width())
    assert banner.height() == banner.heightForWidth(banner.width())


def test_what_needs_no_answer_goes_by_itself_once_it_could_be_read(banner, qtbot, monkeypatch):
    monkeypatch.setattr("app.main_window.banner._PASSING_MS", 0)
    banner.show_notice("this stays")
    banner.show_offer("new session started", passes=True)
    qtbot.wait(1)
    assert banner.sentence.text() == "This stays."
    banner.dismiss.click()
    assert banner.sentence.text() == "New session started."
    qtbot.waitUntil(banner.isHidden)


def test_what_is_being_read_or_used_stays(banner, qtbot, monkeypatch):
    monkeypatch.setattr("app.main_window.banner._PASSING_MS", 0)
    banner.show_answer("new session started", "undo", ("&Undo", list))
    QCursor.setPos(banner.mapToGlobal(banner.rect().center()))
    qtbot.wait(1)
    assert banner.isVisible()
    banner.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)  # as after a menu opened by its key
    QCursor.setPos(banner.mapToGlobal(banner.rect().bottomRight()) + QPoint(9, 9))
    qtbot.waitUntil(banner.isHidden)


def test_undo_is_offered_before_a_failure_which_comes_back(banner, qtbot, monkeypatch):
    failure = "Cannot reach huggingface.co."
    banner.show_offer("no speech model", "fetch", ("Do&wnload", list))
    banner.show_failure("cannot reach huggingface.co", "&Stay with German", is_model=True)
    banner.show_answer("deleted", "undo", ("&Undo", list))
    seen = banner.sentence.text(), banner.offer.text(), banner.retry.isVisible()
    assert seen == ("Deleted.", "&Undo", False)
    assert not banner.back.isVisible()
    assert not banner.other.isVisible()
    banner.show_failure(failure, "&Stay with German", is_model=True)  # it comes again
    assert banner.sentence.text() == "Deleted."
    banner.offer.click()
    assert banner.sentence.text() == failure
    assert banner.retry.isVisible()
    assert banner.back.isVisible()
    monkeypatch.setattr("app.main_window.banner._PASSING_MS", 0)
    banner.show_answer("deleted", "undo", ("&Undo", list))
    qtbot.waitUntil(banner.retry.isVisible)
    assert banner.sentence.text() == failure
    banner.show_loaded()
    assert banner.sentence.text() == "No speech model."


def test_what_a_click_has_done_is_told_before_hints_and_notices_of_before(banner):
    banner.show_offer("The microphone is heard again", passes=True)
    banner.show_notice("The microphone is gone")
    banner.show_answer("New session started", "undo", ("Undo", list))
    banner.show_answer("New session started", "undo", ("Undo", list))
    told = []
    while banner.isVisible():
        told.append(banner.sentence.text())
        banner.dismiss.click()
    assert told == [
        "New session started.",
        "The microphone is gone.",
        "The microphone is heard again.",
    ]


def narrow(banner, width):
    """The lines of the sentence in a banner of this width, and whether the button is below it."""
    banner.window().resize(width, 400)
    QApplication.processEvents()
    sentence = banner.sentence
    n_lines = sentence.heightForWidth(sentence.width()) / sentence.fontMetrics().lineSpacing()
    return n_lines, banner.dismiss.y() >= sentence.geometry().bottom()


def test_three_buttons_stand_below_a_sentence_that_would_be_narrow_beside_them(banner):
    text = worded(FAILED_DOWNLOADS[3])
    show_two_ways(banner, text, [])
    n_lines, is_below = narrow(banner, 600)
    assert is_below
    assert n_lines < 2.5
    assert banner.height() >= banner.sentence.height() + banner.dismiss.height()
    n_lines, is_below = narrow(banner, 1400)
    assert not is_below
    assert n_lines < 2.5
    banner.show_loaded()
