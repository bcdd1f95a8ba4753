"""Scenes of captions for a room, step by step: sharing with phones, and the projector view."""

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QApplication

from app.config.preferences import BOTTOM_STRIP
from app.controllers import audience
from app.sharing.networks import LOOPBACK, Network
from engine.events import FurtherCaptionChanged, LanguagesChanged

SETTLE_MS = 2500
N_PHONES = 23
ADDRESS = "http://192.168.178.20:8766/"
FRENCH = (
    "Bonjour à tous.",
    "Aujourd'hui, nous voulons parler du temps et de notre nouveau jardin.",
    "Il a plu toute la nuit.",
    "Et puis",
)


class RoomScenes:
    """Acts of the stage; it has the program in ``application`` and ``window``."""

    def soon(self, act):
        """Act when the window has settled."""
        QTimer.singleShot(SETTLE_MS // 2, act)

    def act_share_menu(self):
        self.soon(lambda: self.open_menu(self.window.menu_actions.share))

    def open_menu(self, action):
        """Open the menu of the bar that has an action, and go to it."""
        bar = self.window.menuBar()
        (entry,) = (one for one in bar.actions() if action in one.menu().actions())
        bar.setActiveAction(entry)
        entry.menu().setActiveAction(action)

    def act_share(self):
        audience.networks = lambda: [Network("192.168.178.20", "wlp3s0")]
        self.window.menu_actions.share.trigger()
        self.put_beside(self.application.sharing.dialog)

    def act_share_code(self):
        self.start_sharing(with_pin=True)
        dialog = self.application.sharing.dialog
        dialog.show_shared(ADDRESS, ADDRESS, "404327")  # as in a network that phones are in
        dialog.resize(460, 560)
        self.put_beside(dialog)

    def act_share_wall(self):
        self.act_share_code()
        dialog = self.application.sharing.dialog
        dialog.show_shared(ADDRESS, ADDRESS, "404327", ("en", "de", "fr"))
        self.soon(dialog.fill.click)

    def start_sharing(self, *, with_pin):
        self.window.menu_actions.share.trigger()
        dialog = self.application.sharing.dialog
        dialog.network.setCurrentIndex(dialog.network.findData(LOOPBACK))
        dialog.by_pin.setChecked(with_pin)
        dialog.start.click()

    def act_share_status(self):
        self.start_sharing(with_pin=False)
        self.application.sharing.dialog.close()
        self.window.status.show_shared(N_PHONES)

    def act_projector(self):
        screen = QApplication.primaryScreen()
        self.soon(lambda: self.application.projector.toggle(screen))

    def act_projector_menu(self):
        menu = self.window.menu_actions.projector
        self.soon(lambda: (self.open_menu(menu.menuAction()), menu.popup(self.right_of(menu))))

    def right_of(self, menu):
        """Return where a menu stands that belongs to the menu of the overlay."""
        owner = menu.menuAction().associatedObjects()[0]
        entry = owner.actionGeometry(menu.menuAction())
        return owner.mapToGlobal(entry.topRight())

    def act_projector_strip(self):
        self.application.settings.change("projector", place=BOTTOM_STRIP)
        self.act_projector()

    def act_languages(self):
        self.soon(self.open_choices)

    def open_choices(self):
        """Open the menu of the language button."""
        button = self.window.status.choices
        menu = button.menu()
        menu.aboutToShow.emit()
        place = button.mapToGlobal(QPoint(0, 0))
        menu.popup(QPoint(place.x(), place.y() - menu.sizeHint().height()))

    def act_second(self):
        self.soon(self.caption_in_french)

    def caption_in_french(self):
        self.application.settings.change("captions", second="fr")
        report = self.application.bridge.take
        report(LanguagesChanged(languages=("fr",)))
        for number, text in enumerate(FRENCH):
            report(
                FurtherCaptionChanged(utterance=number, language="fr", kept=0, text=text, n_read=1)
            )
