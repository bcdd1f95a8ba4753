"""The projector view, opened by its menu."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from tests.support.app.fake_engine import FakeEngine


def chosen(program, number):
    program.application.projector.fill_menu()
    return program.window.menu_actions.projector.actions()[number]


def test_its_menu_shows_it_on_a_screen_and_leaves_it_again(program):
    running = program(FakeEngine())
    projector = running.application.projector
    assert projector.view is None
    action = chosen(running, 0)
    assert action.text().startswith("Screen &1")
    action.trigger()
    assert projector.view.isFullScreen()
    assert chosen(running, 0).isChecked()
    chosen(running, 0).trigger()
    assert projector.view is None


def test_the_overlay_does_not_stand_before_it(program):
    running = program(FakeEngine()).open()
    running.wait(running.overlay.isVisible)
    chosen(running, 0).trigger()
    assert not running.overlay.isVisible()
    chosen(running, 0).trigger()
    assert running.overlay.isVisible()


def test_place_and_letters_are_kept(program):
    running = program(FakeEngine())
    bottom = chosen(running, 3)
    assert "bottom" in bottom.text()
    bottom.trigger()
    larger = chosen(running, 6)
    assert "Larger" in larger.text()
    larger.trigger()
    assert running.stored()["projector"] == {"place": "bottom", "letters": 7}


def test_it_shows_what_the_overlay_shows_and_ends_with_the_program(program):
    running = program(FakeEngine()).open().wait_until_ready()
    chosen(running, 0).trigger()
    view = running.application.projector.view
    running.type("good morning ")
    running.wait(lambda: [line.text for line in view._text.view.lines] == ["GOOD MORNING"])
    running.window.close()
    assert running.application.projector.view is None


class Screen:
    """A screen that is plugged in again is another object of the same name."""

    def __init__(self, screen, name=""):
        self._screen, self._name = screen, name

    def name(self):
        return self._name or self._screen.name()

    def __getattr__(self, name):
        return getattr(self._screen, name)


def test_it_comes_back_with_the_screen_that_was_pulled_and_that_is_told_meanwhile(program):
    running = program(FakeEngine()).open()
    projector, screen = running.application.projector, QGuiApplication.primaryScreen()
    chosen(running, 0).trigger()
    assert not projector.view.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    QGuiApplication.instance().screenRemoved.emit(screen)
    assert projector.view is None
    running.wait(lambda: "comes back with it" in running.window.banner.sentence.text())
    projector._come_back(Screen(screen, "HDMI-9"))
    assert projector.view is None
    QGuiApplication.instance().screenAdded.emit(screen)
    assert projector.view.isFullScreen()
    assert projector.view.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)  # slides stay
    assert not running.window.banner.isVisible()


def test_it_stays_away_where_it_was_left_before_the_screen_went(program):
    running = program(FakeEngine()).open()
    projector, screen = running.application.projector, QGuiApplication.primaryScreen()
    chosen(running, 0).trigger()
    projector.view.close()
    QGuiApplication.instance().screenRemoved.emit(screen)
    QGuiApplication.instance().screenAdded.emit(screen)
    assert projector.view is None
