import pytest

from app.main_window.status_bar import CaptionChoices, StatusBar


@pytest.fixture
def bar(qtbot):
    bar = StatusBar(CaptionChoices())
    qtbot.addWidget(bar)
    bar.show()
    return bar


def test_the_line_says_the_one_thing_that_matters_now(bar):
    def told():
        return bar.state.text()

    bar.show_loading()
    assert told() == "Loading…"
    assert not bar.is_ready
    bar.show_listening("Listening to the microphone", "Desk mic")
    assert told() == "Loading…"
    bar.show_ready()
    assert told() == "Listening to the microphone"
    assert bar.state.toolTip() == "Desk mic"
    bar.show_lag(2.4)
    assert told() == "Listening to the microphone · captions 2 s behind"
    bar.show_lag(None)
    assert told() == "Listening to the microphone", "nobody speaks"
    bar.show_lag(2.4)
    bar.show_backlog(40)
    assert told() == "Catching up: 40 words to go"
    bar.show_paused(True)
    assert told() == "Paused"
    bar.show_paused(False)
    bar.show_backlog(0)
    bar.show_listening("")
    assert told() == "Ready"
    bar.show_listening("Listening to the microphone")
    assert told() == "Listening to the microphone", "the lag before is over"
    bar.show_stopped()
    assert told() == "Stopped"


@pytest.mark.parametrize("show", ["show_ready", "show_loading", "show_stopped"])
def test_a_short_state_is_whole_however_narrow_the_window_is(bar, show):
    getattr(bar, show)()
    bar.show_shared(0)
    bar.resize(bar.minimumSizeHint().width(), bar.height())
    state = bar.state
    assert state.width() >= state.fontMetrics().horizontalAdvance(state.text())


def test_the_lag_that_is_shown_does_not_flicker(bar):
    bar.show_ready()
    bar.show_listening("Listening")
    shown = []
    for seconds in (0.1, 1.6, 2.4, 2.6, 2.4, 2.7, 3.0, 1.2):
        bar.show_lag(seconds)
        shown.append(bar.state.text().removeprefix("Listening · captions ").partition(" ")[0])
    assert shown == ["1", "1", "2", "2", "2", "2", "3", "1"]


def test_mode_and_languages_stand_on_a_button(bar):
    choices = bar._choices
    choices.show_mode("translate")
    choices.show_languages({"de": "German", "fr": "French"}, "fr")
    assert (bar.choices.text(), choices.languages) == ("English → French", ("English", "French"))
    choices.show_mode("both")
    assert bar.choices.text() == "English + French"
    choices.show_second("es")
    assert bar.choices.text() == "English + French + Spanish"
    choices.show_mode("captions only")
    assert (bar.choices.text(), choices.languages) == ("English captions", ("English", ""))
    assert not choices.language.isEnabled()
    assert titles_of(bar.choices.menu()) == ["More"]


def titles_of(menu):
    menu.aboutToShow.emit()
    return [action.text().replace("&", "") for action in menu.actions()]


def test_the_languages_stand_in_the_button_at_once_and_the_rest_below_more(bar):
    choices, menu = bar._choices, bar.choices.menu()
    choices.show_languages({"de": "German", "fr": "French"}, "de")
    choices.show_other_languages([("Polish (quality: good)…", "pl", "")])
    languages = ["French", "German", "", "Polish (quality: good)…", "More languages…"]
    assert titles_of(menu) == [*languages, "", "More"]
    assert titles_of(menu) == [*languages, "", "More"], "each time"
    modes = ["Translate", "No translation", "Both languages"]
    more = ["Second language", "Better for", "Timing", "", *modes]
    assert titles_of(menu.actions()[-1].menu()) == more
    told = []
    choices.language.value_chosen.connect(told.append)
    menu.actions()[0].trigger()
    assert told == ["fr"]


def test_sharing_tells_how_many_phones_read_and_nothing_of_none(bar):
    told = []
    for n_readers in (0, 1, 2):
        bar.show_shared(n_readers)
        told.append(bar.sharing.text())
    assert told == ["Shared, no reader yet", "Shared with 1 phone", "Shared with 2 phones"]
