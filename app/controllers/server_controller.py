"""Lets another computer translate, or this one again, and tells how the connection is.

Which one it is, ``SettingsInForce`` owns; how it is changed, ``ModelChange``.
"""

from PySide6.QtCore import QObject, QTimer, Slot

from app.config.settings_in_force import ModelChoice, SettingsInForce, for_window
from app.config.translations import worded
from app.controllers.model_change import server_name
from app.controllers.model_controller import ModelController
from app.controllers.setup_controller import SetupController
from app.dialogs.server_dialog import ServerDialog
from app.look.widgets.dialog_text import as_sentence, bring_up
from app.main_window.window import MainWindow
from app.session.engine_bridge import EngineBridge
from engine.events import Event, Failed, Ready
from engine.messages import Code, Message
from engine.settings import ServerSettings

RETRY_MS = 5000
"""Between two tries to reach a server that did not answer at the start."""


class ServerController(QObject):
    """Offer the computers, and follow the connection."""

    def __init__(
        self,
        settings: SettingsInForce,
        bridge: EngineBridge,
        model: ModelController,
        setup: SetupController,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self.dialog: ServerDialog | None = None
        self._settings, self._model, self._setup = settings, model, setup
        self._window, self._choices = window, window.choices
        self._is_connected = False
        self._awaits = False  # the answer of a server that the dialog named
        self._retry = QTimer(self, singleShot=True, interval=RETRY_MS)
        self._retry.timeout.connect(self._try_again)
        bridge.event_came.connect(self._take)
        bridge.next_came.connect(self._take_next)
        bridge.taking_over.connect(self._begin_again)
        settings.preferences_changed.connect(self._show)
        self._choices.computer.value_chosen.connect(self._choose)
        self._choices.computer.other_chosen.connect(self.open_dialog)
        window.status.server.clicked.connect(self.open_dialog)
        self._show()

    @Slot()
    def open_dialog(self) -> None:
        if self.dialog is None:
            self.dialog = ServerDialog(self._window)
            self.dialog.wanted.connect(self._use)
        self.dialog.show_server(self._settings.known_server)
        bring_up(self.dialog)

    def hide(self) -> None:
        """Hide the dialog, and try nothing more; the program ends."""
        self._retry.stop()
        if self.dialog is not None:
            self.dialog.close()

    @Slot(str)
    def _choose(self, address: str) -> None:
        self._show()  # the old one, until the new one works
        known = self._settings.known_server
        if address and known is not None:
            self._use(known)
        elif self._settings.server is not None:
            self._compute_here()

    @Slot(object)
    def _use(self, server: ServerSettings) -> None:
        stored = self._settings.preferences.translation
        server = for_window(server)
        if server == self._settings.server and self._settings.model_works:
            self._close_dialog()
            return
        self._awaits = True
        choice = ModelChoice(
            model=self._settings.model,
            language=self._settings.translation.target_language,
            source=stored.source,
            server=server,
        )
        self._settings.choose_model(choice)

    def _compute_here(self) -> None:
        """Let this computer translate; without a model, show those that there are."""
        if self._model.has_model:
            self._model.compute_here()
        else:
            self._setup.open_models()

    @Slot()
    def _begin_again(self) -> None:
        self._retry.stop()
        self._is_connected = False

    @Slot(object)
    def _take(self, event: Event) -> None:
        match event:
            case Ready() if self._settings.translates:
                self._is_connected = True
                if self._awaits:
                    self._close_dialog()
            case Failed(message=message):
                self._is_connected = False
                self._wait(message)
            case _:
                return
        self._show()

    @Slot(object)
    def _take_next(self, event: Event) -> None:
        if isinstance(event, Failed) and self._awaits and self.dialog is not None:
            self.dialog.show_message(as_sentence(worded(event.message)))

    def _wait(self, message: Message) -> None:
        """Try again later where the server did not answer; what else it said stays true."""
        is_away = message.code is Code.SERVER_UNREACHABLE
        if is_away and self._settings.server is not None and self._settings.translates:
            self._retry.start()

    @Slot()
    def _try_again(self) -> None:
        if self._settings.server is not None and not self._model.change.is_under_way:
            self._model.load_quietly()

    def _close_dialog(self) -> None:
        self._awaits = False
        if self.dialog is not None:
            self.dialog.close()

    @Slot()
    def _show(self) -> None:
        known, server = self._settings.preferences.server.address, self._settings.server
        address = "" if server is None else server.address
        servers = {known: server_name(known)} if known else {}
        self._choices.show_computers(servers, address)
        self._window.status.show_server(self._state(server_name(address)) if address else "")

    def _state(self, name: str) -> str:
        if not self._settings.translates:
            return ""
        if self._is_connected:
            return self.tr("Computed on {}").format(name)
        return self.tr("Waiting for {}").format(name)
