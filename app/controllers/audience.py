"""Shows the captions to others: on a page for OBS, on a screen for all, on the phones of a room.

Sharing with phones goes from *Start sharing* to *Stop sharing*; it is off before.
"""

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication, QScreen
from PySide6.QtWidgets import QMessageBox

from app.captions.model import SpeakerNames, UtteranceView
from app.config.preferences import LEAST_PROJECTED, MOST_PROJECTED, PLACES, Preferences
from app.config.settings_in_force import SettingsInForce
from app.config.translations import worded
from app.controllers.tools import FurtherController
from app.dialogs.networks import is_here, networks
from app.dialogs.share_dialog import FURTHER, ShareChoice, ShareDialog
from app.look.palette import Rgb
from app.look.widgets.dialog_text import bring_up
from app.main_window.banner import Banner
from app.main_window.window import MainWindow
from app.overlay.controller import OverlayController
from app.overlay.projector import ProjectorView
from app.overlay.themes import theme_of
from app.session.browser_source import BrowserSource, PageLook, page_token
from app.sharing.room_feed import CAPTION, SOURCE
from engine.errors import message_of

if TYPE_CHECKING:
    from app.sharing.room import Room

_OPAQUE = 255
_LOST = "lost screen"  # in the banner
_STEP = 1  # percent of the height of the screen
_GONE = "network is gone"  # a topic of the banner
_LOOK_MS = 5000


class PageController(QObject):
    """Own the caption page.

    Signals:
        address_changed(str): of the page, with its secret; empty while it is closed.
    """

    address_changed = Signal(str)

    def __init__(
        self, settings: SettingsInForce, overlay: OverlayController, banner: Banner
    ) -> None:
        super().__init__(banner)
        self.source = BrowserSource(settings.launch.data_folder / "page.token", self)
        self._overlay, self._banner = overlay, banner
        overlay.lines_changed.connect(self._show_lines)
        settings.preferences_changed.connect(self._follow)
        self._use(settings.preferences)

    @Slot(object, object)
    def _follow(self, before: Preferences, now: Preferences) -> None:
        self._show_look(now)
        if now.privacy != before.privacy:
            self._use(now)

    def _use(self, preferences: Preferences) -> None:
        failure = self.source.use(preferences.privacy)
        if failure is not None:
            self._banner.show_notice(failure)
        self.address_changed.emit(self.source.address)
        self._show_look(preferences)
        self._show_lines()

    def _show_look(self, preferences: Preferences) -> None:
        captions, colours = preferences.captions, theme_of(preferences.captions)
        lanes = {lane: _css(colour) for lane, colour in colours.lanes.items()}
        named = {
            "text": _css(colours.text),
            "quiet": _css(colours.quiet),
            "box": _css(colours.background, colours.opacity),
            "rim": _css(colours.rim),
        }
        look = PageLook(
            colours=named | lanes,
            font=captions.font,
            outline=captions.outline,
            hide_after_s=preferences.overlay.hide_after_s,
        )
        self.source.show_look(look)

    @Slot()
    def _show_lines(self) -> None:
        lines = self._overlay.lines
        self.source.show_lines(lines.lines, lines.source, lines.second)

    def close(self) -> None:
        self.source.close()


def _css(colour: Rgb, opacity: int = _OPAQUE) -> str:
    red, green, blue = colour
    return f"rgb({red} {green} {blue} / {opacity / _OPAQUE:.3g})"


class ProjectorController(QObject):
    """Own the projector view.

    Attributes:
        view: the window; None while it is not shown.

    A screen that goes while it is shown takes it along, and brings it back when it comes again.
    """

    def __init__(
        self, settings: SettingsInForce, overlay: OverlayController, window: MainWindow
    ) -> None:
        super().__init__(window)
        self._settings, self._overlay = settings, overlay
        self.view: ProjectorView | None = None
        self._awaited: tuple[str, ...] | None = None  # the screen that took it along
        self._window = window
        self._menu = window.menu_actions.projector
        self._menu.aboutToShow.connect(self.fill_menu)
        overlay.lines_changed.connect(self._show_views)
        settings.preferences_changed.connect(self._dress)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenAdded.connect(self._come_back)

    @Slot()
    def fill_menu(self) -> None:
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
        before, self._awaited = self.view, None
        if before is not None:
            before.close()
            if before.shown_on is screen:
                return
        self.view = ProjectorView(screen, self._overlay.speakers)
        self.view.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, not takes_keyboard)
        self.view.closed.connect(self._forget)
        is_before_it = self._overlay.overlay.screen() is screen
        self._overlay.visibility.put_aside(aside=is_before_it)
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
            self.view.show_views(self._overlay.fresh_views)

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
        self._overlay.visibility.put_aside(aside=False)

    @Slot(QScreen)
    def _come_back(self, screen: QScreen) -> None:
        if self._awaited is not None and _identity(screen) == self._awaited:
            self._window.banner.withdraw(_LOST)
            self.toggle(screen, takes_keyboard=False)  # slides have it

    def close(self) -> None:
        self._awaited = None
        if self.view is not None:
            self.view.close()


def _identity(screen: QScreen) -> tuple[str, ...]:
    """Return what identifies a screen when it is plugged in again."""
    return screen.name(), screen.manufacturer(), screen.model(), screen.serialNumber()


class ShareController(QObject):
    """Own the room while captions are shared.

    Attributes:
        room: the captions that are shared; None while they are not.
    """

    _readers_changed = Signal()  # emitted on the thread of the server

    def __init__(
        self,
        settings: SettingsInForce,
        speakers: SpeakerNames,
        further: FurtherController,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self._settings, self._speakers, self._window = settings, speakers, window
        self._further, self._offers_further = further, False
        self._views: Sequence[UtteranceView] = ()
        self._key_file = settings.launch.data_folder / "room-key"
        self._ends = False
        self._question: QMessageBox | None = None
        window.may_close = self._may_close
        self.dialog: ShareDialog | None = None
        self.room: Room | None = None
        window.menu_actions.share.triggered.connect(self.open_dialog)
        window.status.sharing.clicked.connect(self.open_dialog)
        settings.language_changed.connect(self._show_languages)
        further.offered_changed.connect(self._show_languages)
        further.ready_changed.connect(self._show_ready)
        self._readers_changed.connect(self._count_readers)
        self._is_gone = False  # the network that is shared in
        self._look = QTimer(self, interval=_LOOK_MS)
        self._look.timeout.connect(self._look_at_network)

    @Slot()
    def open_dialog(self) -> None:
        """Show the choices, or the way for phones while captions are shared."""
        if self.dialog is None:
            self.dialog = ShareDialog(self._window)
            self.dialog.start_wanted.connect(self._start)
            self.dialog.stop_wanted.connect(self.stop)
            self.dialog.keep_code.setChecked(self._key_file.exists())
        self.dialog.offer(networks(), self._languages(), self._further.offered)
        bring_up(self.dialog)

    def _languages(self) -> dict[str, str]:
        spoken, target = self._settings.languages
        return {SOURCE: spoken, CAPTION: target} if self._settings.translates else {SOURCE: spoken}

    @Slot(object)
    def _start(self, choice: ShareChoice) -> None:
        from app.sharing.room import Room  # noqa: PLC0415  slow to import, and rarely used

        assert self.dialog is not None
        self._offers_further = FURTHER in choice.offered
        languages = {
            name: code for name, code in self._languages().items() if name in choice.offered
        }
        languages |= self._further_languages()
        try:
            self.room = Room(
                choice.address,
                languages,
                self._views,
                with_pin=choice.with_pin,
                key=self._key(keeps=choice.keeps_code),
                readers_changed=self._readers_changed.emit,
            )
        except OSError as error:
            text = self.tr(
                "Nothing could be shared at {}: {}; choose another network, or look whether this "
                "computer is still connected"
            )
            self.dialog.show_failure(text.format(choice.address, worded(message_of(error))))
            return
        room, self._is_gone = self.room, False
        self._look.start()
        self._show_ready()
        self.dialog.show_shared(room.link, room.address, room.access.pin, tuple(languages.values()))
        self._count_readers()

    def _key(self, *, keeps: bool) -> str:
        """Return the stored key, made where there is none; none if the code is not to stay."""
        if keeps:
            return page_token(self._key_file)
        with contextlib.suppress(OSError):
            self._key_file.unlink(missing_ok=True)
        return ""

    def _may_close(self) -> bool:
        n_readers = 0 if self.room is None else self.room.n_readers
        if not n_readers or self._ends:
            return True
        if self._question is None:
            self._question = self._make_question()
        self._question.setText(self.tr("%Ln phones read along. Quit all the same?", "", n_readers))
        self._question.open()
        return False

    def _make_question(self) -> QMessageBox:
        question = QMessageBox(self._window)
        question.setWindowTitle(self.tr("Captions are shared"))
        ends = question.addButton(self.tr("&Quit"), QMessageBox.ButtonRole.DestructiveRole)
        stays = question.addButton(self.tr("Go &on sharing"), QMessageBox.ButtonRole.RejectRole)
        question.setDefaultButton(stays)
        question.setEscapeButton(stays)
        # Later, since the end deletes windows, and this one is still busy with the click.
        ends.clicked.connect(self._end, Qt.ConnectionType.QueuedConnection)
        return question

    @Slot()
    def _end(self) -> None:
        self._ends = True
        self._window.close()

    @Slot()
    def stop(self) -> None:
        """End every connection; nothing listens any more."""
        if self.room is not None:
            self.room.close()
            self.room = None
            self._look.stop()
            self._window.banner.withdraw(_GONE)
            self._further.forget_readers()
        self._window.status.show_shared(None)
        if self.dialog is not None:
            self.dialog.show_stopped()

    @Slot(tuple)
    def show_views(self, views: Sequence[UtteranceView]) -> None:
        self._views = views
        if self.room is not None:
            self.room.show_views(views, self._speakers.name_of)

    @Slot()
    def _show_languages(self) -> None:
        if self.room is not None:
            self.room.show_languages(self._languages() | self._further_languages())

    def _further_languages(self) -> dict[str, str]:
        further = self._further.offered if self._offers_further else ()
        return {code: code for code in further}

    @Slot()
    def _show_ready(self) -> None:
        if self.room is not None:
            self.room.show_ready(self._further.ready, self._further.full)

    @Slot()
    def _look_at_network(self) -> None:
        """Report that this computer has left the network, where no phone reaches it any more."""
        if self.room is None or self._is_gone != is_here(self.room.host):
            return
        self._is_gone = not self._is_gone
        text = self.tr(
            "This computer is no longer at {}, so no phone gets captions: join that network again, "
            "or share in another one"
        )
        share = self.tr("S&hare captions…"), self.open_dialog
        if self._is_gone:
            self._window.banner.show_offer(text.format(self.room.host), _GONE, share)
            self._window.status.show_shared(None)
        else:
            self._window.banner.withdraw(_GONE)
            self._count_readers()

    @Slot()
    def _count_readers(self) -> None:
        if self.room is not None:
            self._further.show_read(self.room.read)
        if self.room is not None and self.dialog is not None:
            self._window.status.show_shared(None if self._is_gone else self.room.n_readers)
            self.dialog.show_readers(self.room.n_readers)
            if self.room.access.is_guessed_at:
                self.dialog.show_failure(
                    self.tr(
                        "Somebody guesses the PIN: stop sharing and start it again, which makes "
                        "another one"
                    )
                )

    def hide(self) -> None:
        if self.dialog is not None:
            self.dialog.leave_wall()
            self.dialog.close()
