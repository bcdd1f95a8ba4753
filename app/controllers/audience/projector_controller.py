"""Opens the projector view on a screen, by its menu, and feeds it."""

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication, QScreen

from app.config.preferences import LEAST_PROJECTED, MOST_PROJECTED, PLACES, Preferences
from app.config.settings_in_force import SettingsInForce
from app.main_window.window import MainWindow
from app.overlay.controller import OverlayController
from app.overlay.projector import ProjectorView

_LOST = "lost screen"  # in the banner
_STEP = 1  # percent of the height of the screen


class ProjectorController(QObject):
    """Own the projector view.

    Attributes:
        view: the window; None while it is not shown.

    A screen that goes while it is shown takes it along, and brings it back when it comes again.
    """

    def __init__(
        self, settings: SettingsInForce, stage: OverlayController, window: MainWindow
    ) -> None:
        super().__init__(window)
        self._settings, self._stage = settings, stage
        self.view: ProjectorView | None = None
        self._awaited: tuple[str, ...] | None = None  # the screen that took it along
        self._window = window
        self._menu = window.menu_actions.projector
        self._menu.aboutToShow.connect(self.fill_menu)
        stage.lines_changed.connect(self._show_views)
        settings.preferences_changed.connect(self._dress)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenAdded.connect(self._come_back)

    @Slot()
    def fill_menu(self) -> None:
        """List the screens, the places on them, and the size of letters."""
        menu = self._menu
        menu.clear()
        for number, screen in enumerate(QGuiApplication.screens(), 1):
            action = menu.addAction(self.tr("Screen &{}: {}").format(number, screen.name()))
            action.setCheckable(True)
            action.setChecked(self.view is not None and self.view.shown_on is screen)
            action.triggered.connect(lambda _on=False, screen=screen: self.toggle(screen))
        menu.addSeparator()
        self._add_places()
        menu.addSeparator()
        for text, step in (
            (self.tr("&Larger letters"), _STEP),
            (self.tr("S&maller letters"), -_STEP),
        ):
            menu.addAction(text).triggered.connect(lambda _on=False, step=step: self._resize(step))

    def _add_places(self) -> None:
        names = (
            self.tr("&Fill the screen"),
            self.tr("Strip at the &bottom"),
            self.tr("Strip at the &top"),
        )
        group = QActionGroup(self._menu)
        for place, text in zip(PLACES, names, strict=True):
            action = QAction(text, group)
            action.setCheckable(True)
            action.setChecked(self._settings.preferences.projector.place == place)
            action.triggered.connect(
                lambda _on=False, place=place: self._settings.change("projector", place=place)
            )
            self._menu.addAction(action)

    def toggle(self, screen: QScreen, *, takes_keyboard: bool = True) -> None:
        """Show the view on a screen, or leave that one."""
        before, self._awaited = self.view, None
        if before is not None:
            before.close()
            if before.shown_on is screen:
                return
        self.view = ProjectorView(screen, self._stage.speakers)
        self.view.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, not takes_keyboard)
        self.view.closed.connect(self._forget)
        is_before_it = self._stage.overlay.screen() is screen
        self._stage.visibility.put_aside(aside=is_before_it)
        self._dress(self._settings.preferences, self._settings.preferences)
        self._show_views()

    def _resize(self, step: int) -> None:
        letters = self._settings.preferences.projector.letters + step
        self._settings.change(
            "projector", letters=min(MOST_PROJECTED, max(LEAST_PROJECTED, letters))
        )

    @Slot(object, object)
    def _dress(self, _before: Preferences, now: Preferences) -> None:
        if self.view is not None:
            self.view.dress(now.captions, now.projector)

    @Slot()
    def _show_views(self) -> None:
        if self.view is not None:
            self.view.show_views(self._stage.fresh_views)

    @Slot()
    def _forget(self) -> None:
        if self.view is not None:
            self.view.deleteLater()
            if self.view.lost_screen:
                self._awaited = _identity(self.view.shown_on)
                text = self.tr(
                    "The screen of the projector view is gone; the view comes back with it"
                )
                self._window.banner.show_offer(text, _LOST)
        self.view = None
        self._stage.visibility.put_aside(aside=False)

    @Slot(QScreen)
    def _come_back(self, screen: QScreen) -> None:
        """Show the view again on the screen that took it along."""
        if self._awaited is not None and _identity(screen) == self._awaited:
            self._window.banner.withdraw(_LOST)
            self.toggle(screen, takes_keyboard=False)  # slides have it

    def close(self) -> None:
        """Leave the screen."""
        self._awaited = None
        if self.view is not None:
            self.view.close()


def _identity(screen: QScreen) -> tuple[str, ...]:
    """Return what is the same of a screen when it is plugged in again."""
    return screen.name(), screen.manufacturer(), screen.model(), screen.serialNumber()
