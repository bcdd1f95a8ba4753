"""Which adapter translates: the one a person asked for, or a bundled one that is known to help.

What a person asks for is stored, the bare model too (``NO_ADAPTER``). As long as nobody asked, the
bundled adapters are looked through again whenever language or policy are others.
"""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Slot

from app.config.launch_settings import LaunchSettings
from app.config.preferences_store import Chosen
from app.dialogs.adapters.dialog import AdapterDialog
from app.dialogs.adapters.service import AdapterService
from app.session.engine_bridge import Bridge
from engine.commands import LoadAdapter, UnloadAdapter, UseAdapter
from engine.events import AdapterChanged
from engine.hub.bundled import NO_ADAPTER
from engine.settings import TranslationSettings


class AdapterChoice(QObject):
    """Load adapters into the session and switch between them.

    Attributes:
        used: name of the adapter that translates; None for the bare model.
    """

    def __init__(
        self,
        settings: LaunchSettings,
        chosen: Chosen,
        desk: AdapterService,
        dialog: AdapterDialog,
        bridge: Bridge,
    ) -> None:
        super().__init__(dialog)
        self.used: str | None = None
        self._settings = settings
        self._chosen = chosen
        self._desk = desk
        self._bridge = bridge
        self._names: tuple[str, ...] = ()  # of the adapters that are loaded
        self._by_person = False
        self._default: str | None = None  # the bundled one that was last found to help
        dialog.load_wanted.connect(self._load)
        dialog.use_wanted.connect(self._use)
        dialog.unload_wanted.connect(lambda name: bridge.send(UnloadAdapter(name)))
        desk.default_found.connect(self._use_default)

    def begin(self, translation: TranslationSettings) -> None:
        """Load what translates at first, on a model that is there now."""
        self.used, self._names, self._default = None, (), None
        self._by_person = False
        name = self._chosen.now.translation.adapter
        if self._settings.adapter is not None:
            self._bridge.send(LoadAdapter(self._settings.adapter))
        elif self._is_open:
            self._desk.find_default(translation)
        elif name and not self._settings.no_adapter and name != NO_ADAPTER:
            folder = self._desk.folder_of(name)
            if folder is not None:
                self._bridge.send(LoadAdapter(folder))

    def suit(self, translation: TranslationSettings) -> None:
        """Look for a bundled adapter that helps a translation, unless a person asked for one."""
        if self._is_open and not self._by_person:
            self._desk.find_default(translation)

    def take(self, event: AdapterChanged) -> None:
        """Take what the session has loaded now, and what translates."""
        self.used, self._names = event.used, event.names
        if self._by_person and event.used is not None:
            self._store(event.used)

    @property
    def _is_open(self) -> bool:
        """Tell whether neither the command line nor a person, now or earlier, named one."""
        named = self._chosen.now.translation.adapter
        return self._settings.adapter is None and not self._settings.no_adapter and not named

    @Slot(object)
    def _load(self, folder: Path) -> None:
        self._by_person = True
        self._bridge.send(LoadAdapter(folder))

    @Slot(str)
    def _use(self, name: str) -> None:
        self._by_person = True
        if not name:
            self._store(NO_ADAPTER)
        self._bridge.send(UseAdapter(name or None))

    @Slot(object, str)
    def _use_default(self, folder: Path | None, name: str) -> None:
        """Let the bundled adapter that was found to help translate, or none."""
        if self._by_person or not self._is_open:
            return  # a person was faster
        before, self._default = self._default, name or None
        if folder is None:
            if before is not None and self.used == before:
                self._bridge.send(UseAdapter(None))
        elif name in self._names:
            self._bridge.send(UseAdapter(name))
        elif name != before:
            self._bridge.send(LoadAdapter(folder))

    def _store(self, name: str) -> None:
        now = self._chosen.now
        self._chosen.choose(replace(now, translation=replace(now.translation, adapter=name)))
