"""Looks after the library of adapters for a window: what takes time is done on another thread."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.system.background import BackgroundQueue
from app.system.translations import error_text
from engine.adapters.adapter import Adapter, inspect_adapter, verify_adapter
from engine.adapters.library import AdapterLibrary, LibraryAdapter
from engine.errors import SurtitleError
from engine.hub.bundled import default_adapter
from engine.models.fingerprint import Fingerprint, read_fingerprint
from engine.settings import TranslationSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAdapter:
    """An adapter of the library, as it was judged for the model at hand."""

    shelved: LibraryAdapter
    adapter: Adapter


class AdapterService(QObject):
    """List, add, verify and remove. Only headers are read, except to verify.

    Signals:
        listed(list of ListedAdapter): the library as it is now.
        default_found(Path or None, str): the bundled adapter that helps most, and its name.
        told(str): something was done, or could not be; one sentence.
        busy_changed(bool): something is being done, or nothing more.
    """

    listed = Signal(list)
    default_found = Signal(object, str)
    told = Signal(str)
    busy_changed = Signal(bool)
    _done = Signal()

    def __init__(self, library: AdapterLibrary, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._model: Path | None = None
        self._n_errands = 0
        self._done.connect(self._finish_errand)  # emitted on the thread of the queue
        self._background = BackgroundQueue(self.told.emit)

    def use_model(self, folder: Path) -> None:
        """Judge adapters for this model from now on."""
        self._model = folder

    def folder_of(self, name: str) -> Path | None:
        """Find where an adapter lies; None where there is none of this name."""
        try:
            return self._library.find(name).folder
        except SurtitleError:
            return None

    def find_default(self, translation: TranslationSettings) -> None:
        """Look for the bundled adapter that helps a translation on the model at hand."""
        self._background.run(partial(self._find_default, translation))

    def refresh(self) -> None:
        """List the library."""
        self._run(self._list)

    def add(self, path: Path) -> None:
        """Copy an adapter, named by its folder or a file in it, into the library."""
        self._run(lambda: self._add(path))

    def verify(self, listed: ListedAdapter) -> None:
        """Read all of an adapter's weights, and hold them against its card."""
        self._run(lambda: self._verify(listed))

    def remove(self, name: str) -> None:
        """Delete an adapter of the person's own."""
        self._run(lambda: self._remove(name))

    def close(self) -> None:
        """Finish what is being done."""
        self._background.close()

    def _run(self, job: Callable[[], None]) -> None:
        self._n_errands += 1
        self.busy_changed.emit(True)  # noqa: FBT003  what the signal carries
        self._background.run(job)
        self._background.run(self._done.emit)

    # Below here all but the slots runs on the thread, and speaks by signals alone.

    def _list(self) -> None:
        base = self._base()
        self.listed.emit(
            [
                ListedAdapter(shelved=it, adapter=inspect_adapter(it.folder, base))
                for it in self._library.adapters()
            ]
        )

    def _base(self) -> Fingerprint | None:
        """Read what adapters must fit; without it they are held against their own cards."""
        try:
            return None if self._model is None else read_fingerprint(self._model)
        except SurtitleError as error:
            self.told.emit(error_text(error))
            return None

    def _find_default(self, translation: TranslationSettings) -> None:
        base = self._base()
        folder = None if base is None else default_adapter(base, translation)
        name = "" if folder is None else inspect_adapter(folder, base).name
        self.default_found.emit(folder, name)

    def _add(self, path: Path) -> None:
        adapter = self._library.add(path)
        self.told.emit(self.tr("{} was added").format(adapter.folder.name))
        self._list()

    def _verify(self, listed: ListedAdapter) -> None:
        sha256 = verify_adapter(listed.adapter)
        told = self.tr("{} is as its card says: sha256 {}")
        if listed.adapter.card is None:
            told = self.tr("{} has no card to hold it against: sha256 {}")
        self.told.emit(told.format(listed.shelved.name, sha256))

    def _remove(self, name: str) -> None:
        self._library.remove(name)
        self.told.emit(self.tr("{} was removed").format(name))
        self._list()

    @Slot()
    def _finish_errand(self) -> None:
        self._n_errands -= 1
        if not self._n_errands:
            self.busy_changed.emit(False)  # noqa: FBT003
