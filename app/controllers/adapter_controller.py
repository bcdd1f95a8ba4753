"""Chooses the adapter: the choice of the user, or by default a bundled one that helps.

The choice is stored, also that of the bare model (``NO_ADAPTER``). The default is chosen again
whenever language or policy change. A stored adapter that is made for another model, or for other
languages, waits until it fits again.
"""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Slot

from app.config.settings_in_force import SettingsInForce
from app.dialogs.adapter_dialog import AdapterDialog
from app.dialogs.adapter_service import AdapterService, ListedAdapter
from app.main_window.window import MainWindow
from app.session.engine_bridge import EngineBridge
from engine.events import AdapterChanged, LoadAdapter, UnloadAdapter, UseAdapter
from engine.hub.catalogue import NO_ADAPTER, bundled_adapters
from engine.models.adapters.library import AdapterLibrary


class AdapterController(QObject):
    """Load adapters into the session and switch between them."""

    def __init__(self, settings: SettingsInForce, bridge: EngineBridge, window: MainWindow) -> None:
        super().__init__(window)
        library = AdapterLibrary(settings.launch.data_folder / "adapters", bundled_adapters())
        self.service = AdapterService(library, self)
        self.dialog = AdapterDialog(self.service, window)
        window.menu_actions.adapters.triggered.connect(self.dialog.open_list)
        self._settings = settings
        self._bridge = bridge
        self._names: tuple[str, ...] = ()  # of the adapters that are loaded
        self._by_person = False
        self._choices = window.choices
        self._fitting = dict[str, ListedAdapter]()  # for the model and language, by name
        self._default: str | None = None  # the bundled one that was last found to help
        self.dialog.load_wanted.connect(self._load)
        self.dialog.use_wanted.connect(self._use)
        self.dialog.unload_wanted.connect(lambda name: bridge.send(UnloadAdapter(name)))
        self.service.default_found.connect(self._use_default)
        self.service.fitting_found.connect(self._offer)
        self.service.chosen_found.connect(self._load_chosen)
        self._choices.purpose.value_chosen.connect(self._use_purpose)
        settings.translation_changed.connect(self._find_default)
        settings.language_changed.connect(self.service.find_fitting)
        settings.translation_changed.connect(self._show_policy)
        self._show_policy()

    def begin(self) -> None:
        """Load the first adapter into a newly loaded model; a server has its own."""
        self._settings.adapter_in_use, self._names, self._default = None, (), None
        self._by_person = False
        self.dialog.show_loaded((), None)
        if self._settings.server is not None:
            self._offer([])
            return
        self.service.find_fitting(self._settings.translation.target_language)
        wanted = self._settings.adapter
        if not wanted:
            self._find_default()
        elif isinstance(wanted, Path):
            self._bridge.send(LoadAdapter(wanted))
        elif wanted != NO_ADAPTER:
            self.service.find_chosen(wanted, self._settings.translation.target_language)

    def take(self, event: AdapterChanged) -> None:
        self._settings.adapter_in_use, self._names = event.used, event.names
        self.dialog.show_loaded(event.names, event.used)
        self._show_purpose()
        if self._by_person and event.used is not None:
            self._settings.choose_adapter(event.used)

    def close(self) -> None:
        self.dialog.close()
        self.service.close()

    @Slot()
    def _find_default(self) -> None:
        is_free = not (self._settings.adapter or self._by_person)
        if is_free and self._settings.server is None:
            self.service.find_default(self._settings.translation)

    @Slot()
    def _show_policy(self) -> None:
        self.dialog.show_policy(self._settings.translation.policy)

    @Slot(object)
    def _load_chosen(self, folder: Path) -> None:
        if not self._by_person and self._settings.server is None:
            self._bridge.send(LoadAdapter(folder))

    @Slot(object)
    def _load(self, folder: Path) -> None:
        self._by_person = True
        self._bridge.send(LoadAdapter(folder))

    @Slot(str)
    def _use(self, name: str) -> None:
        self._by_person = True
        if not name:
            self._settings.choose_adapter(NO_ADAPTER)
        self._bridge.send(UseAdapter(name or None))

    @Slot(list)
    def _offer(self, fitting: Sequence[ListedAdapter]) -> None:
        """Offer the adapters that fit as plain choices in the main window; a server has its own."""
        listed = fitting if self._settings.server is None else []
        self._fitting = {one.adapter.name: one for one in listed}
        self._show_purpose()

    def _show_purpose(self) -> None:
        used = self._settings.adapter_in_use or ""
        cards = {name: one.adapter.card for name, one in self._fitting.items()}
        described = [(name, card.description if card else "") for name, card in cards.items()]
        self._choices.show_purposes(described, used if used in self._fitting else "")

    @Slot(str)
    def _use_purpose(self, name: str) -> None:
        if name and name not in self._names:
            self._load(self._fitting[name].shelved.folder)
        else:
            self._use(name)

    @Slot(object, str)
    def _use_default(self, folder: Path | None, name: str) -> None:
        if self._by_person or self._settings.adapter or self._settings.server is not None:
            return  # a person was faster
        before, self._default = self._default, name or None
        if folder is None:
            if before is not None and self._settings.adapter_in_use == before:
                self._bridge.send(UseAdapter(None))
        elif name in self._names:
            self._bridge.send(UseAdapter(name))
        elif name != before:
            self._bridge.send(LoadAdapter(folder))
