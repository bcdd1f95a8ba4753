"""The library of adapters for the windows; slow work is done on a background thread."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.config.background import BackgroundQueue
from app.config.translations import error_text
from engine.errors import SurtitleError
from engine.hub.catalogue import default_adapter
from engine.models.adapters.adapter import Adapter, Status, inspect_adapter
from engine.models.adapters.library import AdapterLibrary, LibraryAdapter
from engine.models.fingerprint import Fingerprint, read_fingerprint
from engine.settings import TranslationSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAdapter:
    """An adapter of the library, checked against the current model."""

    shelved: LibraryAdapter
    adapter: Adapter


class AdapterService(QObject):
    """List, add and remove adapters.

    Signals:
        listed(list of ListedAdapter): the current library.
        added(str): the name of an adapter that is in the library now.
        default_found(Path or None, str): the bundled adapter that helps most, and its name.
        fitting_found(list of ListedAdapter): those that fit the model and the language in use.
        chosen_found(Path): folder of the one that was asked for; it is made for both, too.
        reported(str): result or failure of a job, one sentence.
    """

    listed = Signal(list)
    added = Signal(str)
    default_found = Signal(object, str)
    fitting_found = Signal(list)
    chosen_found = Signal(object)
    reported = Signal(str)

    def __init__(self, library: AdapterLibrary, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._model: Path | None = None
        self._language = ""
        self._background = BackgroundQueue(self.reported.emit)

    def use_model(self, folder: Path) -> None:
        self._model = folder

    def find_default(self, translation: TranslationSettings) -> None:
        """Find the bundled adapter that helps this translation with the current model."""
        self._background.run(partial(self._find_default, translation))

    def find_fitting(self, language: str) -> None:
        """Find the adapters for a target language with the current model, now and after changes."""
        self._language = language
        self._background.run(self._list)

    def find_chosen(self, name: str, language: str) -> None:
        """Find an adapter by its name, unless it is made for another model or other languages."""
        self._background.run(partial(self._find_chosen, name, language))

    def refresh(self) -> None:
        self._background.run(self._list)

    def add(self, path: Path) -> None:
        """Copy an adapter into the library; ``path`` is its folder or a file in it."""
        self._background.run(lambda: self._add(path))

    def remove(self, name: str) -> None:
        self._background.run(lambda: self._remove(name))

    def close(self) -> None:
        self._background.close()

    # All that is below runs on the background thread and only emits signals.

    def _list(self) -> None:
        base = self._base()
        listed = [
            ListedAdapter(shelved=it, adapter=inspect_adapter(it.folder, base))
            for it in self._library.adapters()
        ]
        self.listed.emit(listed)
        self.fitting_found.emit([] if base is None else [one for one in listed if self._fits(one)])

    def _fits(self, listed: ListedAdapter) -> bool:
        adapter = listed.adapter
        knows = adapter.card is not None and self._language in adapter.card.languages
        return adapter.status is Status.OK and knows

    def _base(self) -> Fingerprint | None:
        try:
            return None if self._model is None else read_fingerprint(self._model)
        except SurtitleError as error:
            self.reported.emit(error_text(error))
            return None

    def _find_default(self, translation: TranslationSettings) -> None:
        base = self._base()
        folder = None if base is None else default_adapter(base, translation)
        name = "" if folder is None else inspect_adapter(folder, base).name
        self.default_found.emit(folder, name)

    def _find_chosen(self, name: str, language: str) -> None:
        base = self._base()
        found = [one.folder for one in self._library.adapters() if one.name == name]
        if not found:
            return
        adapter = inspect_adapter(found[0], base)
        if base is None:  # the session, which has the model, knows whether it fits
            is_for_it = True
        elif adapter.card is None:
            is_for_it = adapter.status is not Status.BLOCKED
        else:  # what is wrong with its files is said by the session
            is_for_it = adapter.card.base.difference(base) is None
            is_for_it = is_for_it and language in adapter.card.languages
        if is_for_it:
            self.chosen_found.emit(adapter.folder)

    def _add(self, path: Path) -> None:
        adapter = self._library.add(path)
        self.reported.emit(self.tr("The adapter {} was added").format(adapter.name))
        self._list()
        self.added.emit(adapter.name)

    def _remove(self, name: str) -> None:
        self._library.remove(name)
        self.reported.emit(self.tr("The adapter {} was removed").format(name))
        self._list()
